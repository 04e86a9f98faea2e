"""The rows that a command is given: an answer sheet with its questions, or the questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Chunk, Document, Question
from ragstone.kernel.tables import parse_rows, read_rows
from ragstone.kernel.tables.formats import READERS

Taggable = Document | Chunk


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
    questions: Iterable[Question | dict[str, Any] | str], columns: Mapping[str, str] | None
) -> Sequence[Question]:
    """Return questions as rows; texts are questions too. Raises DataError."""
    if isinstance(questions, list | tuple):
        questions = [
            {"question": question} if isinstance(question, str) else question for question in questions
        ]
    if isinstance(questions, Sequence) and not any(isinstance(row, dict) for row in questions):
        check_lists({Question: questions})
        return [row for row in questions if isinstance(row, Question)]
    if isinstance(questions, Iterator):
        check_lists({Question: questions})  # type: ignore[dict-item]  # it says why
    rows = cast("Iterable[Question | dict[str, Any]]", questions)
    return parse_rows(rows, Question, columns=columns)


def check_lists(lists: Mapping[type, Sequence[object]]) -> None:
    """Refuse rows of another kind, and what can be read only once: the next call would be given nothing."""
    for kind, rows in lists.items():
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


def read_taggable(path: Path) -> tuple[type[Taggable], list[Taggable]]:
    """Return the rows of a file, chunks if its first row is one, else documents. Raises DataError."""
    try:
        next(read_rows(path, Chunk))
    except DataError:
        return Document, [*read_rows(path, Document)]
    return Chunk, [*read_rows(path, Chunk)]
