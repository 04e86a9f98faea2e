"""CSV and JSONL files -> one document a row."""

import csv
import io
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ragstone.corpus.decoding import decode, encoding_note
from ragstone.corpus.file import File, Unreadable
from ragstone.records import Document
from ragstone.tables.columns import accepted_names

# Column names in any case, the most telling first.
COLUMNS: dict[str, tuple[str, ...]] = {
    "id": accepted_names(Document, "id"),
    "text": (*accepted_names(Document, "text"), "answer"),
    "title": ("title", "name", "heading", "subject", "question"),
    "lang": accepted_names(Document, "lang"),
    "source": accepted_names(Document, "source"),
}

SHOWN_MISTAKES = 3


def read_csv(file: File) -> Iterator[Document]:
    """Yield a document for each row of a CSV file with a header; rows without any cell filled are left out.

    The delimiter is that of , ; tab and | which splits the header into most cells. The text is the first
    column named as in COLUMNS; without such a column it is all cells as lines "name: cell". What columns
    that are not used hold is in `metadata`. Ids are the rows' own, else `file#row`, counted from 1.

    Raises Unreadable for rows with more cells than the header, and for broken quotes.
    """
    content, encoding = decode(file.path.read_bytes())
    header = content.lstrip("\n").split("\n", 1)[0]
    csv.field_size_limit(sys.maxsize)  # 131,072 characters by default: documents are longer
    rows = csv.DictReader(
        io.StringIO(content, newline=""), delimiter=max(",;\t|", key=header.count), restkey="", strict=True
    )
    try:
        for number, row in enumerate(rows, 1):
            if "" in row and isinstance(row[""], list):
                raise Unreadable(
                    f"line {rows.line_num} has more cells than the header: quote cells that hold commas"
                )
            cells = {name: cell for name, cell in row.items() if name and cell and cell.strip()}
            if cells:
                yield _document(cells, file, number, encoding_note(encoding))
    except csv.Error as mistake:
        raise Unreadable(f"line {rows.line_num + 1} is no CSV ({mistake})") from None


def read_jsonl(file: File) -> Iterator[Document]:
    """Yield a document for each line of a JSONL file, its fields understood as a CSV file's columns.

    Raises Unreadable, naming the lines, if any line is no JSON object.
    """
    content, encoding = decode(file.path.read_bytes())
    mistakes: list[str] = []
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError as mistake:
            mistakes.append(f"line {number} is no JSON object ({mistake})")
            continue
        if not mistakes:
            yield _document(row, file, number, encoding_note(encoding))
    if mistakes:
        more = f"; and {len(mistakes) - SHOWN_MISTAKES} lines more" if len(mistakes) > SHOWN_MISTAKES else ""
        raise Unreadable("; ".join(mistakes[:SHOWN_MISTAKES]) + more)


def _document(row: Mapping[str, Any], file: File, number: int, notes: Mapping[str, Any]) -> Document:
    cells = {name: cell for name, cell in row.items() if cell not in (None, "")}
    names = {name.strip().casefold(): name for name in reversed(cells)}
    known = {
        field: [names[alias] for alias in aliases if alias in names] for field, aliases in COLUMNS.items()
    }
    used = {field: found[0] for field, found in known.items() if found}
    values = {field: _as_text(cells[name]) for field, name in used.items()}
    rest: dict[str, Any] = {}
    if "text" in values:
        rest = {name: cell for name, cell in cells.items() if name not in used.values()}
    else:
        values["text"] = "\n".join(f"{name}: {_as_text(cell)}" for name, cell in cells.items())
    own = rest.pop("metadata", {})
    metadata = {**rest, **(own if isinstance(own, dict) else {"metadata": own}), **notes}
    values = {"id": f"{file.id}#{number}", "source": str(file.path), **values}
    return msgspec.convert({**values, "metadata": metadata or None}, Document)


def _as_text(cell: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()
