"""The rows that a command is given: an answer sheet with its questions, or the questions."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from ragstone.config import Settings
from ragstone.errors import ConfigError
from ragstone.records import Answer, Question
from ragstone.systems.sheet import join_questions
from ragstone.tables import read_rows


def sheet_rows(
    sheet: Path | Sequence[Path], questions: Path | None, limit: int | None
) -> Callable[[], Iterator[Answer]]:
    """Return a function that reads the answers of files anew each time, joined with their questions."""
    asked = {row.id: row for row in read_rows(questions, Question)} if questions else {}
    sheets = paths_of(sheet)
    return lambda: islice(
        join_questions(chain.from_iterable(read_rows(one, Answer) for one in sheets), asked), limit
    )


def paths_of(sheet: Path | Sequence[Path]) -> list[Path]:
    """Return the files of an answer sheet, each once."""
    return [sheet] if isinstance(sheet, Path) else list(dict.fromkeys(sheet))


def asked_questions(settings: Settings) -> list[Question]:
    """Return the questions that the settings name. Raises ConfigError if they name none."""
    if settings.questions.path is None:
        raise ConfigError(
            "no questions. Name a file with --questions, or as path in [questions] of ragstone.toml."
        )
    rows = read_rows(settings.path(settings.questions.path), Question)
    return list(islice(rows, settings.questions.limit))
