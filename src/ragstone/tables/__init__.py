"""Rows <-> files: JSONL, Parquet and CSV, streaming; column names of other tools understood."""

from ragstone.tables.frames import Rows
from ragstone.tables.journal import held
from ragstone.tables.reading import parse_row, parse_rows, read_rows
from ragstone.tables.shown import Displayed
from ragstone.tables.writing import (
    check_output,
    check_place,
    keep_sources,
    open_rows,
    partial_path,
    write_rows,
)

__all__ = [
    "Displayed",
    "Rows",
    "check_output",
    "check_place",
    "held",
    "keep_sources",
    "open_rows",
    "parse_row",
    "parse_rows",
    "partial_path",
    "read_rows",
    "write_rows",
]
