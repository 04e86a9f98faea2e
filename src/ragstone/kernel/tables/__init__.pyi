"""The names of this room that others take from it; each is imported when it is first used."""

from .frames import Rows
from .outputs import check_place, keep_sources, partial_path
from .reading import parse_row, parse_rows, read_rows
from .shown import Displayed
from .writing import check_output, open_rows, write_rows

__all__ = [
    "Displayed",
    "Rows",
    "check_output",
    "check_place",
    "keep_sources",
    "open_rows",
    "parse_row",
    "parse_rows",
    "partial_path",
    "read_rows",
    "write_rows",
]
