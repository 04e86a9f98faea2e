"""Labels of people beside verdicts of another tool: found by id, else by the texts of question and answer."""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec

from ragstone.kernel.agreement.pairing import UNNAMED, Key
from ragstone.kernel.errors import DataError, plural, takes_rows
from ragstone.kernel.judging.conversation import reply_notes
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.formats import READERS, ending_of, reader_of
from ragstone.kernel.tables.interchange.recognise import is_of_tool
from ragstone.kernel.tables.interchange.verdicts import kinds_in
from ragstone.kernel.tables.names import accepted_names, fold, question_key

LOG = logging.getLogger(__name__)

_ANSWER_NAMES = frozenset(map(fold, accepted_names(Answer, "answer")))
_QUESTION_NAMES = frozenset(map(fold, accepted_names(Answer, "question")))

_MADE_ID = re.compile(r"q-[0-9a-f]{12}(-\d+)?", re.ASCII)  # see names.question_key
_MANY = "{} an answer that occurs several times, and {} not say which one"
_OTHER = "{} no judged answer: neither the id nor the texts are in the judgements"


def labels_within(judgements: Path, *, needed: bool) -> Path | None:
    """Return the file of judgements itself where it is another tool's and people have annotated in it.

    needed: without labels there is nothing to do. Raises DataError where they are needed, and verdicts of
    evaluators alone are in a file of another tool.
    """
    if not judgements.is_file() or ending_of(judgements) not in READERS:
        return None
    try:
        rows = (raw for _, raw in reader_of(judgements)(judgements) if isinstance(raw, dict))
        first = next(rows, None)
        kinds = (
            kinds_in([first, *rows], str(judgements)) if first is not None and is_of_tool(first) else set()
        )
    except DataError:  # it is said where the file is read
        return None
    if needed and Judgement in kinds and Label not in kinds:
        raise DataError(
            f"{judgements}: it holds verdicts of evaluators but no labels by people. Give people's labels "
            f"as the second file: ragstone agree {quote(str(judgements))} LABELS."
        )
    return judgements if Label in kinds else None


@takes_rows(judgements=Judgement, labels=Label, answers=Answer)
def join_labels(
    judgements: Sequence[Judgement], labels: Sequence[Label], answers: Sequence[Answer] = ()
) -> Rows[Label]:
    """Return labels with the question ids and systems of the verdicts that they are for, in order.

    judgements: as read from another tool's file; if none is of one, the labels come back as they are.
    A label is for the answer that one of its ids names: its question id, or any column that ends in `id`
    (`trace_id`, `span_id`). Else it is for the only answer with its texts of question and answer, else for
    the only one with its question; white space does not count. answers: a sheet that names the same answers
    by other ids or holds their texts, where the judgements do not.

    A label that could be of several answers is left out. How many are, and how many are for no judged answer,
    a warning (logging) says; the latter come back as they are.
    """
    if not any((row.metadata or {}).get("tool") for row in judgements):
        return Rows(labels, Label)
    index = _AnswerIndex(judgements, answers)
    joined: list[Label] = []
    n_many = n_other = 0
    for label in labels:
        keys = index.find(label)
        if len(keys) == 1:
            [(question_id, system)] = keys
            label = msgspec.structs.replace(label, question_id=question_id, system=system)
        n_other += not keys
        n_many += len(keys) > 1
        if len(keys) <= 1:
            joined.append(label)
    _tell(len(labels), n_many, n_other)
    return Rows(joined, Label)


def _tell(n: int, n_many: int, n_other: int) -> None:
    reasons = []
    if n_other:
        reasons.append(f"{n_other:,} {_OTHER.format('names' if n_other == 1 else 'name')}")
    if n_many:
        verbs = ("names", "does") if n_many == 1 else ("name", "do")
        reasons.append(f"{n_many:,} {_MANY.format(*verbs)}")
    if reasons:
        LOG.warning(
            "%s of %s %s not matched to a verdict: %s.",
            f"{n_other + n_many:,}",
            plural(n, "label"),
            "is" if n_other + n_many == 1 else "are",
            "; ".join(reasons),
        )


class _Names:
    """What answers are called -> the answers, of all systems and of each; two at most, for one is wanted."""

    def __init__(self) -> None:
        self._keys: dict[tuple[object, str | None], tuple[Key, ...]] = {}

    def add(self, name: object, key: Key) -> None:
        for system in (None, key[1]):
            known = self._keys.get((name, system), ())
            if len(known) < 2 and key not in known:
                self._keys[name, system] = (*known, key)

    def find(self, name: object, system: str) -> set[Key]:
        """Return the answers of this name and system; of any system where a side names none."""
        if system == UNNAMED:
            return {*self._keys.get((name, None), ())}
        return {*self._keys.get((name, system), ()), *self._keys.get((name, UNNAMED), ())}


class _AnswerIndex:
    """The judged answers, by all that they can be found by."""

    def __init__(self, judgements: Iterable[Judgement], answers: Iterable[Answer]) -> None:
        self._by_id, self._by_texts, self._by_question = _Names(), _Names(), _Names()
        self._texts: dict[Key, tuple[str | None, str | None]] = {}
        for row in judgements:
            key = (row.question_id, row.system)
            if key not in self._texts:
                notes = row.metadata or {}
                self._texts[key] = _texts(notes)
                self._add(key, {row.question_id, *_ids_in(notes)}, *self._texts[key])
        for sheet_row in answers:
            question, answer = _plain(sheet_row.question), _plain(sheet_row.answer)
            ids = {sheet_row.question_id, *_ids_in(sheet_row.metadata or {})}
            keys = self._of(ids, question, answer, sheet_row.system)
            if len(keys) == 1:
                self._add(next(iter(keys)), ids, question, answer)

    def _add(self, key: Key, ids: Iterable[str], question: str | None, answer: str | None) -> None:
        for name in ids:
            self._by_id.add(name, key)
        if question is not None:
            self._by_question.add(question, key)
            if answer is not None:
                self._by_texts.add((question, answer), key)

    def find(self, label: Label) -> set[Key]:
        """Return the answer that a label is for; none, or two of those among which it does not choose."""
        notes = label.metadata or {}
        question, answer = _texts(notes)
        return self._of({label.question_id, *_ids_in(notes)}, question, answer, label.system)

    def _of(self, ids: set[str], question: str | None, answer: str | None, system: str) -> set[Key]:
        """Return the answers of this system that have one of the ids, else the texts, else the question."""
        several: set[Key] = set()
        for name in ids:
            keys = self._by_id.find(name, system)
            # An id that was made of the question's text is that of each answer to it: the texts choose.
            if len(keys) == 1 and (
                not _MADE_ID.fullmatch(name) or self._may_be(next(iter(keys)), question, answer)
            ):
                return keys
            several |= keys if len(keys) > 1 else set()
        if question is None:
            return several
        if answer is not None and (keys := self._by_texts.find((question, answer), system)):
            return keys
        keys = self._by_question.find(question, system)
        if len(keys) == 1:
            return keys if self._may_be(next(iter(keys)), question, answer) else several
        return keys or several

    def _may_be(self, key: Key, question: str | None, answer: str | None) -> bool:
        """Say whether it may be this answer: its text is the same, or its question has one answer alone."""
        own_question, own_answer = self._texts[key]
        if answer is not None and own_answer is not None:
            return answer == own_answer
        alone = question is None or len(self._by_question.find(question, key[1])) == 1
        return alone or own_question != question


def _ids_in(notes: Mapping[str, Any]) -> Iterator[str]:
    for name, value in notes.items():
        if isinstance(value, str | int) and not isinstance(value, bool) and fold(str(name)).endswith("id"):
            yield str(value)


def _texts(notes: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the question and the answer in a row's metadata, under the names that answer sheets have."""
    question = answer = None
    for name, value in notes.items():
        if isinstance(value, str):
            folded = fold(str(name))
            question = _plain(value) if question is None and folded in _QUESTION_NAMES else question
            answer = _plain(value) if answer is None and folded in _ANSWER_NAMES else answer
    return question, answer


def _plain(text: str | None) -> str | None:
    """Return a text without what does not count: how it is composed, and how much white space is in it."""
    return " ".join(unicodedata.normalize("NFC", text).split()) or None if text else None


@contextmanager
def columns_of_run(judgements: Path) -> Iterator[None]:
    """Read files as the sheet of a run was read: with the columns that were named for it.

    judgements: the run's folder, or the file of judgements in it. What is named now comes first, and a column
    that a file lacks was meant for the other one.
    """
    folder = judgements if judgements.is_dir() else judgements.parent
    now = CHOICE.get()
    try:
        numbers = msgspec.json.decode((folder / "summary.json").read_bytes(), type=_Columns)
    except (OSError, *NOT_JSON):
        numbers = _Columns()
    token = CHOICE.set(msgspec.structs.replace(now, columns={**numbers.columns, **now.columns}))
    try:
        yield
    finally:
        CHOICE.reset(token)


class _Columns(msgspec.Struct, frozen=True):
    """What a run's summary says of the columns of its sheet."""

    columns: dict[str, str] = {}


def with_texts(labels: Sequence[Label], answers: Iterable[Answer]) -> list[Label]:
    """Return labels with question, answer and reference of the answers that they speak of.

    A label that is known by its question's text alone gets the id of that question.
    """
    rows = {(row.question_id, row.system): row for row in answers}
    ids = {question_id for question_id, _ in rows}
    by_text = {question_key(row.question): row.question_id for row in rows.values() if row.question}
    alone = {row.question_id: row for row in rows.values()} if len(ids) == len(rows) else {}
    completed = []
    for label in labels:
        question_id = label.question_id if label.question_id in ids else by_text.get(label.question_id)
        row = rows.get((question_id or "", label.system)) or alone.get(question_id or "")
        if row is not None:
            texts = {"question": row.question, "answer": row.answer, "reference": row.reference}
            notes: dict[str, Any] = {name: text for name, text in texts.items() if text} | reply_notes(row)
            label = msgspec.structs.replace(
                label, question_id=row.question_id, metadata=notes | (label.metadata or {})
            )
        completed.append(label)
    return completed
