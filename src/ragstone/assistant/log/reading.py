"""The files of a log -> rows, while it is written and after a kill."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.assistant.log.exchange_log import EXCHANGES, FEEDBACK
from ragstone.errors import DataError
from ragstone.records import Answer, Label

RowT = TypeVar("RowT", Answer, Label)
_NAME = re.compile(r"-(\d{8}T\d{6})-(\d+)\.jsonl$")


def read_exchanges(folder: Path) -> Iterator[Answer]:
    """Yield the exchanges of a log's folder, those of a file in order, the files by the time they begin.

    A last line that is still being written, or that a kill cut off, is passed over; nothing for a folder that
    is not there. Raises DataError, with file and line, for any other line that is no exchange.
    """
    return _rows(folder, EXCHANGES, Answer)


def read_feedback(folder: Path) -> Iterator[Label]:
    """Yield what people said of exchanges, as read_exchanges does."""
    return _rows(folder, FEEDBACK, Label)


def _rows(folder: Path, name: str, row_type: type[RowT]) -> Iterator[RowT]:
    decode = msgspec.json.Decoder(row_type).decode
    for path in _in_order(folder, name):
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                try:
                    yield decode(line)
                except (msgspec.DecodeError, ValueError) as mistake:
                    raise DataError(
                        f"{path}:{number}: {mistake}. Delete this line, or move the file away."
                    ) from None


def _in_order(folder: Path, name: str) -> list[Path]:
    found = {path: _NAME.search(path.name) for path in folder.glob(f"{name}-*.jsonl")}
    return sorted(
        (path for path, match in found.items() if match),
        key=lambda path: [(match[1], int(match[2])) for match in [found[path]] if match],
    )
