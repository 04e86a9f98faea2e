"""TOML files that ship with a room, and those of a user, by one name: judges, critics, prompts, styles."""

import functools
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

from ragstone.kernel.errors import ConfigError, nearest

ENDING = ".toml"


def shipped(room: str, *names: str) -> Path:
    """Return where a file that ships stands, e.g. `ragstone.kernel.llm`, `prices.toml`; it may not exist."""
    # Not by importlib.resources: that import alone takes 5 ms of each command.
    package, *folders = room.split(".")
    return Path(str(sys.modules[package].__file__)).parent.joinpath(*folders, *names)


def library_names(room: str, folder: str) -> list[str]:
    """Return the names of the files in a folder of a room, sorted."""
    return list(_names_in(shipped(room, folder)))


@functools.cache  # what ships does not change, and every judge that is loaded looks here twice
def _names_in(folder: Path) -> tuple[str, ...]:
    # Not by glob, which makes a Path of each of some 120 names.
    files = os.listdir(folder)  # noqa: PTH208
    return tuple(sorted(file.removesuffix(ENDING) for file in files if file.endswith(ENDING)))


def read_settings_text(file: Path, absent: str) -> str:
    """Return the text of a user's file. absent: what is said where there is none. Raises ConfigError."""
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(f"{file}: {absent}") from None
    except (OSError, UnicodeDecodeError) as mistake:
        raise ConfigError(f"{file}: cannot be read ({mistake}).") from None


def read_named(name: str | Path, kind: str, room: str, folder: str) -> tuple[str, Path]:
    """Return the text of one that ships, or of a user's file (a path in .toml), and its file's name.

    kind: what it is, for the message of ConfigError: an unknown name, with the nearest, or no such file.
    """
    if str(name).endswith(ENDING):
        file = Path(name).expanduser()
        return read_settings_text(file, f"no such {kind} file."), file
    names = library_names(room, folder)
    if name not in names:
        hint = nearest(str(name), names, "`ragstone judges list`." if kind == "judge" else "")
        raise ConfigError(f"unknown {kind} {str(name)!r}. {hint} Or give a .toml file.")
    file = Path(f"{name}{ENDING}")
    return shipped(room, folder, file.name).read_text("utf-8"), file


def read_library(room: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML file that ships in `library` of a room, e.g. its lists of words."""
    return tomllib.loads(shipped(room, "library", name).read_text("utf-8"))
