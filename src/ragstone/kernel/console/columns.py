"""The options that say how files are to be read: which column is which field, and which worksheet."""

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

Column = Annotated[
    list[str] | None,
    typer.Option("--column", help="FIELD=COLUMN, e.g. answer='Model Answer'; may be repeated."),
]
Worksheet = Annotated[
    str | None,
    typer.Option("--worksheet", help="Which worksheet of an Excel file to read, if it has several."),
]
TraceWhere = Annotated[
    str | None,
    typer.Option("--where", help="Only these traces, e.g. 'service = farm and failed'; see filters."),
]
RowWhere = Annotated[
    str | None,
    typer.Option(
        "--where",
        help="Only answers of a run or of traces that match a filter; those of a run become a new run.",
    ),
]
_OPTIONS: dict[str, Any] = {"column": Column, "worksheet": Worksheet}


def reads_rows(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options `--column` and `--worksheet`, which hold for every file that it reads.

    A column that is in none of the files which the command is given, or which its settings name, is refused
    before anything is done. A command may have a `--column` of its own. One with a parameter `where`, of type
    TraceWhere, reads of traces only what that filter leaves; one of type RowWhere filters a run itself.
    """
    own = inspect.signature(command)
    names = [name for name in _OPTIONS if name not in own.parameters]
    parameter = own.parameters.get("where")
    of = parameter.annotation if parameter else None

    @functools.wraps(command)
    def called(**options: Any) -> None:  # noqa: ANN401 - whatever the command's options are
        column, worksheet = (options.pop(name, None) if name in names else None for name in _OPTIONS)
        where = options.get("where") if of in (TraceWhere, RowWhere) else None
        if where is not None and of == RowWhere and any(map(is_run, options.values())):
            where = None  # it chooses rows of the run
        if not column and worksheet is None and where is None:
            command(**options)
            return
        from ragstone.kernel.tables.command_line import columns_chosen

        with columns_chosen(
            column or (),
            worksheet,
            lambda: [*options.values(), *_named_in_settings(options)],
            where=where,
        ):
            command(**options)

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


def is_run(value: object) -> bool:
    """Return whether the value of a parameter is a run folder with answers, or a list with one."""
    if isinstance(value, list):
        return any(map(is_run, value))
    if not isinstance(value, Path) or not value.is_dir():
        return False
    from ragstone.kernel.stages.given import rows_in

    return rows_in(value, "answers") is not None


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
