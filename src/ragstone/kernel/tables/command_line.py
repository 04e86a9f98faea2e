"""What the options `--column` and `--worksheet` of a command say of the files that it reads."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ragstone.kernel.errors import ColumnsError, ConfigError, nearest
from ragstone.kernel.records import Answer
from ragstone.kernel.tables.columns import CHOICE, ColumnChoice, find_column
from ragstone.kernel.tables.formats import FLAT, READERS, ending_of, reader_of
from ragstone.kernel.tables.interchange.recognise import is_trace
from ragstone.kernel.tables.interchange.trace_filter import TRACE_COLUMNS
from ragstone.kernel.tables.names import ALIASES, fields_of
from ragstone.kernel.tables.reading import columns_in
from ragstone.kernel.tables.where import bound


@contextlib.contextmanager
def columns_chosen(
    written: Iterable[str],
    worksheet: str | None,
    values: Callable[[], Iterable[object]],
    *,
    where: str | None = None,
) -> Iterator[None]:
    """Let the choice hold for every file that is read until the block ends.

    written: FIELD=COLUMN each. values: those of the command's parameters and settings, files of rows among
    them. where: a filter of the answers in traces. Raises ConfigError for what is no such choice,
    ColumnsError for a column that is in no file, DataError for a filter that cannot be read.
    """
    choice = ColumnChoice(columns=_parsed(written), worksheet=worksheet, lenient=True, where=where)
    if choice.columns:
        _check_columns(choice, values())
    if where is not None:
        bound(where, TRACE_COLUMNS)
    before = CHOICE.set(choice)
    try:
        yield
    finally:
        CHOICE.reset(before)


def _parsed(written: Iterable[str]) -> dict[str, str]:
    """Return field -> column. Raises ConfigError."""
    known = {field for row_type in ALIASES for field in (*fields_of(row_type), *ALIASES[row_type])}
    columns: dict[str, str] = {}
    for option in written:
        field, equals, column = option.partition("=")
        if not (equals and column):
            raise ConfigError(f"--column {option}: write FIELD=COLUMN, e.g. --column answer='Model Answer'.")
        if field not in known:
            raise ConfigError(f"--column {option}: there is no field {field!r}. {nearest(field, known)}")
        if field in columns:
            raise ConfigError(f"--column {option}: {field} is {columns[field]!r} already. Leave one out.")
        columns[field] = column
    return columns


def _check_columns(choice: ColumnChoice, values: Iterable[object]) -> None:
    """Raise ColumnsError for a column that is in none of the files."""
    there = {
        # Of a file with traces, the columns of the answers that are read from it.
        path: [*fields_of(Answer)] if _holds_traces(path) else columns_in(path)
        for path in _files(values)
    }
    every = {column for columns in there.values() for column in columns}
    for field, column in choice.columns.items():
        if there and not any(find_column(column, columns) for columns in there.values()):
            places = ", ".join(map(str, there))
            raise ColumnsError(
                f"--column {field}={column}: no such column in {places}. {nearest(column, every)}"
            )


def _holds_traces(path: Path) -> bool:
    _, first = next(iter(() if ending_of(path) in FLAT else reader_of(path)(path)), (0, None))
    return isinstance(first, dict) and is_trace(first)


def _files(values: Iterable[object]) -> Iterator[Path]:
    """Yield the files of rows among the values of a command's parameters."""
    for value in values:
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            yield from _files(value)
        elif isinstance(value, str | Path) and ending_of(Path(value)) in READERS and Path(value).is_file():
            yield Path(value)
