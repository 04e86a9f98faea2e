"""The questions of a data set as its page lists them: searched, filtered, a page at a time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.review._reviews import OpenReview, reviews_of, state_of
from ragstone.features.review._sets import DataSet, SetEntry
from ragstone.kernel.dataset.repeats import exact_form, repeated
from ragstone.kernel.errors import DataError, MissingExtra
from ragstone.kernel.records import Question, references
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.runs import RunEntry
from ragstone.kernel.serve.state import AppState
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.where import Kind, bound, folded, holds

ROWS = 50  # of a page
MOST_SETS = 4  # whose questions are kept in memory
MOST_COMPARED = 5_000  # questions of a set that are looked through for repetitions
MOST_RUNS, MOST_RUN_BYTES = 20, 30_000_000  # whose questions are looked through: the newest runs
KINDS: dict[str, Kind] = {
    "question_id": "text",
    "question": "text",
    "reference": "text",
    "kind": "text",
    "lang": "text",
    "answerable": "yes_no",
    "documents": "text",
    "evidence": "yes_no",
    "review": "text",
    "repeats": "yes_no",
}
"""What a filter can ask of every question; its tags come on top."""


class SetFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What the address of a set's page asks for. text: words; where: a filter; at: the page, from 1."""

    text: str = ""
    where: str = ""
    at: int = 1


class SetRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question. review: the state that its review has, "" where it cannot be reviewed here.

    repeats: the id of the earlier question that it repeats. runs: (id, name) of those that answered it.
    """

    question: Question
    review: str = ""
    repeats: str | None = None
    runs: list[tuple[str, str]] = []


class SetRows(msgspec.Struct, frozen=True, kw_only=True):
    """A page of questions. n: that fit; of: all; names: what a filter can ask; wrong: of the filter.

    n_repeats: questions of the set that repeat another, None where it is too large to tell.
    """

    rows: list[SetRow]
    n: int
    of: int
    at: int
    n_pages: int
    names: list[str]
    n_repeats: int | None
    wrong: str | None = None


class _Set(msgspec.Struct, frozen=True):
    questions: list[Question]
    repeats: list[int | None]
    tags: list[str]


class OpenSets:
    """Sets that were read, by their content, and which run has which questions."""

    def __init__(self) -> None:
        self._sets: dict[str, _Set] = {}
        self._runs: dict[Path, tuple[tuple[int, int], dict[str, str]]] = {}

    def read(self, entry: DataSet) -> _Set:
        """Return the questions of a set. Raises DataError."""
        if entry.id not in self._sets:
            questions = list(read_rows(entry.path, Question))
            few = len(questions) <= MOST_COMPARED
            tags = dict.fromkeys(name for row in questions for name in row.tags or {})
            self._sets[entry.id] = _Set(
                questions, repeated([row.question for row in questions]) if few else [], list(tags)
            )
            for old in list(self._sets)[:-MOST_SETS]:
                self._sets.pop(old, None)
        return self._sets[entry.id]

    def asked_in(self, run: RunEntry) -> Mapping[str, str]:
        """Return id -> question of a run that has answers; empty where it cannot be told."""
        file = rows_file(run.folder, "questions")
        if file is None or rows_file(run.folder, "answers") is None:
            return {}
        try:
            stat = file.stat()
            stamp = (stat.st_size, stat.st_mtime_ns)
            known = self._runs.get(file)
            if known is None or known[0] != stamp:
                rows = read_rows(file, Question) if stat.st_size <= MOST_RUN_BYTES else ()
                known = self._runs[file] = (stamp, {row.id: row.question for row in rows})
        except (OSError, DataError, MissingExtra):
            return {}
        return known[1]


def open_sets(_app: AppState) -> OpenSets:
    """The sets that a workbench has read."""
    return OpenSets()


def set_rows(app: AppState, entry: DataSet, chosen: SetFilter) -> SetRows:
    """Return the questions of a set that were asked for. Raises DataError for a set that cannot be read.

    A filter that cannot be read is told, and everything is listed.
    """
    opened = app.part(open_sets).read(entry)
    review = _review(app, entry)
    tags = (name for tag in opened.tags for name in (f"tags.{tag}", tag))
    kinds: dict[str, Kind] = {**dict.fromkeys(tags, "text"), **KINDS}
    numbers, wrong = list(range(len(opened.questions))), None
    try:
        if chosen.where.strip():
            condition = bound(chosen.where, kinds)
            numbers = [n for n in numbers if holds(condition, _cells(opened, n, review))]
    except DataError as mistake:
        wrong = str(mistake)
    if searched := folded(chosen.text).split():
        rows = ((n, opened.questions[n]) for n in numbers)
        texts = (
            (n, folded(" ".join([row.id, row.question, *references(row), *(row.tags or {}).values()])))
            for n, row in rows
        )
        numbers = [n for n, text in texts if all(word in text for word in searched)]
    n_pages = max(1, -(-len(numbers) // ROWS))
    at = min(max(chosen.at, 1), n_pages)
    page = numbers[(at - 1) * ROWS : at * ROWS]
    return SetRows(
        rows=_rows(app, opened, page, review),
        n=len(numbers),
        of=len(opened.questions),
        at=at,
        n_pages=n_pages,
        names=[*KINDS, *opened.tags],
        n_repeats=sum(of is not None for of in opened.repeats) if opened.repeats else None,
        wrong=wrong,
    )


def _review(app: AppState, entry: DataSet) -> OpenReview | None:
    if entry.review is None:
        return None
    try:
        return app.part(reviews_of).open(SetEntry(id=entry.review, name=entry.name, path=entry.path))
    except DataError:  # the page of the review says what is wrong
        return None


def _state(question: Question, review: OpenReview | None) -> str:
    number = review.place.get(question.id) if review else None
    return "" if review is None or number is None else state_of(review.items[number])


def _cells(opened: _Set, number: int, review: OpenReview | None) -> dict[str, Any]:
    """Return what a filter asks of a question: column -> value."""
    row = opened.questions[number]
    tags = row.tags or {}
    cells: dict[str, Any] = {name: value for tag, value in tags.items() for name in (f"tags.{tag}", tag)}
    documents = [*(row.document_ids or []), *(each.document_id for each in row.evidence or [])]
    return cells | {
        "question_id": row.id,
        "question": row.question,
        "reference": references(row) or None,
        "kind": row.kind,
        "lang": row.lang,
        "answerable": row.answerable,
        "documents": documents or None,
        "evidence": bool(row.evidence),
        "review": _state(row, review) or None,
        "repeats": bool(opened.repeats) and opened.repeats[number] is not None,
    }


def _rows(app: AppState, opened: _Set, numbers: Sequence[int], review: OpenReview | None) -> list[SetRow]:
    runs = [(run, app.part(open_sets).asked_in(run)) for run in app.runs.all()[:MOST_RUNS]]
    rows = []
    for number in numbers:
        question = opened.questions[number]
        of = opened.repeats[number] if opened.repeats else None
        rows.append(
            SetRow(
                question=question,
                review=_state(question, review),
                repeats=None if of is None else opened.questions[of].id,
                runs=[
                    (run.id, run.name)
                    for run, asked in runs
                    if _is_same(asked.get(question.id), question.question)
                ],
            )
        )
    return rows


def _is_same(text: str | None, question: str) -> bool:
    """Return whether a text is the question, whatever its case and spaces."""
    return text is not None and (text == question or exact_form(text) == exact_form(question))
