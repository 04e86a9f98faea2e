"""What a run that ragstone.toml declares would stop at before it asks anybody: files, system, judges."""

from collections.abc import Iterator

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.unnamed_model import check_model_named
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.systems.chosen import system_of

PATTERN = frozenset("*?[{")
IN_DOCTOR = "Name one with --model, here and in `ragstone run`, or as model in [judge] or [run]."


def is_run(settings: Settings) -> bool:
    """Return whether there is something to judge: a sheet, or questions and who answers them."""
    answer = settings.answer
    return bool(answer.sheet or (settings.questions.path and (answer.system or answer.model)))


def declared_files(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each file or folder that is named, with the key that names it; no patterns and no addresses."""
    named: dict[str, list[str | None]] = {
        "[documents] paths": [*settings.documents.paths],
        "[questions] path": [settings.questions.path],
        "[answer] sheet": [settings.answer.sheet],
    }
    for key, places in named.items():
        yield from ((key, file) for file in places if file and "://" not in file and not PATTERN & {*file})


def look_at_file(file: str, settings: Settings) -> str:
    """Return that a file or folder is there. Raises DataError."""
    path = settings.path(file)
    if not path.exists():
        raise DataError(
            f"{path}: no such file or folder. Check the spelling: it is relative to ragstone.toml."
        )
    return f"{path} is there"


def look_at_judges(settings: Settings) -> str:
    """Return which judges there are, and whom they ask. Raises ConfigError; ModelError without one."""
    judges = load_judges(map(settings.named, settings.judge.judges))
    check_model_named(judges, settings.judge.model, IN_DOCTOR)
    asking = any(judge.asks_default for judge in judges)
    names = ", ".join(judge.name for judge in judges) or "none"
    return f"{names}; asked: {settings.judge.model}" if asking else names


def look_at_answerer(settings: Settings) -> str:
    """Return the kind of the system of `[answer]`. Raises ConfigError for a name that is none."""
    declared = system_of(settings.answer.system or "", settings)
    return str(type(declared).__struct_config__.tag)
