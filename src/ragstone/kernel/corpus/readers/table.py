"""CSV and JSONL files -> tables -> documents: one for each row, or one for all of it."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.errors import plural
from ragstone.kernel.files.decoding import decode, decode_unmixed, stray_byte
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.sheet import FileTable, names_of
from ragstone.kernel.records import Document
from ragstone.kernel.tables.cells import csv_reader
from ragstone.kernel.tables.names import accepted_names

# Column names in any case, the most telling first.
COLUMNS: dict[str, tuple[str, ...]] = {
    "id": accepted_names(Document, "id"),
    "text": (*accepted_names(Document, "text"), "answer"),
    "title": ("title", "name", "heading", "subject", "question"),
    "lang": accepted_names(Document, "lang"),
    "source": accepted_names(Document, "source"),
}

MOST_COLUMNS = 10_000
MOST_CELLS = 5_000_000  # of a table that is one document, blank ones too

Row = Mapping[str, Any]


def documents_of(table: FileTable, file: File, options: IngestOptions) -> Iterator[Document]:
    """Yield the documents of a table as the options say.

    A row's text is the first column named as in COLUMNS, blank where the row has none of them filled; in a
    table without such a column it is all cells as lines "name: cell". Columns that are not used are in
    `metadata`. Ids are the rows' own, else `file#row`, or `file#sheet#row`. A whole table is a line for each
    row, the cells separated by " | ".

    Raises Unreadable where a chosen column is not there, and where columns without a name would be lost.
    """
    if options.tables == "whole":
        yield from _whole(table, file)
        return
    columns = {_folded(name): name for name in reversed(table.columns)}
    chosen = _chosen(columns, options)
    if table.unnamed and ("text" in chosen or any(name in columns for name in COLUMNS["text"])):
        raise Unreadable("its rows have more cells than the header: quote cells that hold commas")
    for number, row in table.rows:
        yield _document(row, chosen, table, file, number)


def _folded(name: str) -> str:
    return name.strip().casefold()


def _chosen(columns: Mapping[str, str], options: IngestOptions) -> dict[str, list[str]]:
    """Return the columns that the user has chosen, by field."""
    by_field = {}
    for field, named in options.columns.items():
        wanted = [named] if isinstance(named, str) else named
        missing = [name for name in wanted if _folded(name) not in columns]
        if missing:
            there = ", ".join(map(repr, reversed(list(columns.values())))) or "none"
            raise Unreadable(f"it has no column {missing[0]!r}; its columns: {there}")
        by_field[str(field)] = [columns[_folded(name)] for name in wanted]
    return by_field


def _document(
    row: Row, chosen: Mapping[str, list[str]], table: FileTable, file: File, number: int
) -> Document:
    cells = {name: cell for name, cell in row.items() if cell not in (None, "")}
    names = {_folded(name): name for name in reversed(cells)}
    known = {
        field: [names[alias] for alias in aliases if alias in names][:1] for field, aliases in COLUMNS.items()
    }
    used = {field: columns for field, columns in {**known, **chosen}.items() if columns}
    values = {
        field: _as_text(cells.get(columns[0], "")) if len(columns) == 1 else _lines(cells, columns)
        for field, columns in used.items()
    }
    rest: dict[str, Any] = {}
    if "text" in values:
        taken = {name for columns in used.values() for name in columns}
        rest = {name: cell for name, cell in cells.items() if name not in taken}
    else:
        has_text = any(_folded(name) in COLUMNS["text"] for name in table.columns)
        values["text"] = "" if has_text else _lines(cells, cells)
    own = rest.pop("metadata", {})
    metadata = {**rest, **(own if isinstance(own, dict) else {"metadata": own}), **_notes(table)}
    usual = {"id": f"{_place(table, file)}#{number}", "source": str(file.path)}
    values = {**usual, **{field: value for field, value in values.items() if value or field == "text"}}
    return msgspec.convert({**values, "metadata": metadata or None}, Document)


def _lines(cells: Row, names: Iterable[str]) -> str:
    return "\n".join(f"{name}: {_as_text(cells[name])}" for name in names if name in cells)


def _as_text(cell: Any) -> str:  # noqa: ANN401 - whatever JSON holds
    return cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()


def _notes(table: FileTable) -> dict[str, Any]:
    caption = {"caption": table.caption} if table.caption else {}
    return {**({"sheet": table.name} if table.name else {}), **caption, **table.notes}


def _place(table: FileTable, file: File) -> str:
    return f"{file.id}#{table.name}" if table.name else file.id


def _whole(table: FileTable, file: File) -> Iterator[Document]:
    if len(table.rows) * len(table.columns) > MOST_CELLS:
        raise Unreadable(f"a table of more than {MOST_CELLS:,} cells is not a document: read it by rows")
    lines = [" | ".join(table.columns)]
    for _, row in table.rows:
        lines.append(" | ".join(" ".join(_as_text(row.get(name, "")).split()) for name in table.columns))
    if table.rows:
        yield Document(
            id=_place(table, file),
            text="\n".join([table.caption, "", *lines] if table.caption else lines),
            title=table.caption or table.name or None,
            source=file.source,
            metadata={name: note for name, note in _notes(table).items() if name != "caption"} or None,
        )


SHOWN_MISTAKES = 3


def read_csv(file: File) -> Iterator[FileTable]:
    """Yield the one table of a CSV file with a header; rows without any cell filled are left out.

    The delimiter is that of , ; tab and | which splits the header into most cells. Where all rows have the
    same number of cells and the header fewer, the columns without a name are called "column 4" and so on.

    Raises Unreadable where only some rows have more cells than the header, and for broken quotes.
    """
    decoded = decode(file.read_bytes())
    lines = csv_reader(io.StringIO(decoded.text, newline=""), decoded.text)
    rows: list[list[str]] = []
    begins: list[int] = []  # the line that a row ends in
    try:
        for cells in lines:
            if cells:
                rows.append(cells)
                begins.append(lines.line_num)
    except csv.Error as mistake:
        raise Unreadable(f"line {lines.line_num} is not CSV ({mistake})") from None
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
        raise Unreadable(f"it has {width:,} columns, but at most {MOST_COLUMNS:,} are read")
    names = names_of({n: header[n - 1] if n <= len(header) else "" for n in range(1, width + 1)})
    filled = [
        {name: cell for name, cell in zip(names, row, strict=False) if name and cell and cell.strip()}
        for row in rows
    ]
    yield FileTable(
        rows=[(n, row) for n, row in enumerate(filled, 1) if row],
        columns=[name for name in names if name],
        notes=decoded.notes(),
        unnamed=bool(surplus),
    )


def read_jsonl(file: File) -> Iterator[FileTable]:
    """Yield the objects of a JSONL file as one table; a row is counted by its line.

    Raises Unreadable, naming the lines, if any line is no JSON object.
    """
    content = file.read_bytes()
    decoded = decode_unmixed(content)
    lines = content if decoded is None else decoded.text.encode()
    decoder = msgspec.json.Decoder(dict[str, Any])
    mistakes: list[str] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    for number, line in enumerate(lines.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append((number, decoder.decode(line)))
        except UnicodeDecodeError:
            mistakes.append(f"line {number}: {stray_byte(line)}")
        except msgspec.DecodeError as mistake:
            mistakes.append(f"line {number} is not a JSON object ({mistake})")
    if mistakes:
        more = (
            f"; and {plural(len(mistakes) - SHOWN_MISTAKES, 'more line')}"
            if mistakes[SHOWN_MISTAKES:]
            else ""
        )
        raise Unreadable("; ".join(mistakes[:SHOWN_MISTAKES]) + more)
    columns = list(dict.fromkeys(name for _, row in rows for name in row))
    yield FileTable(rows=rows, columns=columns, notes=decoded.notes() if decoded else {})
