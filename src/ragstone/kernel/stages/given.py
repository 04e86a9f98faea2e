"""The rows that a command is given: an answer sheet with its questions, or the questions."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ColumnsError, ConfigError
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.systems.rows import unanswered
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.formats import READERS


def answers_or_questions(read: Callable[[type], Iterable[Any]]) -> Iterator[Answer]:
    """Yield the answers that `read` gives; where no column holds any, its questions, with empty ones."""
    answers: Iterator[Answer] = iter(())
    try:
        answers = iter(read(Answer))
        first = next(answers, None)
    except ColumnsError:
        for question in read(Question):
            yield msgspec.structs.replace(unanswered(question, "default"), metadata=question.metadata)
        return
    if first is not None:
        yield first
        yield from answers


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
