"""Files -> their rows as they stand, by the ending of the name: text in any encoding, Excel, Arrow."""

import contextlib
import csv
import functools
import gzip
import io
import json
import logging
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, AnyStr, BinaryIO, TextIO, cast

import msgspec

from ragstone.kernel.errors import DataError, explaining, optional_package
from ragstone.kernel.files.file import Unreadable
from ragstone.kernel.files.sheet import FileTable, numbered_names
from ragstone.kernel.tables.cells import csv_reader, unguarded
from ragstone.kernel.tables.interchange.inspect_archive import read_archive
from ragstone.kernel.tables.interchange.recognise import is_result
from ragstone.kernel.tables.storage import open_bytes, url_of

if TYPE_CHECKING:
    import pyarrow

LOG = logging.getLogger(__name__)

# Bytes or characters, also of a cell: longer ones are no row, and would fill memory.
MOST_OF_A_LINE = 64 << 20


def read_jsonl(
    path: Path, decode: Callable[[bytes], object] = msgspec.json.decode
) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded object or DecodeError) for every line that is not blank.

    A file that is in another encoding throughout is read in the one that it seems to be in, which is told. In
    one of UTF-8 a line with another byte is a ValueError, and no other line suffers.
    """
    n_lines = 0
    try:
        with _unpacked(path) as file:
            for n_lines, row in _json_lines(file, path, decode):
                yield n_lines, row
    except UnicodeDecodeError:  # the lines before it were in ASCII, or in what both encodings share
        with _unpacked(path) as packed:
            content = packed.read()
        text = _decoded_json(path, content)
        again = io.BytesIO(content if text is None else text.encode())
        lines = _json_lines(again, path, decode, stray=True)
        yield from (numbered for numbered in lines if numbered[0] > n_lines)


def _json_lines(
    file: BinaryIO, path: Path, decode: Callable[[bytes], object], *, stray: bool = False
) -> Iterator[tuple[int, object]]:
    """Yield as read_jsonl does. stray: whether a line may not be UTF-8; else it raises UnicodeDecodeError."""
    for number, line in enumerate(_short_lines(file.readline, path), 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.isspace():
            continue
        try:
            yield number, decode(line)
        except UnicodeDecodeError:
            if not stray:
                raise
            yield number, ValueError(_not_utf8(line))
        except (msgspec.DecodeError, RecursionError) as mistake:
            result = _result_with_nan(line)
            yield number, msgspec.DecodeError(_reason(mistake)) if result is None else result


def _reason(mistake: Exception) -> str:
    """Return why JSON cannot be read; Python's own words for too deep a nesting differ by version."""
    return "nested too deeply" if isinstance(mistake, RecursionError) else str(mistake)


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """Give the content of a file, unpacked. Raises DataError for what is packed and was cut off."""
    with open_bytes(path) as file:
        begins = file.read(64)
        file.seek(0)
        if path.suffix.lower() != ".gz" and not begins.startswith(b"\x1f\x8b"):
            # UTF-16 and UTF-32 begin with their mark, or with many NULs.
            is_wide = begins.startswith((b"\xff\xfe", b"\xfe\xff")) or 3 * begins.count(0) > len(begins) > 3
            yield io.BytesIO(_decoded(path, file.read()).encode()) if is_wide else file
            return
        try:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(BinaryIO, unpacked)
        except (EOFError, gzip.BadGzipFile, zlib.error) as mistake:
            raise DataError(
                f"{url_of(path) or path}: cannot be unpacked ({mistake}). Copy the file again, or make it "
                "again."
            ) from None


def _short_lines(read: Callable[[int], AnyStr], path: Path) -> Iterator[AnyStr]:
    """Yield the lines that `read` gives. Raises DataError for one that is too long."""
    number = 0
    while line := read(MOST_OF_A_LINE):
        number += 1
        if len(line) == MOST_OF_A_LINE:
            raise DataError(_too_long(path, number))
        yield line


def _too_long(path: Path, line: int) -> str:
    return (
        f"{url_of(path) or path}:{line}: longer than {MOST_OF_A_LINE >> 20} MB, too long for a row. Check "
        "that the file has line breaks and that its name has the right ending."
    )


def _read_json(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with _unpacked(path) as file:
            content = file.read().removeprefix(b"\xef\xbb\xbf")
        try:
            rows = msgspec.json.decode(content)
        except UnicodeDecodeError:
            text = _decoded_json(path, content)
            if text is None:
                raise DataError(_stray_line(path, content)) from None
            rows = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        rows = _result_with_nan(content)
        if rows is None:
            raise DataError(
                f"{path}: not valid JSON ({_reason(mistake)}). For one object per line, name it .jsonl."
            ) from None
    if isinstance(rows, dict) and is_result(rows):
        rows = [rows]
    if isinstance(rows, dict):  # {"data": [...]} and the like: the one list that it holds
        lists = [value for value in rows.values() if isinstance(value, list)]
        rows = lists[0] if len(lists) == 1 else [rows]
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of objects.")
    yield from enumerate(rows, 1)


def _result_with_nan(content: bytes) -> Any:
    """Return what JSON of a known tool says in which NaN or Infinity stands; None for any other.

    They are no JSON, but Python writes them, and so do evaluators that failed. Elsewhere they are a mistake.
    """
    if b"NaN" not in content and b"Infinity" not in content:
        return None
    try:
        found = json.loads(content)
        msgspec.json.encode(found)  # the other reader takes more than can be written
    except (ValueError, OverflowError, RecursionError):
        return None
    inside = [*found.values()] if isinstance(found, dict) else []
    lists = [found, *inside] if isinstance(found, list) else inside
    rows = [found, *(row for one in lists if isinstance(one, list) for row in one[:1])]
    return found if any(isinstance(row, dict) and is_result(row) for row in rows) else None


def _stray_line(path: Path, content: bytes) -> str:
    from ragstone.kernel.files.decoding import stray_byte

    lines = enumerate(content.split(b"\n"), 1)
    number, line = next((number, line) for number, line in lines if stray_byte(line))
    return f"{path}:{number}: {_not_utf8(line)}"


def read_csv(path: Path, *, delimiter: str | None = None, strict: bool = True) -> Iterator[tuple[int, Any]]:
    """Yield (line number, cells by their columns); a ValueError in place of a row with too many cells.

    An empty cell is None. strict: a broken quote makes the file unreadable; else it is read as it stands.
    What is not UTF-8 is read in the encoding that it seems to be in, which is told.
    """
    n_rows = 0
    try:
        with _unpacked(path) as packed, io.TextIOWrapper(packed, encoding="utf-8-sig", newline="") as file:
            for row in _csv_rows(path, file, delimiter=delimiter, strict=strict):
                yield row
                n_rows += 1
    except UnicodeDecodeError:  # the rows before it were in ASCII, or in what both encodings share
        with _unpacked(path) as packed:
            text = _decoded(path, packed.read())
        lines = io.StringIO(text, newline="")
        yield from islice(_csv_rows(path, lines, delimiter=delimiter, strict=strict), n_rows, None)


def read_questions(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number, row) of a text with one question a line; blank lines are passed over."""
    with _unpacked(path) as packed:
        content = packed.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = _decoded(path, content)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield number, {"question": line.strip()}


def _decoded(path: Path, content: bytes) -> str:
    """Return a text that is in another encoding than UTF-8. Raises DataError where it is no text."""
    from ragstone.kernel.files.decoding import decode

    with explaining(f"{path}: cannot be read as text", "Save it again in UTF-8.", Unreadable):
        text, encoding = decode(content)
    _note_encoding(path, encoding)
    return text


def _decoded_json(path: Path, content: bytes) -> str | None:
    """Return as _decoded does; None for JSON in UTF-8 with bytes in it that are not."""
    from ragstone.kernel.files.decoding import decode_unmixed

    with explaining(f"{path}: cannot be read as text", "Save it again in UTF-8.", Unreadable):
        decoded = decode_unmixed(content)
    if decoded is None:
        return None
    _note_encoding(path, decoded.encoding)
    return decoded.text


def _note_encoding(path: Path, encoding: str) -> None:
    if not encoding.startswith("utf-") or " and " in encoding:
        LOG.warning("%s: not UTF-8; read as %s. Check that accents look right.", path, encoding)


def _not_utf8(line: bytes) -> str:
    from ragstone.kernel.files.decoding import stray_byte

    return f"{stray_byte(line)}, as JSON must be. Correct that character, or delete the line."


def _csv_rows(
    path: Path, file: TextIO, *, delimiter: str | None, strict: bool
) -> Iterator[tuple[int, dict[str, Any] | ValueError]]:
    head = file.read(65536)
    file.seek(0)
    n_before = 0
    if head[:4].casefold() == "sep=":  # the line by which Excel is told the delimiter
        delimiter, n_before = head[4:5], 1
        file.readline()
    reader = csv_reader(
        _short_lines(file.readline, path), head, delimiter=delimiter, strict=strict, most=MOST_OF_A_LINE
    )
    try:
        names = numbered_names(name.strip() for name in next(filter(any, reader), []))
        for row in reader:
            if any(row[len(names) :]):
                yield reader.line_num + n_before, ValueError("more cells than the header has columns.")
            elif row:
                cells = unguarded(dict(zip(names, row, strict=False)))
                # A column without a name is the index that pandas writes.
                filled = {name: cell or None for name, cell in cells.items() if name}
                yield reader.line_num + n_before, filled
    except csv.Error as mistake:
        if "field larger" in str(mistake):
            raise DataError(_too_long(path, reader.line_num)) from None
        raise DataError(
            f"{path}:{reader.line_num}: cannot be read as CSV ({mistake}). Look for a quote that is not "
            "closed, or not doubled inside a cell."
        ) from None


def read_xlsx(
    path: Path, choose: Callable[[list[FileTable]], FileTable] | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield (row number, cells by their columns) of a worksheet; an empty cell is None.

    choose: takes the worksheet, of several that hold something. Raises DataError for what is no Excel file.
    """
    from ragstone.kernel.files.file import File
    from ragstone.kernel.files.xlsx import read_xlsx as tables_of

    try:
        with open_bytes(path) as opened:
            tables = [*tables_of(File(path, path.name, content=opened.read()))]
    except Unreadable as mistake:
        raise DataError(f"{url_of(path) or path}: cannot be read as Excel ({mistake}).") from None
    if not tables:
        return
    table = choose(tables) if choose else tables[0]
    blank = dict.fromkeys(table.columns)
    for number, row in table.rows:
        yield number, blank | row


def _read_parquet(path: Path) -> Iterator[tuple[int, Any]]:
    with optional_package(f"reading {path}", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
    what, fix = f"{url_of(path) or path}: cannot be read as Parquet", "Copy the file again, or make it again."
    with explaining(what, fix, pa.ArrowInvalid, OSError):
        file = pq.ParquetFile(path if url_of(path) is None else open_bytes(path))
    number = 0
    with file:
        for batch in file.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                yield number, row


def _arrow_batches(file: "pyarrow.NativeFile") -> "Iterator[pyarrow.RecordBatch]":
    from pyarrow import ipc

    is_stream = file.read(6) != b"ARROW1"
    file.seek(0)
    if is_stream:
        with ipc.open_stream(file) as batches:
            yield from batches
        return
    with ipc.open_file(file) as inside:
        yield from map(inside.get_batch, range(inside.num_record_batches))


def _read_arrow(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the rows of an Arrow file, of Feather or of an Arrow stream."""
    with optional_package(f"reading {path}", "parquet"):
        import pyarrow as pa
    number = 0
    what, fix = f"{url_of(path) or path}: cannot be read as Arrow", "Save it again, as Feather version 2."
    with (
        explaining(what, fix, pa.ArrowInvalid, OSError),
        open_bytes(path) as opened,
        pa.PythonFile(cast(io.IOBase, opened)) as file,
    ):
        for batch in _arrow_batches(file):
            for row in batch.to_pylist():
                number += 1
                yield number, row


FLAT = frozenset({".csv", ".tsv", ".xlsx"})
"""Formats without a null: an empty cell is no value, but for the one text that may be empty, an answer."""

READERS: dict[str, Callable[[Path], Iterable[tuple[int, Any]]]] = {
    ".jsonl": read_jsonl,
    ".jsonl.gz": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": _read_json,
    ".csv": read_csv,
    ".tsv": functools.partial(read_csv, delimiter="\t"),
    ".parquet": _read_parquet,
    ".arrow": _read_arrow,
    ".feather": _read_arrow,
    ".xlsx": read_xlsx,
    ".eval": read_archive,
}


def ending_of(path: Path) -> str:
    """Return the ending that tells the format, with what packs it."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() + suffix if suffix == ".gz" else suffix


_OFFICE = {".xls": "Excel 97", ".ods": "LibreOffice", ".numbers": "Numbers", ".xlsb": "Excel's binary format"}


def reader_of(path: Path) -> Callable[[Path], Iterable[tuple[int, Any]]]:
    """Return the reader for the ending of a name. Raises DataError where there is none."""
    reader = READERS.get(ending_of(path))
    if reader is None:
        name = url_of(path) or path
        office = _OFFICE.get(path.suffix.lower())
        if office:
            raise DataError(f"{name}: save it as .xlsx or .csv: it is a workbook of {office}.")
        raise DataError(
            f"{name}: cannot tell the format from {path.suffix!r}. Use one of: {' '.join(READERS)}."
        )
    return reader
