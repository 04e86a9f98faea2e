"""A text file in any encoding -> an open stream, which is not held in memory where it is UTF-8."""

import codecs
import io
from bisect import bisect_left
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from ragstone.corpus.decoding import decode
from ragstone.corpus.file import Unreadable
from ragstone.errors import DataError

_BLOCK = 1 << 20
PACKED = {b"PK\x03\x04": "a ZIP archive or an Office file", b"\x1f\x8b": "packed by gzip", b"BZh": "packed"}


def open_text(path: Path) -> TextIO:
    """Return the open text of a file, lines ending in "\\n" or "\\r\\n"; the caller closes it.

    Other encodings than UTF-8 are found as `ragstone ingest` finds them. Raises DataError for a file that is
    missing, empty, packed or no text.
    """
    _check(path)
    try:
        if _is_utf8(path):
            return path.open(encoding="utf-8-sig", newline="")
        text, _ = decode(path.read_bytes())
    except (OSError, Unreadable) as mistake:
        raise DataError(f"{path}: cannot be read ({mistake}).") from None
    return io.StringIO(text, newline="")


def read_text(path: Path) -> str:
    """Return the text of a file, every line end as "\\n". Raises DataError as `open_text` does."""
    with open_text(path) as file:
        return file.read().replace("\r\n", "\n").replace("\r", "\n")


def line_of(text: str, at: int) -> int:
    """Return the number of the line, from 1, in which a place of a text stands."""
    return bisect_left(_line_ends(text), at) + 1


@lru_cache(maxsize=1)  # the lines of one text are asked for one after the other
def _line_ends(text: str) -> list[int]:
    return [place for place, sign in enumerate(text) if sign == "\n"]


def _check(path: Path) -> None:
    if not path.is_file():
        raise DataError(f"{path}: no such file. Check the spelling and the folder that you are in.")
    if not path.stat().st_size:
        raise DataError(f"{path}: the file is empty. Check that the step that wrote it has finished.")
    with path.open("rb") as file:
        head = file.read(4)
    for mark, what in PACKED.items():
        if head.startswith(mark):
            raise DataError(f"{path}: it is {what}. Unpack it, or save the table as CSV, and import that.")


def _is_utf8(path: Path) -> bool:
    """Say whether a file is UTF-8 throughout, and holds no NUL."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while block := file.read(_BLOCK):
                if b"\0" in block or b"\x1b$" in block:  # UTF-16 without a mark, ISO-2022-JP
                    return False
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True
