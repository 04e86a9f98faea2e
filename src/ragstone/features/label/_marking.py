"""What annotators do with the items of a queue, how far they have come, and labels of other tools."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ragstone.features.label.queue import Queue, QueueItem
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.corrected_mean import CorrectedMean
from ragstone.kernel.agreement.pairing import ADJUDICATOR, UNNAMED, human_scores, is_adjudicated
from ragstone.kernel.agreement.policies import AGAIN, BY_HAND, CHOSEN, policy_of
from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.row_file import RowFile
from ragstone.kernel.records import Answer, Judgement, Label, Metadata, Row
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.tables import parse_row


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
        self.labels: RowFile[Label] = RowFile(labels, self._key, lambda raw: parse_row(raw, Label))
        self.skips: RowFile[Skip] = RowFile(skips, skip_key, lambda raw: msgspec.convert(raw, Skip))

    def _key(self, label: Label) -> tuple[LabelKey, str | None]:
        return label_key(label), self.policy_of(label)

    def policy_of(self, label: Label) -> str | None:
        """Return the policy of a label; one that names none is of the text that the queue was made with."""
        return policy_of(label) or self.queue.policy

    def label(
        self,
        person: str,
        index: int,
        text: Answer,
        score: float,
        comment: str | None = None,
        *,
        policy: str | None,
    ) -> None:
        """Keep a person's label of an item, in the place of an earlier one of theirs under this policy.

        text: the answer with its question, which the label carries on. policy: the digest of the instructions
        that were read. Raises DataError for a score off the scale, and for an item that is not theirs.
        """
        item = item_for(self.queue, person, index)
        metadata = carried(self.queue, text, item.inclusion, policy)
        self._put(person, text, on_scale(self.queue, score), comment, metadata)
        self.skips.remove((item.question_id, item.system, person))

    def adjudicate(
        self,
        person: str,
        index: int,
        text: Answer,
        score: float,
        comment: str | None = None,
        *,
        policy: str | None,
    ) -> None:
        """Keep the label that settles an item on which annotators differ. Raises DataError as label does."""
        item = _item(self.queue, index)
        named = f"{ADJUDICATOR}{person}"
        metadata = carried(self.queue, text, item.inclusion, policy)
        self._put(named, text, on_scale(self.queue, score), comment, metadata)

    def withdraw(self, person: str, index: int, *, policy: str | None) -> None:
        """Take back a person's label under a policy, or skip, of an item; nothing happens without one."""
        item = _item(self.queue, index)
        self.labels.remove(((item.question_id, item.system, self.queue.metric, person), policy))
        self.skips.remove((item.question_id, item.system, person))

    def skip(self, person: str, index: int, reason: str | None = None, *, policy: str | None) -> None:
        """Note that a person passes over an item; a label of theirs under the policy is taken back.

        Raises DataError for an item that is not theirs.
        """
        item = item_for(self.queue, person, index)
        self.labels.remove(((item.question_id, item.system, self.queue.metric, person), policy))
        row = Skip(question_id=item.question_id, system=item.system, annotator=person, reason=reason or None)
        self.skips.put([row])

    def _put(
        self, annotator: str, text: Answer, score: float, comment: str | None, metadata: Metadata
    ) -> None:
        label = Label(
            question_id=text.question_id,
            system=text.system,
            metric=self.queue.metric,
            score=score,
            annotator=annotator,
            rationale=comment or None,
            metadata=metadata,
        )
        self.labels.put([label])


def carried(queue: Queue, text: Answer, inclusion: float | None, policy: str | None) -> Metadata:
    """Return what a label carries beside its score: the texts, how its answer was drawn, and its policy."""
    metadata: Metadata = {"queue": queue.name, "inclusion": inclusion, "policy": policy, "tags": text.tags}
    metadata |= {"question": text.question, "answer": text.answer, "reference": text.reference}
    metadata |= {AGAIN: True} if queue.again_of else {}
    is_chosen = queue.choice.where or queue.choice.by in ("chosen", "picked")
    metadata |= {CHOSEN: queue.choice.where or BY_HAND} if is_chosen else {}
    return {name: value for name, value in metadata.items() if value is not None}


def item_for(queue: Queue, person: str, index: int) -> QueueItem:
    """Return the item at a place, if this person is to label it. Raises DataError."""
    item = _item(queue, index)
    if person.startswith(ADJUDICATOR):
        raise DataError(f"nobody can label as {person!r}: labels of that name settle differences.")
    if item.annotators and person not in item.annotators:
        raise DataError(
            f"item {index + 1} of queue {queue.name!r} is for another annotator, not for {person}: "
            "nothing was saved. Reload the page to get your own."
        )
    return item


def _item(queue: Queue, index: int) -> QueueItem:
    if not 0 <= index < len(queue.items):
        raise DataError(
            f"queue {queue.name!r} has no item {index + 1}, it has {len(queue.items)}: nothing was "
            "saved. Reload the page."
        )
    return queue.items[index]


def on_scale(queue: Queue, score: float) -> float:
    """Return the score if it can be given in this queue. Raises DataError with what can."""
    low, high = queue.scale
    fits = score in queue.grades if queue.grades else math.isfinite(score) and low <= score <= high
    if not fits:
        known = ", ".join(f"{grade:g}" for grade in queue.grades) or f"{low:g} to {high:g}"
        raise DataError(f"{score:g} is not on the scale of this queue ({known}): nothing was saved.")
    return float(score)


SHOWN = 10


def fitted(queue: Queue, texts: Sequence[Answer], labels: Iterable[Label], annotator: str) -> list[Label]:
    """Return labels from elsewhere as labels of this queue: with its metric, and with what its own carry.

    annotator: the name for labels without one. A label that names no system is of the queue's answer to that
    question, if there is one only. Raises DataError naming the first ten that do not fit: answers that the
    queue does not hold, scores off its scale, another metric, one answer twice by one annotator. None is
    taken then.
    """
    places = {(item.question_id, item.system): at for at, item in enumerate(queue.items)}
    systems: dict[str, list[str]] = {}
    for question_id, system in places:
        systems.setdefault(question_id, []).append(system)
    fitted_labels: dict[tuple[str, str, str, str | None], Label] = {}
    problems: list[str] = []
    for number, label in enumerate(labels, 1):
        try:
            key = _answer(label, systems)
            at = _place(queue, label, places.get(key))
            named = (*key, label.annotator or annotator, policy_of(label) or queue.policy)
            if named in fitted_labels:
                raise DataError(f"a second label of this answer by {named[2]!r}")
            fitted_labels[named] = msgspec.structs.replace(
                label,
                system=key[1],
                metric=queue.metric,
                annotator=named[2],
                score=on_scale(queue, label.score),
                metadata=carried(queue, texts[at], queue.items[at].inclusion, policy_of(label)),
            )
        except DataError as mistake:
            problems.append(f"label {number}, question {label.question_id!r}: {mistake}")
    if problems:
        more = f"\n(and {len(problems) - SHOWN} more)" if len(problems) > SHOWN else ""
        raise DataError("\n".join(["No label was imported:", *problems[:SHOWN]]) + more)
    return list(fitted_labels.values())


def _answer(label: Label, systems: dict[str, list[str]]) -> tuple[str, str]:
    named = systems.get(label.question_id, [])
    if label.system == UNNAMED and UNNAMED not in named and len(named) == 1:
        return (label.question_id, named[0])
    return (label.question_id, label.system)


def _place(queue: Queue, label: Label, at: int | None) -> int:
    if at is None:
        raise DataError(f"the queue has no answer of system {label.system!r} to it")
    if label.metric not in (None, queue.metric):
        raise DataError(f"its metric is {label.metric!r}, and the queue's is {queue.metric!r}")
    return at


RESAMPLES = 500  # of the judge's own mean; the corrected interval takes none


class AnnotatorProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How many of an annotator's items they have labelled, and skipped."""

    annotator: str
    n_labelled: int
    n_skipped: int
    n_items: int


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a queue has come. n_items, n_done: answers, those with all their labels. n_open: those that
    somebody has neither labelled nor skipped yet; n_waiting: those of them that have a label."""

    n_items: int
    n_done: int
    n_open: int
    n_waiting: int
    shares: list[AnnotatorProgress]

    @property
    def n_labelled(self) -> int:
        """Labels of all annotators."""
        return sum(share.n_labelled for share in self.shares)


class MeanReach(msgspec.Struct, frozen=True, kw_only=True):
    """A system's mean so far. margin: half its interval; to_reach: labels in all for ± target, if any do."""

    mean: CorrectedMean
    margin: float | None
    target: float
    to_reach: int | None


def progress_of(queue: Queue, labels: Iterable[Label], skips: Iterable[Skip] = ()) -> Progress:
    """Return how far the annotators have come. Labels of answers that the queue does not hold are not
    counted."""
    wanted = {(item.question_id, item.system): item for item in queue.items}
    labelled: dict[tuple[str, str], set[str]] = {}
    own: dict[str, int] = {}
    for label in labels:
        key = (label.question_id, label.system)
        if key in wanted and not is_adjudicated(label):
            labelled.setdefault(key, set()).add(label.annotator or "")
            own[label.annotator or ""] = own.get(label.annotator or "", 0) + 1
    skipped: dict[str, int] = {}
    passed: dict[tuple[str, str], set[str]] = {}
    for skip in skips:
        skipped[skip.annotator] = skipped.get(skip.annotator, 0) + 1
        passed.setdefault((skip.question_id, skip.system), set()).add(skip.annotator)
    names = list(dict.fromkeys([*queue.annotators, *sorted({*own, *skipped})]))
    n_done = n_open = n_waiting = 0
    for key, item in wanted.items():
        by = labelled.get(key, set())
        n_done += set(item.annotators) <= by if item.annotators else bool(by)
        seen = by | passed.get(key, set())
        is_open = not (set(item.annotators) <= seen if item.annotators else seen)
        n_open += is_open
        n_waiting += is_open and bool(by)
    return Progress(
        n_items=len(wanted),
        n_done=n_done,
        n_open=n_open,
        n_waiting=n_waiting,
        shares=[
            AnnotatorProgress(
                annotator=name,
                n_labelled=own.get(name, 0),
                n_skipped=skipped.get(name, 0),
                n_items=len(queue.places_of(name)),
            )
            for name in names
        ],
    )


class LabelledMean(msgspec.Struct, frozen=True, kw_only=True):
    """What people gave a system on average, over the answers of a queue that they have labelled."""

    system: str
    mean: Estimate


def labelled_means(queue: Queue, labels: Iterable[Label], seed: int = 0) -> list[LabelledMean]:
    """Return the mean label of each system, in the unit of the labels; the score of an answer is its median.

    None where the answers were not drawn with equal chances: their plain mean would be that of the hard ones.
    Answers on which annotators tied are left out, as everywhere.
    """
    if any(item.inclusion is not None for item in queue.items):
        return []
    of_system: dict[str, list[tuple[float, str]]] = {}
    for (_, system), human in human_scores(labels, queue.metric).items():
        if human.score is not None:
            of_system.setdefault(system, []).append((human.score, human.cluster))
    means = []
    for system, scored in of_system.items():
        scores, clusters = zip(*scored, strict=True)
        is_proportion = list(queue.grades) == [0, 1]
        mean = mean_estimate(scores, clusters, seed=seed, resamples=RESAMPLES, proportion=is_proportion)
        means += [LabelledMean(system=system, mean=mean)] if mean else []
    return means


def reach_of(
    queue: Queue, judgements: Iterable[Judgement], labels: Sequence[Label], target: float, seed: int = 0
) -> list[MeanReach]:
    """Return for each system what people would give so far, and what it takes to know it to ± target.

    judgements: of the run that the queue was made from. Raises DataError as corrected_means does.
    """
    ours = [row for row in judgements if (row.judge, row.metric) == (queue.judge, queue.metric)]
    means = corrected_means(ours, labels, seed=seed, resamples=RESAMPLES)
    return [
        MeanReach(mean=mean, margin=_margin(mean), target=target, to_reach=labels_for(mean, target))
        for mean in means
    ]


def _margin(mean: CorrectedMean) -> float | None:
    low, high = mean.corrected.low, mean.corrected.high
    return None if low is None or high is None else (high - low) / 2


def labels_for(mean: CorrectedMean, margin: float) -> int | None:
    """Return about how many labels in all bring the interval to mean ± margin; None if no number of them can.

    margin: in the unit of the labels, above 0. The variance of k labelled of N answers is a share `left` / k,
    what the judge leaves open, and (1 - left) / N, which only more answers make smaller; the labels there are
    tell both. None also while there is no interval.
    """
    low, high = mean.corrected.low, mean.corrected.high
    n, rows = mean.n_labelled, mean.n_rows
    if low is None or high is None or margin <= 0:
        return None
    now = (high - low) / 2
    if now <= margin:
        return n
    ratio = min(1.0, n / mean.worth)
    left = min(1.0, max(0.0, (ratio - n / rows) / (1 - n / rows))) if ratio < 1 and n < rows else 1.0
    wanted = (margin / now) ** 2 * (left / n + (1 - left) / rows) - (1 - left) / rows
    if wanted <= 0 or left / wanted > rows:
        return None
    return math.ceil(left / wanted)
