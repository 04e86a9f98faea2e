"""The rows that a command is given: an answer sheet with its questions, or the questions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ColumnsError, ConfigError
from ragstone.kernel.judging.conversation import every_reply
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.systems.rows import join_questions, unanswered, with_columns
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.formats import READERS


def sheet_rows(
    sheet: Path | Sequence[Path],
    questions: Path | None,
    limit: int | None,
    *,
    bare: bool = False,
    each_turn: bool = False,
) -> Callable[[], Iterator[Answer]]:
    """Return a function that reads the answers of files anew each time, joined with their questions.

    bare: whether questions will do, since nobody reads an answer. each_turn: every reply of a conversation is
    a row of its own; `limit` counts conversations.
    """
    asked = {row.id: _with_documents(row) for row in read_rows(questions, Question)} if questions else {}

    def answers_of(file: Path) -> Iterator[Answer]:
        return answers_or_questions(partial(read_rows, file)) if bare else read_rows(file, Answer)

    def rows() -> Iterator[Answer]:
        read = chain.from_iterable(map(answers_of, paths_of(sheet)))
        given = islice(with_columns(join_questions(read, asked), asked), limit)
        return every_reply(given) if each_turn else given

    return rows


def _with_documents(question: Question) -> Question:
    """Return a question whose relevant documents are a column, which its answers take over."""
    if question.document_ids is None:
        return question
    columns = {"document_ids": question.document_ids, **(question.metadata or {})}
    return msgspec.structs.replace(question, metadata=columns)


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


def paths_of(sheet: Path | Sequence[Path]) -> list[Path]:
    """Return the files of an answer sheet, each once."""
    return [sheet] if isinstance(sheet, Path) else list(dict.fromkeys(sheet))


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
