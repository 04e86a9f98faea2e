"""Rows <-> files: JSONL, Parquet and CSV, streaming; column names of other tools understood."""

from ragstone.kernel.tables.frames import Rows
from ragstone.kernel.tables.outputs import check_place, keep_sources, partial_path
from ragstone.kernel.tables.reading import parse_row, parse_rows, read_rows
from ragstone.kernel.tables.shown import Displayed
from ragstone.kernel.tables.writing import check_output, open_rows, write_rows

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
