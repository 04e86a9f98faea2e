"""The file of numbers that a bench writes last -> what it holds."""

from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.errors import DataError

NumbersT = TypeVar("NumbersT")


def read_numbers(path: Path, kind: type[NumbersT], what: str, command: str) -> NumbersT:
    """Return what the file holds. what: its name in words; command: that writes it. Raises DataError."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. Run `{command}` to the end: it writes it last.")
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.DecodeError as mistake:
        raise DataError(
            f"{path}: not a {what} that this version of Ragstone understands ({mistake}). "
            f"Run `{command}` again."
        ) from None
