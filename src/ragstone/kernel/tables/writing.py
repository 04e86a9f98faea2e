"""Rows -> files. A file appears under its name only when it is whole."""

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError, checks_arguments, optional_package
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.records import Row, Usage
from ragstone.kernel.tables._shards import check_folder, open_shards
from ragstone.kernel.tables.cells import open_table
from ragstone.kernel.tables.frames import FREE_FORM
from ragstone.kernel.tables.names import fields_of
from ragstone.kernel.tables.outputs import OUTPUTS, check_place, partial_path
from ragstone.kernel.tables.reading import read_rows
from ragstone.kernel.tables.storage import (
    Place,
    check_url,
    is_shards,
    local_path,
    put_whole,
    url_of,
)

Write = Callable[[Row], None]

WHOLE_USAGE = msgspec.structs.asdict(Usage())


def check_output(path: Place, force: bool) -> Path:
    """Return the path if rows may be written there; to be called before anything is paid for.

    path: of a file, or of a folder of shards, which ends in a slash; or a URL of either (see storage.py).
    Raises DataError when it exists, `force` is not given and another command than this one wrote it (see
    outputs.py), when its ending names no format, or when its folder cannot be written to. A missing folder is
    made. A folder of shards that is not finished may be written to (see shards.py).
    """
    if is_shards(path):
        _check_shards(path, force)
        return local_path(path)
    path = Path(path)
    if path.suffix.lower() not in WRITERS:
        raise DataError(
            f"{url_of(path) or path}: cannot tell the format from {path.suffix!r}. Use one of: "
            f"{' '.join(WRITERS)}; or a / at its end, for a folder of shards."
        )
    return check_place(path, force)


def _check_shards(folder: Place, force: bool) -> None:
    url = url_of(folder)
    check_folder(folder, force=force)
    if url:
        check_url(f"{url}_trial")
        return
    local = local_path(folder)
    if local.is_file():
        raise DataError(f"{local} is a file, but a name that ends in / is a folder of shards.")
    check_place(local / "_trial", force=True)


@contextlib.contextmanager
def open_rows(path: Place, row_type: type, *, force: bool = False, made_from: str = "") -> Iterator[Write]:
    """Give a function that writes one row; the file is put in place when the block ends without an error.

    Until then, and after an error, the rows stand in `NAME.partial` beside it, so that nothing is lost; those
    of a URL in a temporary folder, which goes. A path that ends in a slash is a folder of shards, each of
    which is put in place when it is whole; made_from: digest of what they are made from (see shards.py).
    Raises DataError as check_output does, and while another process writes the same file.
    """
    checked = check_output(path, force)
    url = url_of(path)
    try:
        if is_shards(path):
            opened = open_shards(path, row_type, _write_parquet, force=force, made_from=made_from)
            with opened as write:
                yield write
        elif url:
            with _open_url(url, checked, row_type) as write:
                yield write
        else:
            before, partial = RowsBefore(checked, row_type), partial_path(checked)
            whole = WRITERS[checked.suffix.lower()](partial, row_type)
            with held(checked), _without_empty(partial), whole as write:
                yield before.watched(write)
            before.check()
            partial.replace(checked)
    except OSError as mistake:
        # What storage says is a DataError already: of a URL, this is the folder where files become whole.
        where = f" in the temporary folder {tempfile.gettempdir()}" if url else ""
        room = " there, or set TMPDIR to a folder that has some" if url else ""
        raise DataError(
            f"{path}: could not be written{where} ({mistake.strerror}). Free some space{room}, then run "
            "again."
        ) from None


@contextlib.contextmanager
def _without_empty(partial: Path) -> Iterator[None]:
    """Remove a file where the block fails before anything is in it."""
    try:
        yield
    except BaseException:
        if partial.is_file() and not partial.stat().st_size:
            partial.unlink()
        raise


@contextlib.contextmanager
def _open_url(url: str, path: Path, row_type: type) -> Iterator[Write]:
    """Give a function that writes one row to a local file, which is put at the URL when it is whole."""
    with tempfile.TemporaryDirectory(prefix="ragstone-") as folder:
        whole = Path(folder) / path.name
        with WRITERS[path.suffix.lower()](whole, row_type) as write:
            yield write
        put_whole(whole, url)


@checks_arguments
def write_rows(
    path: Place, rows: Iterable[Row], row_type: type, *, force: bool = False, made_from: str = ""
) -> int:
    """Write all rows and return how many there were. made_from: see open_rows."""
    n = 0
    with open_rows(path, row_type, force=force, made_from=made_from) as write:
        for row in rows:
            write(row)
            n += 1
    return n


@contextlib.contextmanager
def _write_jsonl(path: Path, _row_type: type) -> Iterator[Write]:
    encode = msgspec.json.Encoder().encode
    with path.open("wb", buffering=1 << 16) as file:
        yield lambda row: file.writelines((encode(row), b"\n"))


@contextlib.contextmanager
def _write_csv(path: Path, row_type: type) -> Iterator[Write]:
    delimiter = "\t" if ".tsv" in path.suffixes else ","
    with open_table(path, fields_of(row_type), delimiter=delimiter) as write:
        yield lambda row: write(msgspec.to_builtins(row))


@contextlib.contextmanager
def _write_parquet(path: Path, row_type: type) -> Iterator[Write]:
    """Columns hold their field's type; a column without a value in the whole file is left out."""
    with optional_package("writing Parquet", "parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq
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


class RowsBefore:
    """The rows of a file that the same command writes again: none of them may be lost."""

    def __init__(self, path: Path, row_type: type) -> None:
        """Read what stands there, if this command may write it again without having been forced to."""
        self._path, self._outputs = path, OUTPUTS.get()
        self._failed: dict[tuple[str, ...], bool] = {}
        self._n_new = self._n_mended = self._n_failed = 0
        if self._outputs is not None and self._outputs.is_again(path):
            with contextlib.suppress(DataError):  # a file may hold no row: all were lost
                self._failed = {_key(row): _has_failed(row) for row in read_rows(path, row_type)}
        self._missing = {*self._failed}

    def watched(self, write: Callable[[Row], None]) -> Callable[[Row], None]:
        """Return a function that writes a row, and looks whether it stood there."""

        def written(row: Row) -> None:
            key = _key(row)
            self._n_new += key not in self._failed
            self._missing.discard(key)
            if self._failed.get(key):
                self._n_failed += _has_failed(row)
                self._n_mended += not _has_failed(row)
            write(row)

        return written if self._failed else write

    def check(self) -> None:
        """Raise DataError where a row would be lost; else keep what has become of them."""
        if self._missing and self._outputs is not None and not self._outputs.may_lose(self._path):
            raise DataError(
                f"{self._path} exists and was not touched: it holds {_rows(len(self._missing))} that this "
                f"command would not write now, such as {' '.join(min(self._missing))!r}. Give another name "
                "with -o, or --force to replace it."
            )
        counts = {
            "added": self._n_new,
            "that had failed and now succeeded": self._n_mended,
            "failed again": self._n_failed,
        }
        clauses = [f"{_rows(n)} {what}" for what, n in counts.items() if n]
        if self._outputs is not None and clauses:
            self._outputs.tell(self._path, ", ".join(clauses))


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _key(row: Row) -> tuple[str, ...]:
    """Return what tells a row from the others of its file."""
    names = ("id", "question_id", "system", "retriever", "judge", "metric")
    return tuple(str(value) for name in names if (value := getattr(row, name, None)) is not None)


def _has_failed(row: Row) -> bool:
    return getattr(row, "error", None) is not None
