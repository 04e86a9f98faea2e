"""How far a queue has come, and how sure its mean is by now."""

from collections.abc import Iterable, Sequence

import msgspec

from ragstone.agreement.corrected import corrected_means
from ragstone.agreement.corrected_mean import CorrectedMean, labels_for
from ragstone.agreement.pairing import is_adjudicated
from ragstone.agreement.queueing.marking import Skip
from ragstone.agreement.queueing.queue import Queue
from ragstone.records import Judgement, Label

RESAMPLES = 500  # of the judge's own mean; the corrected interval takes none


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """How many of an annotator's items they have labelled, and skipped."""

    annotator: str
    n_labelled: int
    n_skipped: int
    n_items: int


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a queue has come. n_items, n_begun, n_done: answers, those with a label, those with all
    theirs."""

    n_items: int
    n_begun: int
    n_done: int
    shares: list[Share]

    @property
    def n_labelled(self) -> int:
        """Labels of all annotators."""
        return sum(share.n_labelled for share in self.shares)


class Reach(msgspec.Struct, frozen=True, kw_only=True):
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
    for skip in skips:
        skipped[skip.annotator] = skipped.get(skip.annotator, 0) + 1
    names = list(dict.fromkeys([*queue.annotators, *sorted({*own, *skipped})]))
    return Progress(
        n_items=len(wanted),
        n_begun=len(labelled),
        n_done=sum(_is_done(item.annotators, labelled.get(key, set())) for key, item in wanted.items()),
        shares=[
            Share(
                annotator=name,
                n_labelled=own.get(name, 0),
                n_skipped=skipped.get(name, 0),
                n_items=len(queue.places_of(name)),
            )
            for name in names
        ],
    )


def _is_done(annotators: Sequence[str], by: set[str]) -> bool:
    return set(annotators) <= by if annotators else bool(by)


def reach_of(
    queue: Queue, judgements: Iterable[Judgement], labels: Sequence[Label], target: float, seed: int = 0
) -> list[Reach]:
    """Return for each system what people would give so far, and what it takes to know it to ± target.

    judgements: of the run that the queue was made from. Raises DataError as corrected_means does.
    """
    ours = [row for row in judgements if (row.judge, row.metric) == (queue.judge, queue.metric)]
    means = corrected_means(ours, labels, seed=seed, resamples=RESAMPLES)
    return [
        Reach(mean=mean, margin=_margin(mean), target=target, to_reach=labels_for(mean, target))
        for mean in means
    ]


def _margin(mean: CorrectedMean) -> float | None:
    low, high = mean.corrected.low, mean.corrected.high
    return None if low is None or high is None else (high - low) / 2
