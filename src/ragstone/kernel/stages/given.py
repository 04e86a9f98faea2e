"""The rows that a command is given: an answer sheet with its questions, or the questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Question
from ragstone.kernel.tables import parse_rows, read_rows
from ragstone.kernel.tables.formats import READERS


def judgements_of(path: Path) -> Path:
    """Return the file of judgements that a path names: itself, or that of a run's folder."""
    return rows_in(path, "judgements") or path


def answers_of(path: Path) -> Path | None:
    """Return the file of answers of a run's folder; None for another path."""
    return rows_in(path, "answers")


def rows_in(folder: Path, kind: str) -> Path | None:
    """Return the file of a run's folder that holds a kind of row (`answers`), in whatever format, or None."""
    files = (folder / f"{kind}{ending}" for ending in READERS)
    return next((file for file in files if file.is_file()), None)


def asked_questions(settings: Settings) -> list[Question]:
    """Return the questions that the settings name. Raises ConfigError if they name none."""
    if settings.questions.path is None:
        raise ConfigError(
            "no questions. Name a file with --questions, or as path in [questions] of ragstone.toml."
        )
    rows = read_rows(settings.path(settings.questions.path), Question)
    return list(islice(rows, settings.questions.limit))


def parse_questions(
    given: Iterable[Question | dict[str, Any] | str], columns: Mapping[str, str] | None
) -> Sequence[Question]:
    """Return questions as rows; texts are questions too. Raises DataError."""
    if isinstance(given, list | tuple):
        given = [{"question": one} if isinstance(one, str) else one for one in given]
    if isinstance(given, Sequence) and not any(isinstance(row, dict) for row in given):
        check_lists({Question: given})
        return [row for row in given if isinstance(row, Question)]
    if isinstance(given, Iterator):
        check_lists({Question: given})  # type: ignore[dict-item]  # it says why
    rows = cast("Iterable[Question | dict[str, Any]]", given)
    return parse_rows(rows, Question, columns=columns)


def check_lists(given: Mapping[type, Sequence[object]]) -> None:
    """Refuse rows of another kind, and what can be read only once: the next call would be given nothing."""
    for kind, rows in given.items():
        name = f"{kind.__name__.lower()}s"
        if not isinstance(rows, Sequence):
            raise DataError(
                f"{name}: expected a list of rows, got {type(rows).__name__}, which can be read only once. "
                f"Give list({name})."
            )
        other = next((type(row).__name__ for row in rows if not isinstance(row, kind)), None)
        if other:
            raise DataError(
                f"{name}: expected rows of type {kind.__name__}, got {other}. "
                f"ragstone.read_rows(path, ragstone.{kind.__name__}) reads a file of them."
            )
