"""Small files of our own in a project's `.ragstone`, which the next command reads again."""

from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.tables.storage import put_bytes

StateT = TypeVar("StateT")


def write_state(path: Path, value: object) -> None:
    """Write a value as JSON, in place of what stood there. Raises DataError where that cannot be done."""
    with explaining(f"{path}: cannot be written", "Work in a writable folder."):
        make_folder(path.parent)
        put_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2), path)


def read_state(path: Path, kind: type[StateT], writer: str) -> StateT | None:
    """Return what a file holds, None for no file. writer: the command that writes it. Raises DataError."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as mistake:
        raise DataError(
            f"{path}: cannot be read ({mistake}). Delete it; `{writer}` writes it again."
        ) from None
