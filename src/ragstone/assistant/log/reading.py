"""The files of a log -> rows, while it is written and after a kill."""

from collections.abc import Iterator
from pathlib import Path

from ragstone.records import Answer, Label
from ragstone.tables import read_rows
from ragstone.tables.logged import logged_files


def read_exchanges(folder: Path) -> Iterator[Answer]:
    """Yield the exchanges of a log's folder, those of a file in order, the files by the time they begin.

    A last line that is still being written, or that a kill cut off, is passed over; nothing for a folder
    without a log. Raises DataError, with file and line, for any other line that is no exchange.
    """
    if logged_files(folder, Answer):
        yield from read_rows(folder, Answer)


def read_feedback(folder: Path) -> Iterator[Label]:
    """Yield what people said of exchanges, as read_exchanges does."""
    if logged_files(folder, Label):
        yield from read_rows(folder, Label)
