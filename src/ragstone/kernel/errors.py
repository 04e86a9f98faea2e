"""Every error that Ragstone raises on purpose, in one tree.

RagstoneError            the base: its message says what happened, where, and what to do next
├── ConfigError          ragstone.toml or a judge file is wrong (names the line and the fix)
├── DataError            a file of rows is wrong or missing (names file, line and field)
│   └── ColumnsError     its columns do not fit; carries the options that say what they mean
├── ModelError           a model cannot be had: unknown transport, no key, missing package or file
│   └── CallFailed       one call ended without a usable reply; carries the row's status
└── MissingExtra         an optional package is not installed (names the command that installs it)
KeyboardInterrupt
└── Stopped              Ctrl-C, after what was finished has been kept (says where); no mistake of anybody's

The command line prints the message and exits with code 2; there is no traceback for a user's mistake.
"""

import contextlib
import functools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import NoneType, TracebackType, UnionType
from typing import Any, Literal, ParamSpec, TypeVar, get_args, get_origin

FEW_NAMES = 12  # that a message lists beside the closest ones

P = ParamSpec("P")
Out = TypeVar("Out")


class RagstoneError(Exception):
    """Base of all errors raised on purpose."""


class ConfigError(RagstoneError):
    """Settings or a judge file are wrong."""


class DataError(RagstoneError):
    """A file of rows, or a row in it, is wrong or missing."""


class ColumnsError(DataError):
    """Which column, sheet or word means what is not clear.

    options: what to add to the command, e.g. `["--column", "answer=Reply"]`; empty where none can be told.
    """

    def __init__(self, message: str, options: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.options = list(options)

    def __reduce__(self) -> tuple[type["ColumnsError"], tuple[str, list[str]]]:
        return ColumnsError, (str(self), self.options)  # it is sent from one process to another


class ModelError(RagstoneError):
    """A model cannot be reached, does not exist or is not named; the whole command stops."""


class Stopped(KeyboardInterrupt):
    """Ctrl-C ended the work in good order; the message says what there is and how to go on."""


class MissingExtra(RagstoneError):
    """An optional package is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        command = f"pip install 'ragstone[{extra}]'"
        super().__init__(f"{what} needs an optional package. Install it with: {command}")
        self._given = (what, extra)

    def __reduce__(self) -> tuple[type["MissingExtra"], tuple[str, str]]:
        return MissingExtra, self._given  # it is sent from one process to another


@contextlib.contextmanager
def explaining(
    what: str, fix: str = "", *kinds: type[Exception], error: type[RagstoneError] = DataError
) -> Iterator[None]:
    """Within the block an exception of these kinds, else an OSError, becomes `WHAT (why). FIX`."""
    kinds = kinds or (OSError,)
    try:
        yield
    except kinds as mistake:
        why = getattr(mistake, "strerror", None) or mistake
        raise error(f"{what} ({why}). {fix}".rstrip()) from None


class without_frames(contextlib.ContextDecorator):  # noqa: N801 - used as a function is, as in contextlib
    """Within the block, or a function so decorated, a mistake of the user's is one exception without frames.

    For what is called from Python: where in Ragstone it was found tells its caller nothing.
    """

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(value, RagstoneError):
            raise value.with_traceback(None) from None


# What makes a value that is asked for by its class.
_MADE_BY = {
    "Settings": "what ragstone.load_settings(path) returns",
    "FinishedRun": "what ragstone.read_run(folder) returns",
    "CascadeFit": "what ragstone.fit_cascade(...) returns",
    "Development": "what ragstone.develop_judge(...) returns",
    "JudgeFields": "what ragstone.load_judge(name) returns",
}


def checks_arguments(function: Callable[P, Out]) -> Callable[P, Out]:
    """Decorate a function that is called from Python: settings, runs, paths are what its signature says.

    Others are refused by one sentence (DataError, for settings ConfigError), and every mistake is without
    frames. An argument is checked where its annotation names nothing but texts, paths and classes of ours, or
    lists the values that there are (`Literal`; then ConfigError).
    """
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    annotations = {name: kind for name, kind in function.__annotations__.items() if name != "return"}
    classes = {name: _classes(kind) for name, kind in annotations.items()}
    choices = {name: get_args(kind) for name, kind in annotations.items() if get_origin(kind) is Literal}

    @functools.wraps(function)
    def checking(*args: P.args, **kwargs: P.kwargs) -> Out:
        with without_frames():
            for name, value in (*zip(names, args, strict=False), *kwargs.items()):
                if name in choices and value not in choices[name]:
                    raise ConfigError(f"{name}: there is no {value!r}. {nearest(str(value), choices[name])}")
                kinds = classes.get(name, ())
                if kinds and not isinstance(value, kinds):
                    error = ConfigError if kinds[0].__name__ == "Settings" else DataError
                    wanted = dict.fromkeys(_wanted(kind, kinds) for kind in kinds if kind is not NoneType)
                    raise error(f"{name}: expected {' or '.join(wanted)}, got {type(value).__name__}.")
            return function(*args, **kwargs)

    return checking


def _classes(annotation: object) -> tuple[type, ...]:
    """Return the classes that an annotation names, none where it names anything else."""
    kinds = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    classes = tuple(get_origin(kind) or kind for kind in kinds)
    known = (str, NoneType, Path, os.PathLike)
    ours = all(
        kind in known or (isinstance(kind, type) and kind.__module__.startswith("ragstone"))
        for kind in classes
    )
    return classes if ours else ()


def _wanted(kind: type, kinds: tuple[type, ...]) -> str:
    if kind in (Path, os.PathLike) or (kind is str and len({Path, os.PathLike} & {*kinds})):
        return "a path"
    return "a text" if kind is str else _MADE_BY.get(kind.__name__, f"a value of type {kind.__name__}")


def takes_rows(**kinds: type | tuple[type, ...]) -> Callable[[Callable[P, Out]], Callable[P, Out]]:
    """Decorate a function that is called from Python: arguments by these names are rows of these kinds.

    What is no such row is refused by one sentence (DataError), and every mistake is without frames. Other
    arguments are looked at too, see checks_arguments.
    """

    def decorate(function: Callable[P, Out]) -> Callable[P, Out]:
        checked = checks_arguments(function)
        code = function.__code__
        names = code.co_varnames[: code.co_argcount]
        listed = {name for name, kind in function.__annotations__.items() if "Sequence" in str(kind)}

        @functools.wraps(function)
        def taking(*args: P.args, **kwargs: P.kwargs) -> Out:
            with without_frames():
                given = dict(zip(names, args, strict=False)) | kwargs
                for name in kinds.keys() & given.keys():
                    given[name] = only_rows(name, given[name], kinds[name], listed=name in listed)
                return checked(*args[len(names) :], **given)  # type: ignore[arg-type]

        return taking

    return decorate


def only_rows(
    name: str,
    rows: Any,  # noqa: ANN401 - of any kind until it is looked at
    kinds: type | tuple[type, ...],
    *,
    listed: bool = False,
) -> Any:  # noqa: ANN401
    """Return the rows of an argument, None as it is; what yields them is checked as it is read.

    listed: where it must be a sequence, what yields rows is read here. Raises DataError for others.
    """
    kinds = kinds if isinstance(kinds, tuple) else (kinds,)
    if rows is None:
        return rows
    if isinstance(rows, str | bytes | dict) or not isinstance(rows, Iterable):
        raise DataError(_no_row(name, rows, kinds))
    checked = _checked(name, rows, kinds)
    if isinstance(rows, Iterator):
        return list(checked) if listed else checked
    for _ in checked:
        pass
    return rows


def _checked(name: str, rows: Iterable[object], kinds: tuple[type, ...]) -> Iterator[object]:
    for row in rows:
        if not isinstance(row, kinds):
            raise DataError(_no_row(name, row, kinds))
        yield row


def _no_row(name: str, row: object, kinds: tuple[type, ...]) -> str:
    expected = " or ".join(kind.__name__ for kind in kinds)
    return (
        f"{name}: expected rows of type {expected}, got {type(row).__name__}. "
        f"ragstone.read_rows(path, ragstone.{kinds[0].__name__}) reads a file of them."
    )


@contextlib.contextmanager
def optional_package(what: str, extra: str) -> Iterator[None]:
    """Within the block an import that fails becomes MissingExtra, unless a module of ours is missing.

    Of the assistant, a distribution of its own, it is one that lacks a module, not one that is not there.
    """
    try:
        yield
    except ImportError as mistake:
        missing = mistake.name or ""
        if missing == "ragstone" or missing.startswith(("ragstone.", "ragstone_assistant.")):
            raise
        raise MissingExtra(what, extra) from None


# Control characters, and those that turn the direction of a line: words from outside must not move a
# terminal's cursor, colour it, or be shown in another order.
_UNRULY = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]+")


def harmless(words: str) -> str:
    """Return the words with U+FFFD for each character that no page, row or terminal should be given.

    A line end of Windows is one of ours.
    """
    return _UNRULY.sub(lambda run: "\ufffd" * len(run[0]), words.replace("\r\n", "\n"))


def plural(n: int, noun: str) -> str:
    """Return `1 answer`, `2,000 answers`."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def nearest(name: str, known: Iterable[str], listed_by: str = "") -> str:
    """Return a hint for an unknown name: the closest known ones, and all where they are few or none is close.

    listed_by: the command that lists them, named in place of many.
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=3, cutoff=0.5)
    meant = f"Did you mean {' or '.join(repr(match) for match in close)}?" if close else ""
    if len(names) > FEW_NAMES and (close or listed_by):
        return f"{meant} See all: {listed_by}".strip() if listed_by else meant
    if close:
        return f"{meant} All: {', '.join(names)}."
    return f"Known: {', '.join(names)}." if names else "There is none to choose from."
