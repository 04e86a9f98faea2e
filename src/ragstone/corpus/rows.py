"""CSV and JSONL files -> tables, as rows of named cells."""

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec

from ragstone.corpus.decoding import decode, encoding_note
from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.table import MOST_COLUMNS, Table, named_cells, names_of

SHOWN_MISTAKES = 3


def read_csv(file: File) -> Iterator[Table]:
    """Yield the one table of a CSV file with a header; rows without any cell filled are left out.

    The delimiter is that of , ; tab and | which splits the header into most cells. Where all rows have the
    same number of cells and the header fewer, the columns without a name are called "column 4" and so on.

    Raises Unreadable where only some rows have more cells than the header, and for broken quotes.
    """
    content, encoding = decode(file.read_bytes())
    head = content.lstrip("\n").split("\n", 1)[0]
    csv.field_size_limit(sys.maxsize)  # 131,072 characters by default: documents are longer
    lines = csv.reader(io.StringIO(content, newline=""), delimiter=max(",;\t|", key=head.count), strict=True)
    rows: list[list[str]] = []
    begins: list[int] = []  # the line that a row ends in
    try:
        for cells in lines:
            if cells:
                rows.append(cells)
                begins.append(lines.line_num)
    except csv.Error as mistake:
        raise Unreadable(f"line {lines.line_num} is no CSV ({mistake})") from None
    if not rows:
        return
    header, *rows = rows
    widths = Counter(map(len, rows))
    surplus = [n for n, row in enumerate(rows, 1) if len(row) > len(header)]
    if surplus and len(widths) > 1:
        raise Unreadable(
            f"line {begins[surplus[0]]} has more cells than the header: quote cells that hold commas"
        )
    width = max((len(header), *widths))
    if width > MOST_COLUMNS:
        raise Unreadable(f"it has {width:,} columns, and at most {MOST_COLUMNS:,} are read")
    names = names_of({n: header[n - 1] if n <= len(header) else "" for n in range(1, width + 1)})
    yield Table(
        rows=[(n, named) for n, row in enumerate(rows, 1) if (named := named_cells(names, row))],
        columns=[name for name in names if name],
        notes=encoding_note(encoding),
        unnamed=bool(surplus),
    )


def read_jsonl(file: File) -> Iterator[Table]:
    """Yield the objects of a JSONL file as one table; a row is counted by its line.

    Raises Unreadable, naming the lines, if any line is no JSON object.
    """
    content, encoding = decode(file.read_bytes())
    decoder = msgspec.json.Decoder(dict[str, Any])
    mistakes: list[str] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append((number, decoder.decode(line)))
        except msgspec.DecodeError as mistake:
            mistakes.append(f"line {number} is no JSON object ({mistake})")
    if mistakes:
        more = f"; and {len(mistakes) - SHOWN_MISTAKES} lines more" if len(mistakes) > SHOWN_MISTAKES else ""
        raise Unreadable("; ".join(mistakes[:SHOWN_MISTAKES]) + more)
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    yield Table(rows=rows, columns=columns, notes=encoding_note(encoding))
