"""Folders and files of our own. What lies in `.ragstone` is for its owner alone, whoever makes it."""

import atexit
import contextlib
import functools
import os
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from itertools import takewhile
from pathlib import Path

HOME = ".ragstone"
OTHERS = stat.S_IRWXG | stat.S_IRWXO


_NEW: ContextVar[list[Path] | None] = ContextVar("new_folders", default=None)


@contextlib.contextmanager
def no_empty_folders() -> Iterator[None]:
    """Where the block fails, remove the folders that make_folder made in it, as far as nothing is in them."""
    new: list[Path] = []
    before = _NEW.set(new)
    try:
        yield
    except BaseException:
        for folder in sorted(new, key=lambda folder: -len(folder.parts)):
            with contextlib.suppress(OSError):  # something is in it, or it is gone
                folder.rmdir()
        raise
    finally:
        _NEW.reset(before)


def make_folder(folder: Path) -> Path:
    """Return a folder, made with those above it if need be. Raises OSError where it cannot be made.

    A `.ragstone` that others can look into is narrowed, with all that is in it and ours, and once more when
    this process ends. Where that cannot be done (Windows, another owner) it stays as it is.
    """
    above = [folder, *folder.parents]
    if (new := _NEW.get()) is not None:
        new += takewhile(lambda each: not each.exists(), above)
    depth = next((n for n, parent in enumerate(above) if parent.name == HOME), None)
    if depth is None or os.name != "posix":
        folder.mkdir(parents=True, exist_ok=True)
        return folder
    home = above[depth]
    home.parent.mkdir(parents=True, exist_ok=True)
    for parent in reversed(above[: depth + 1]):
        parent.mkdir(mode=0o700, exist_ok=True)
    if home.stat().st_mode & OTHERS:
        narrow(home)
    _narrow_at_the_end(home)
    return folder


def make_file(path: Path) -> Path:
    """Return a file that can be opened, made empty if need be: for what others than we open, as SQLite."""
    make_folder(path.parent)
    if HOME in path.parts:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    return path


def narrow(home: Path) -> None:
    """Take a folder and all that is in it from everybody but its owner, as far as it is ours."""
    _take(home)
    for folder, folders, files in os.walk(home):
        for name in (*folders, *files):
            _take(Path(folder, name))


def _take(path: Path) -> None:
    with contextlib.suppress(OSError):
        status = path.lstat()
        if not stat.S_ISLNK(status.st_mode) and status.st_mode & OTHERS and status.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(status.st_mode) & ~OTHERS)


@functools.cache
def _narrow_at_the_end(home: Path) -> None:
    atexit.register(narrow, home.absolute())
