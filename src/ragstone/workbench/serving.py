"""What `ragstone serve FOLDER` means; and a server of the workbench, and of the assistant beside it."""

import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragstone.features.watch.traces import is_trace_file
from ragstone.kernel.config import Settings, declared_tables, load_settings
from ragstone.kernel.config.serving import CATALOGUE
from ragstone.kernel.errors import ConfigError, DataError, optional_package
from ragstone.kernel.runs.folders import is_run
from ragstone.kernel.serve.headers import needs_accounts
from ragstone.kernel.serve.keys import read_keys
from ragstone.workbench.bare_files import link_files

if TYPE_CHECKING:
    from litestar import Litestar


class Project(msgspec.Struct, frozen=True):
    """What is served. assistant: whether there is one beside the workbench. opened: runs of bare files."""

    settings: Settings
    assistant: bool
    opened: list[Path] = []


def project_at(paths: Sequence[Path], config: Path | None = None, model: str | None = None) -> Project:
    """Return the project of a folder, default this one; or this one with files of rows as further runs.

    A folder that holds runs and no ragstone.toml is shown as it is: labels and accounts are then kept where
    the command runs, with its settings. An assistant is served where `[assistant]` is declared or its
    knowledge base is built, and where a model is given. Raises DataError for what is not there, for a file
    that holds neither judgements nor answers, and what load_settings raises.
    """
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise DataError(
            f"{missing}: no such folder or file. Name a project folder, a folder of runs, or a file "
            "of judgements."
        )
    if paths and not any(path.is_dir() for path in paths):
        settings = load_settings(config)
        opened = link_files(settings, paths)
        traces = [str(path.resolve()) for path in paths if is_trace_file(path)]
        section = msgspec.structs.replace(settings.workbench, traces=[*settings.workbench.traces, *traces])
        settings = msgspec.structs.replace(settings, workbench=section)
        return Project(settings, assistant=model is not None, opened=opened)
    if len(paths) > 1:
        raise DataError("name one folder alone, or files of judgements and answers.")
    return _project_in(paths[0] if paths else None, config, model)


def _project_in(folder: Path | None, config: Path | None, model: str | None) -> Project:
    if folder is not None and config is None:
        own = folder / "ragstone.toml"
        if own.is_file():
            config = own
        elif not _runs_in(folder):
            return _project(Settings(root=str(folder)), declared=False, model=model)
    settings = load_settings(config)
    runs = _runs_in(folder) if folder is not None else None
    if runs is None or (config and folder == config.parent):
        return _project(settings, declared="assistant" in declared_tables(config), model=model)
    section = msgspec.structs.replace(settings.workbench, runs=[str(runs.resolve())])
    return Project(msgspec.structs.replace(settings, workbench=section), assistant=model is not None)


def _runs_in(folder: Path) -> Path | None:
    """Return the folder whose folders are runs: this one, or that of the run which it is.

    `ragstone judge` writes no manifest: its runs are known by their summary.
    """
    if is_run(folder):
        return folder.resolve().parent
    return folder if any(is_run(below) for below in folder.glob("*/")) else None


def _project(settings: Settings, *, declared: bool, model: str | None) -> Project:
    built = (settings.path(settings.assistant.store) / CATALOGUE).is_file()
    return Project(settings, assistant=declared or built or model is not None)


def check_public(settings: Settings) -> None:
    """Check that who reaches the assistant needs a key, unless only this machine does. Raises ConfigError."""
    serve = settings.serve
    if serve.keys_file is None and needs_accounts(settings):
        named = f"public_url = {serve.public_url!r}" if serve.public_url else f"host = {serve.host!r}"
        raise ConfigError(
            f"[serve] {named}: anyone who reaches it could ask the assistant, change the documents "
            "and spend your money. Set keys_file (see docs/how-to/serve.md), or listen on "
            "127.0.0.1 behind a proxy that authenticates users."
        )


def keys_of(settings: Settings) -> dict[str, str] | None:
    """Return the keys of `[serve]`, None where there is no keys_file. Raises what read_keys raises."""
    serve = settings.serve
    return read_keys(settings.path(serve.keys_file)) if serve.keys_file else None


async def serve_project(
    settings: Settings,
    bound: socket.socket,
    *,
    ready: Callable[[str], None],
    chat: "Litestar | None" = None,
    otlp: bool = False,
) -> None:
    """Serve the workbench, and an assistant beside it; see serve_app.

    chat: the application of the assistant. otlp: spans are taken at /v1/traces, events at /v1/logs. Raises
    MissingExtra without the packages.
    """
    with optional_package("serving", "serve"):
        from ragstone.features.watch.collecting import open_receiver
        from ragstone.kernel.serve.server import serve_app
        from ragstone.workbench.app import create_workbench, side_by_side
    app = side_by_side(create_workbench(settings), chat, open_receiver(settings) if otlp else None)
    await serve_app(app, settings.serve, bound, ready)
