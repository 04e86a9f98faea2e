"""TOML files that ship with a room, and those of a user, by one name: judges, critics, prompts, styles."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from ragstone.errors import ConfigError, nearest

ENDING = ".toml"


def library_names(room: str, folder: str) -> list[str]:
    """Return the names of the files in a folder of a room, e.g. `ragstone.judging` and `library`, sorted."""
    place = resources.files(room) / folder
    return sorted(file.name.removesuffix(ENDING) for file in place.iterdir() if file.name.endswith(ENDING))


def read_named(name: str | Path, kind: str, room: str, folder: str) -> tuple[str, Path]:
    """Return the text of one that ships, or of a user's file (a path in .toml), and its file's name.

    kind: what it is, for the message of ConfigError: an unknown name, with the nearest, or no such file.
    """
    if str(name).endswith(ENDING):
        file = Path(name).expanduser()
        try:
            return file.read_text(encoding="utf-8-sig"), file
        except FileNotFoundError:
            raise ConfigError(f"{file}: no such {kind} file.") from None
        except (OSError, UnicodeDecodeError) as mistake:
            raise ConfigError(f"{file}: cannot be read ({mistake}).") from None
    names = library_names(room, folder)
    if name not in names:
        raise ConfigError(f"unknown {kind} {str(name)!r}. {nearest(str(name), names)} Or give a .toml file.")
    text = (resources.files(room) / folder / f"{name}{ENDING}").read_text(encoding="utf-8")
    return text, Path(f"{name}{ENDING}")


def read_library(room: str, name: str) -> dict[str, Any]:
    """Return the tables of a TOML file that ships in `library` of a room, e.g. its lists of words."""
    text = (resources.files(room) / "library" / name).read_text(encoding="utf-8")
    return tomllib.loads(text)
