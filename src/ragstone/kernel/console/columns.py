"""The options that say how files are to be read: which column is which field, and which worksheet."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from ragstone.kernel.tables.columns import ColumnChoice

Column = Annotated[
    list[str] | None,
    typer.Option("--column", help="FIELD=COLUMN, e.g. answer='Model Answer'; may be repeated."),
]
Worksheet = Annotated[
    str | None,
    typer.Option("--worksheet", help="Which worksheet of an Excel file to read, if it has several."),
]
_OPTIONS: dict[str, Any] = {"column": Column, "worksheet": Worksheet}


def reads_rows(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options `--column` and `--worksheet`, which hold for every file that it reads.

    A column that is in none of the files which the command is given, or which its settings name, is refused
    before anything is done. A command may have a `--column` of its own.
    """
    own = inspect.signature(command)
    names = [name for name in _OPTIONS if name not in own.parameters]

    @functools.wraps(command)
    def called(**options: Any) -> None:  # noqa: ANN401 - whatever the command's options are
        column, worksheet = (options.pop(name, None) if name in names else None for name in _OPTIONS)
        if not column and worksheet is None:
            command(**options)
            return
        from ragstone.kernel.tables.columns import CHOICE, ColumnChoice

        choice = ColumnChoice(columns=_parsed(column or ()), worksheet=worksheet, lenient=True)
        if column:
            _check_found(choice, [*options.values(), *_named_in_settings(options)])
        before = CHOICE.set(choice)
        try:
            command(**options)
        finally:
            CHOICE.reset(before)

    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=note)
        for name, note in _OPTIONS.items()
        if name in names
    ]
    plain = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own.parameters.values()]
    del called.__wrapped__  # whoever looks behind it would miss the options
    called.__signature__ = own.replace(parameters=[*plain, *more])  # type: ignore[attr-defined]
    called.__annotations__ = _OPTIONS | command.__annotations__
    return called


def _parsed(written: Iterable[str]) -> dict[str, str]:
    """Return field -> column. Raises ConfigError."""
    from ragstone.kernel.errors import ConfigError, nearest
    from ragstone.kernel.tables.names import ALIASES, fields_of

    known = {field for row_type in ALIASES for field in (*fields_of(row_type), *ALIASES[row_type])}
    columns: dict[str, str] = {}
    for text in written:
        field, equals, column = text.partition("=")
        if not (equals and column):
            raise ConfigError(f"--column {text}: write FIELD=COLUMN, e.g. --column answer='Model Answer'.")
        if field not in known:
            raise ConfigError(f"--column {text}: there is no field {field!r}. {nearest(field, known)}")
        if field in columns:
            raise ConfigError(f"--column {text}: {field} is {columns[field]!r} already. Leave one out.")
        columns[field] = column
    return columns


def _check_found(choice: "ColumnChoice", values: Iterable[object]) -> None:
    """Raise ColumnsError for a column that is in none of the files."""
    from ragstone.kernel.errors import ColumnsError, nearest
    from ragstone.kernel.tables.columns import find_column
    from ragstone.kernel.tables.reading import columns_in

    there = {path: columns_in(path) for path in _files(values)}
    every = {column for columns in there.values() for column in columns}
    for field, column in choice.columns.items():
        if there and not any(find_column(column, columns) for columns in there.values()):
            places = ", ".join(map(str, there))
            raise ColumnsError(
                f"--column {field}={column}: no such column in {places}. {nearest(column, every)}"
            )


def _named_in_settings(options: Mapping[str, Any]) -> Iterator[Path]:
    """Yield whatever may be a path in the settings that a command reads."""
    from msgspec import to_builtins

    from ragstone.kernel.config import load_settings

    if not {"config", "file"} & options.keys():
        return
    settings = load_settings(options.get("config") or options.get("file"))
    left = [to_builtins(settings)]
    while left:
        match left.pop():
            case dict(table):
                left += table.values()
            case list(values):
                left += values
            case str(text) if text:
                yield settings.path(text)


def _files(values: Iterable[object]) -> Iterator[Path]:
    """Yield the files of rows among the values of a command's parameters."""
    from ragstone.kernel.tables.formats import READERS, ending_of

    for value in values:
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            yield from _files(value)
        elif isinstance(value, str | Path) and ending_of(Path(value)) in READERS and Path(value).is_file():
            yield Path(value)
