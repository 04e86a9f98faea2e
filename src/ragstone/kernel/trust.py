"""Whose code may run: that of the project, and what its user has said yes to."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path

from ragstone.kernel.errors import ConfigError

_trusting: ContextVar[bool] = ContextVar("trusting", default=False)
_projects: set[Path] = set()  # folders of the ragstone.toml that this process was told to read


class UntrustedCode(ConfigError):
    """A file from outside the project names code, and nobody has said that it may run."""


@contextlib.contextmanager
def trusting(yes: bool = True) -> Iterator[None]:
    """Within the block files from anywhere may run the code that they name, if `yes`."""
    before = _trusting.set(yes or _trusting.get())
    try:
        yield
    finally:
        _trusting.reset(before)


def add_project(folder: Path) -> None:
    """Let the files in the folder of a ragstone.toml, which may itself name code, run theirs."""
    _projects.add(folder.resolve())


def check_trust(folder: Path, what: str) -> None:
    """Raise UntrustedCode for a file in a folder outside the current one and the project's. what: it runs."""
    here = folder.resolve()
    if _trusting.get() or any(here.is_relative_to(trusted) for trusted in (Path.cwd().resolve(), *_projects)):
        return
    raise UntrustedCode(
        f"{what}, and {folder} is outside this project. Read the code first; then add --trust (in Python: "
        "load_judge(FILE, trust=True)), or copy the files into the project."
    )
