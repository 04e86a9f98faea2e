"""What annotators do with the items of a queue: a label, its withdrawal, a skip. Each is kept at once."""

import math
from pathlib import Path
from typing import Any

import msgspec

from ragstone.agreement.pairing import ADJUDICATOR
from ragstone.agreement.queueing.queue import Item, Queue
from ragstone.agreement.queueing.rowfile import RowFile
from ragstone.errors import DataError
from ragstone.records import Answer, Label, Metadata, Row
from ragstone.tables import parse_row


class Skip(Row, frozen=True, kw_only=True):
    """An item that an annotator passed over. It is no label, and gives way to one."""

    question_id: str
    system: str
    annotator: str
    reason: str | None = None


LabelKey = tuple[str, str, str | None, str | None]


def label_key(label: Label) -> LabelKey:
    """Return what there is one label for: answer, metric and annotator."""
    return (label.question_id, label.system, label.metric, label.annotator)


def skip_key(skip: Skip) -> tuple[str, str, str]:
    """Return what there is one skip for."""
    return (skip.question_id, skip.system, skip.annotator)


class Marks:
    """The labels and skips of one queue, in its two files."""

    def __init__(self, queue: Queue, labels: Path, skips: Path) -> None:
        self.queue = queue
        self.labels: RowFile[Label] = RowFile(labels, label_key, _label)
        self.skips: RowFile[Skip] = RowFile(skips, skip_key, _skip)

    def label(self, person: str, place: int, text: Answer, score: float, comment: str | None = None) -> None:
        """Keep a person's label of an item, in the place of an earlier one of theirs.

        text: the answer with its question, which the label carries on. Raises DataError for a score off the
        scale, and for an item that is not theirs.
        """
        item = item_for(self.queue, person, place)
        self._put(person, text, on_scale(self.queue, score), comment, item.inclusion)
        self.skips.remove((item.question_id, item.system, person))

    def adjudicate(
        self, person: str, place: int, text: Answer, score: float, comment: str | None = None
    ) -> None:
        """Keep the label that settles an item on which annotators differ. Raises DataError as label does."""
        item = _item(self.queue, place)
        named = f"{ADJUDICATOR}{person}"
        self._put(named, text, on_scale(self.queue, score), comment, item.inclusion)

    def withdraw(self, person: str, place: int) -> None:
        """Take back a person's label or skip of an item; nothing happens where there is none."""
        item = _item(self.queue, place)
        self.labels.remove((item.question_id, item.system, self.queue.metric, person))
        self.skips.remove((item.question_id, item.system, person))

    def skip(self, person: str, place: int, reason: str | None = None) -> None:
        """Note that a person passes over an item; a label of theirs is taken back. Raises DataError."""
        item = item_for(self.queue, person, place)
        self.labels.remove((item.question_id, item.system, self.queue.metric, person))
        row = Skip(question_id=item.question_id, system=item.system, annotator=person, reason=reason or None)
        self.skips.put([row])

    def _put(
        self, annotator: str, text: Answer, score: float, comment: str | None, inclusion: float | None
    ) -> None:
        label = Label(
            question_id=text.question_id,
            system=text.system,
            metric=self.queue.metric,
            score=score,
            annotator=annotator,
            rationale=comment or None,
            metadata=carried(self.queue, text, inclusion),
        )
        self.labels.put([label])


def carried(queue: Queue, text: Answer, inclusion: float | None) -> Metadata:
    """Return what a label carries beside its score: the texts, and how its answer was drawn."""
    found: Metadata = {"queue": queue.name, "inclusion": inclusion, "tags": text.tags}
    found |= {"question": text.question, "answer": text.answer, "reference": text.reference}
    return {name: value for name, value in found.items() if value is not None}


def item_for(queue: Queue, person: str, place: int) -> Item:
    """Return the item at a place, if this person is to label it. Raises DataError."""
    item = _item(queue, place)
    if person.startswith(ADJUDICATOR):
        raise DataError(f"nobody can label as {person!r}: labels of that name settle differences.")
    if item.annotators and person not in item.annotators:
        raise DataError(
            f"item {place + 1} of queue {queue.name!r} is for another annotator, not for {person}: nothing "
            "was saved. Load the page again to get your own."
        )
    return item


def _item(queue: Queue, place: int) -> Item:
    if not 0 <= place < len(queue.items):
        raise DataError(
            f"queue {queue.name!r} has no item {place + 1}, it has {len(queue.items)}: nothing was saved. "
            "Load the page again."
        )
    return queue.items[place]


def on_scale(queue: Queue, score: float) -> float:
    """Return the score if it can be given in this queue. Raises DataError with what can."""
    low, high = queue.scale
    fits = score in queue.grades if queue.grades else math.isfinite(score) and low <= score <= high
    if not fits:
        known = ", ".join(f"{grade:g}" for grade in queue.grades) or f"{low:g} to {high:g}"
        raise DataError(f"{score:g} is not on the scale of this queue ({known}): nothing was saved.")
    return float(score)


def _label(raw: dict[str, Any]) -> Label:
    return parse_row(raw, Label)


def _skip(raw: dict[str, Any]) -> Skip:
    return msgspec.convert(raw, Skip)
