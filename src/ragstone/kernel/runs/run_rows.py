"""A run folder -> its summary and its rows, by question."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Question, Ranking, split_repeat
from ragstone.kernel.runs.blamed import BlameSummary, read_blame, read_causes
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.notes import Note, read_notes
from ragstone.kernel.runs.summary import RunSummary, read_summary
from ragstone.kernel.tables import read_rows

RowT = TypeVar("RowT", Document, Chunk, Question, Ranking, Answer, Judgement)

SHOWN_RANKS = 10  # places of a ranking that the page shows


class RunRows(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of a run, by question id; a file that is absent leaves its part empty.

    chunks: chunk id -> chunk, of those that a shown ranking or a context without text names. blamed: where
    the lost points went, None where `ragstone blame` has not seen these rows; causes: by question id. notes:
    people's, in the order in which they were written.
    """

    summary: RunSummary
    questions: dict[str, Question]
    rankings: dict[str, list[Ranking]]
    answers: dict[str, list[Answer]]
    judgements: dict[str, list[Judgement]]
    chunks: dict[str, Chunk]
    blamed: BlameSummary | None = None
    causes: dict[str, list[Caused]] = {}
    notes: list[Note] = []


def read_run_rows(folder: Path) -> RunRows:
    """Return the rows of the run in a folder.

    Raises DataError when the folder, summary.json or judgements.jsonl is missing, when a file cannot be
    read, and when summary.json was not made from these judgements.
    """
    summary = read_summary(folder)
    judgements = by_question(rows_of(folder, Judgement, needed=True))
    _check_same_run(folder, summary, judgements)
    questions = {row.id: row for row in rows_of(folder, Question)}
    rankings = by_question(rows_of(folder, Ranking))
    answers = by_question(rows_of(folder, Answer))
    blamed = read_blame(folder)
    ids = {item.chunk_id for rows in rankings.values() for row in rows for item in row.items[:SHOWN_RANKS]}
    ids |= {context.id for rows in answers.values() for row in rows for context in row.contexts or []}
    return RunRows(
        summary=summary,
        questions=questions,
        rankings=rankings,
        answers=answers,
        judgements=judgements,
        chunks={row.id: row for row in rows_of(folder, Chunk) if row.id in ids},
        blamed=blamed,
        causes=read_causes(folder) if blamed else {},
        notes=read_notes(folder),
    )


FILES: dict[type, str] = {
    Document: "documents.jsonl",
    Chunk: "chunks.jsonl",
    Question: "questions.jsonl",
    Ranking: "rankings.jsonl",
    Answer: "answers.jsonl",
    Judgement: "judgements.jsonl",
}


def rows_of(folder: Path, row_type: type[RowT], *, needed: bool = False) -> Iterator[RowT]:
    """Yield the rows of a kind; none without their file, unless it is `needed`. Raises DataError."""
    path = folder / FILES[row_type]
    if needed and not path.is_file():
        raise DataError(
            f"{path}: no such file, so there is nothing to report. "
            "Run `ragstone judge` on the answer sheet of this run first."
        )
    return read_rows(path, row_type) if path.is_file() else iter(())


KeyedT = TypeVar("KeyedT", Ranking, Answer, Judgement)


def by_question(rows: Iterable[KeyedT]) -> dict[str, list[KeyedT]]:
    """Return the rows of each question."""
    grouped: dict[str, list[KeyedT]] = defaultdict(list)
    for row in rows:
        grouped[row.question_id].append(row)
    return dict(grouped)


def _check_same_run(folder: Path, summary: RunSummary, judgements: dict[str, list[Judgement]]) -> None:
    """Refuse to show numbers beside rows that they were not computed from."""
    counted: dict[tuple[str, str, str, str], int] = defaultdict(int)
    for rows in judgements.values():
        for row in rows:
            counted[split_repeat(row.system)[0], row.judge, row.metric, row.model] += 1
    summarised = {(m.system, m.judge, m.metric, m.model): m.n_rows for m in summary.metrics}
    for key in summarised.keys() | counted.keys():
        n_rows, n_summarised = counted.get(key, 0), summarised.get(key, 0)
        if n_rows != n_summarised:
            raise DataError(
                f"{folder}: summary.json counts {n_summarised} judgements by {key[1]} ({key[3]}) of system "
                f"{key[0]!r}, judgements.jsonl holds {n_rows}. They are not from the same run: judge again, "
                "so that both are written together."
            )
