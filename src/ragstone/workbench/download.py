"""Rows of a table as a file that is sent while it is made: CSV or JSONL, as `ragstone export` writes them."""

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragstone.kernel.tables.cells import row_writer

TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/x-ndjson"}
"""Ending -> type of what is sent."""
PIECE = 1 << 16  # characters that are sent at once


def download(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], ending: str) -> Iterator[bytes]:
    """Yield a file of rows in pieces. ending: of TYPES. columns: of the CSV, whose cells no spreadsheet takes
    for formulas; in JSONL a row has the values that it has.
    """
    if ending == "jsonl":
        encode = msgspec.json.Encoder().encode
        lines: list[bytes] = []
        for row in rows:
            lines += (encode({name: value for name, value in row.items() if value is not None}), b"\n")
            if len(lines) > 500:
                yield b"".join(lines)
                lines = []
        yield b"".join(lines)
        return
    text = io.StringIO(newline="")
    text.write("\ufeff")  # tells Excel that this is UTF-8
    write = row_writer(text, columns)
    for row in rows:
        write(row)
        if text.tell() > PIECE:
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()
    yield text.getvalue().encode()
