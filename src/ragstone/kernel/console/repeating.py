"""What stands around a command that writes rows: run again, it adds what is missing and keeps the rest."""

import contextlib
import functools
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.models import ArgumentInfo

from ragstone.kernel.console.asking import Asking, load_for
from ragstone.kernel.console.printing import say

if TYPE_CHECKING:
    from ragstone.kernel.config import Settings

EVERYWHERE = ("run", "documents", "questions")  # tables of settings that any command may read
# Options that say how a command works, not what it makes.
NOT_COUNTED = {*Asking._fields, "output", "trec", "processes"}


def repeatable(
    *tables: str, grows: Collection[str] = ()
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let a command write its own files again: what it asked stands in the ledger, and is not paid for twice.

    Files that another command wrote, or the same one with other options, stay as they are. tables: those of
    the settings that decide what it makes, beside EVERYWHERE. grows: options and tables that may change from
    one time to the next, as long as no row of the file is lost: more questions, a higher limit.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def called(**options_given: Any) -> None:  # noqa: ANN401 - whatever the command's options are
            from ragstone.kernel.tables.outputs import outputs_of_command

            settings = load_for(options_given.get("config"))
            notes = command.__annotations__
            with outputs_of_command(
                command.__name__.strip("_"),
                settings.path(".ragstone") / "outputs",
                lambda: _options(settings, options_given, notes, (*EVERYWHERE, *tables)),
                [_spelled(name, notes) for name in grows] + [f"[{name}]" for name in grows],
            ) as outputs:
                try:
                    command(**options_given)
                except typer.Exit:
                    _tell(outputs.note())
                    raise
            _tell(outputs.note())

        return called

    return decorated


def _tell(lines: list[str]) -> None:
    for line in lines:
        say(line)


def _options(
    settings: "Settings", given: Mapping[str, Any], notes: Mapping[str, Any], tables: Collection[str]
) -> dict[str, str]:
    """Return what tells this command from others: its options, the files that it reads, its settings."""
    import msgspec

    from ragstone.kernel.engine.digests import hexdigest, plain_settings
    from ragstone.kernel.tables.outputs import digest_of

    plain = plain_settings(settings, others=())
    plain["answer"].pop("repeats")  # a file grows with it, see --repeats
    options = {f"[{table}]": hexdigest(msgspec.json.encode(plain[table])) for table in tables}
    named = {"questions": settings.questions.path, "documents": settings.documents.paths}
    for option, value in given.items():
        if option in NOT_COUNTED:
            continue
        if value is None and option == "repeats":
            value = settings.answer.repeats
        if value is None and option in named:
            listed = named[option] or []
            value = [settings.path(one) for one in ([listed] if isinstance(listed, str) else listed)]
        files = [Path(one) for one in (value if isinstance(value, list) else [value]) if _is_file(one)]
        content = [digest_of(file) for file in files]
        options[_spelled(option, notes)] = hexdigest(msgspec.json.encode([repr(value), content]))
    return options


def _is_file(value: object) -> bool:
    with contextlib.suppress(OSError, ValueError):  # a text that is too long for a name, or has a NUL
        return isinstance(value, Path | str) and value != "" and Path(value).exists()
    return False


def _spelled(option: str, notes: Mapping[str, Any]) -> str:
    """Return an option as it is written, an argument by its name in capitals."""
    for note in getattr(notes.get(option), "__metadata__", ()):
        if isinstance(note, ArgumentInfo):
            return option.upper()
        names = [getattr(note, "default", None), *(getattr(note, "param_decls", None) or ())]
        return next((name for name in names if isinstance(name, str) and name.startswith("-")), f"--{option}")
    return f"--{option}"
