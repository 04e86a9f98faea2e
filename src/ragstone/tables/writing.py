"""Rows -> files. A file appears under its name only when it is whole."""

import contextlib
import csv
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from ragstone.errors import DataError, MissingExtra
from ragstone.records import Row, Usage
from ragstone.tables.columns import fields_of
from ragstone.tables.holding import held

Write = Callable[[Row], None]

# Objects of any shape: carried as JSON text in the formats whose columns have one type.
FREE_FORM = frozenset({"metadata", "tags", "scores"})
WHOLE_USAGE = msgspec.structs.asdict(Usage())


def check_output(path: Path | str, force: bool) -> Path:
    """Return the path if a file may be written there; to be called before anything is paid for.

    Raises DataError when it exists and `force` is not given, when its ending names no format, or when
    its folder cannot be written to. A missing folder is made.
    """
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise DataError(
            f"{path}: cannot tell the format from {path.suffix!r}. Use one of: {' '.join(WRITERS)}."
        )
    return check_place(path, force)


def keep_sources(outputs: Iterable[Path], sources: Iterable[Path | str]) -> None:
    """Check that no output is a source: `--force` replaces results, never what they are made from.

    To be called before anything is read or paid for. Raises DataError.
    """
    read = {Path(source).resolve() for source in sources}
    for path in outputs:
        if path.resolve() in read:
            raise DataError(
                f"{path} is what this command reads, and would be replaced. Give -o another name."
            )


def check_place(path: Path, force: bool) -> Path:
    """Return the path if a file of any format may be written there. Raises DataError as check_output does."""
    if path.is_dir():
        raise DataError(f"{path} is a folder. Name a file in it.")
    if path.exists() and not force:
        raise DataError(f"{path} exists and was not touched. Give another name, or --force to replace it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not partial_path(path).exists():
            partial_path(path).touch()
            partial_path(path).unlink()
    except OSError as mistake:
        raise DataError(
            f"{path}: cannot be written ({mistake.strerror}). Choose a folder that can."
        ) from None
    return path


@contextlib.contextmanager
def open_rows(path: Path | str, row_type: type, *, force: bool = False) -> Iterator[Write]:
    """Give a function that writes one row; the file is put in place when the block ends without an error.

    Until then, and after an error, the rows stand in `NAME.partial` beside it, so that nothing is lost.
    Raises DataError as check_output does, and while another process writes the same file.
    """
    path = check_output(path, force)
    try:
        with held(path), WRITERS[path.suffix.lower()](partial_path(path), row_type) as write:
            yield write
        partial_path(path).replace(path)
    except OSError as mistake:
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). Make room, then run again."
        ) from None


def write_rows(path: Path | str, rows: Iterable[Row], row_type: type, *, force: bool = False) -> int:
    """Write all rows and return how many there were."""
    n = 0
    with open_rows(path, row_type, force=force) as write:
        for row in rows:
            write(row)
            n += 1
    return n


def partial_path(path: Path) -> Path:
    """Return where the rows of a file stand until it is whole."""
    return path.with_name(path.name + ".partial")


@contextlib.contextmanager
def _write_jsonl(path: Path, _row_type: type) -> Iterator[Write]:
    encode = msgspec.json.Encoder().encode
    with path.open("wb", buffering=1 << 16) as file:
        yield lambda row: file.writelines((encode(row), b"\n"))


@contextlib.contextmanager
def _write_csv(path: Path, row_type: type) -> Iterator[Write]:
    fields = fields_of(row_type)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fields, delimiter="\t" if ".tsv" in path.suffixes else ",")
        writer.writeheader()
        yield lambda row: writer.writerow({k: _cell(v) for k, v in msgspec.to_builtins(row).items()})


def _cell(value: Any) -> Any:
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict | tuple | bool) else value


@contextlib.contextmanager
def _write_parquet(path: Path, row_type: type) -> Iterator[Write]:
    """Columns hold their field's type; a column without a value in the whole file is left out."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    # Types of nested columns are known only once they are seen, so the rows of a file are one table.
    rows: list[dict[str, Any]] = []
    try:
        yield lambda row: rows.append(_flat(msgspec.to_builtins(row)))
    finally:  # after an error too: what is finished stands in NAME.partial, in this format as in the others
        columns = {name: [row.get(name) for row in rows] for name in fields_of(row_type)}
        columns = {name: cells for name, cells in columns.items() if any(cell is not None for cell in cells)}
        pq.write_table(pa.table(columns), path)


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    for name in FREE_FORM & row.keys():
        row[name] = msgspec.json.encode(row[name]).decode()
    if isinstance(row.get("reference"), str):
        row["reference"] = [row["reference"]]
    if "usage" in row:  # a column has the same fields in every row
        row["usage"] = WHOLE_USAGE | row["usage"]
    return row


WRITERS: dict[str, Callable[[Path, type], AbstractContextManager[Write]]] = {
    ".jsonl": _write_jsonl,
    ".ndjson": _write_jsonl,
    ".csv": _write_csv,
    ".tsv": _write_csv,
    ".parquet": _write_parquet,
}
