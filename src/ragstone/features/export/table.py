"""A run -> one table in a file that other programs open: CSV, Parquet or JSONL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError, checks_arguments, optional_package
from ragstone.kernel.runs.joined import FinishedRun
from ragstone.kernel.tables import Rows, check_place, partial_path
from ragstone.kernel.tables.cells import cell_text, open_table
from ragstone.kernel.tables.frames import arrow_table

Table = Rows[dict[str, Any]]

ROWS = {
    f"{kind}.jsonl"
    for kind in (
        *("documents", "chunks", "questions", "rankings", "answers", "judgements"),
        *("causes", "blame_answers", "blame_judgements"),
    )
}
"""What a run holds as .jsonl: see docs/reference/files.md."""

MOST_IN_A_CELL = 32_767  # of Excel, which cuts what is longer


@checks_arguments
def export_table(
    run: FinishedRun,
    path: Path | str,
    *,
    where: str | None = None,
    view: str | None = None,
    force: bool = False,
) -> int:
    """Write the joined table of a run, or the rows that a filter leaves, and return how many rows it has.

    path: ends with .csv, .parquet, .jsonl or .ndjson. where: as of FinishedRun.where; view: as of
    FinishedRun.view, in place of it. Raises DataError for another ending, or a file that exists if `force` is
    not given, and for rows of the run itself; MissingExtra for Parquet without its package.
    """
    path = check_export(path, force, run.folder)
    if where is not None and view is not None:
        raise DataError("A view has a filter of its own: give `where` or `view`, not both.")
    return write_table(table_of(run, where, view), path, force=force, folder=run.folder)


def write_table(table: Table, path: Path, *, force: bool, folder: Path) -> int:
    """Write rows, and return how many there are. folder: of their run. Raises as export_table does."""
    path = check_export(path, force, folder)
    try:
        WRITERS[path.suffix.lower()](table, partial_path(path))
        partial_path(path).replace(path)
    except OSError as mistake:
        partial_path(path).unlink(missing_ok=True)
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). Free some disk space, then run again."
        ) from None
    return len(table)


def table_of(run: FinishedRun, where: str | None, view: str | None = None) -> Table:
    """Return the joined table of a run, or what a filter or a saved view shows of it. Raises DataError."""
    if view is not None:
        return run.view(view)
    return run.table() if where is None else run.where(where)


def check_export(path: Path | str, force: bool, folder: Path) -> Path:
    """Return the path if a table may be written there. folder: of the run. Raises DataError."""
    path = Path(path)
    if path.name in ROWS and path.resolve().parent == folder.resolve():
        raise DataError(f"{path} holds rows of the run itself. Give the table another name.")
    if path.suffix.lower() not in WRITERS:
        raise DataError(
            f"{path}: cannot tell the format from {path.suffix!r}. Use one of: {' '.join(WRITERS)}. Excel "
            "opens .csv; records are .eval, .yaml and a folder called data."
        )
    return check_place(path, force)


def n_cut_by_excel(table: Table) -> int:
    """Return how many cells of the CSV are longer than Excel keeps."""
    return sum(len(cell_text(value)) > MOST_IN_A_CELL for row in table for value in row.values())


def _write_csv(table: Table, path: Path) -> None:
    with open_table(path, list(table.columns()), bom=True) as write:
        for row in table:
            write(row)


def _write_jsonl(table: Table, path: Path) -> None:
    encode = msgspec.json.Encoder().encode
    with path.open("wb", buffering=1 << 16) as file:
        for row in table:
            present = {name: value for name, value in row.items() if value is not None}
            file.writelines((encode(present), b"\n"))


def _write_parquet(table: Table, path: Path) -> None:
    """Write contexts as a column of structs; tags as JSON text, as in every Parquet file of ours."""
    with optional_package("writing Parquet", "parquet"):
        import pyarrow.parquet as pq
    pq.write_table(arrow_table(table), path)


WRITERS: dict[str, Callable[[Table, Path], None]] = {
    ".csv": _write_csv,
    ".parquet": _write_parquet,
    ".jsonl": _write_jsonl,
    ".ndjson": _write_jsonl,
}
