"""Points before a change and after it, on a sample of the questions -> what the change brings, with its interval."""

import math
from collections.abc import Hashable, Sequence

import msgspec
import numpy as np

from ragstone.kernel.statistics import Codes, Estimate, Floats, cluster_codes, cluster_totals, wilson_interval
from ragstone.kernel.statistics.intervals import student_quantile

Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
LEAST_YOUDEN = 0.2  # of a judge whose error is taken out: below, the division says nothing


class NetChange(msgspec.Struct, frozen=True, kw_only=True):
    """Points that a change brings: net, gained less spoiled; gained alone. Both as a share of all questions.

    n_asked, n_gained, n_spoiled: answers that were made again and judged; lost points among them that come
    back; points among them that are lost.
    """

    net: Estimate
    gained: Estimate
    n_asked: int
    n_gained: int
    n_spoiled: int


def net_change(lost: Sequence[bool], again: Sequence[bool | None], clusters: Sequence[Hashable]) -> NetChange:
    """Return what a change brings to the mean of these questions, and of others like them.

    lost: whether the judge takes the point before the change. again: whether it gives the point after it,
    None where that was not asked. Of the lost ones, and of the others, those that were asked must be drawn at
    random; each kind counts by its share of all questions (two-phase sampling for stratification: Neyman
    1938, JASA 33:101). clusters: what a question shares with others. Where none was asked of those with a
    point, what is spoiled is unknown, and only `gained` may be used.

    The interval is Newcombe's for a difference of two shares that depend on each other (1998, Statistics in
    Medicine 17:2635, method 10), from Wilson's intervals of the share gained and the share spoiled, each of
    the effective number of questions that the design and the clusters leave.
    """
    is_lost = np.asarray(lost, dtype=bool)
    asked = np.array([value is not None for value in again], dtype=bool)
    right = np.array([bool(value) for value in again], dtype=np.float64)
    codes = cluster_codes(clusters, len(is_lost))
    gain, loss = _Share(is_lost, asked, right, codes), _Share(~is_lost, asked, 1 - right, codes)
    rho = _correlation(gain.pulls, loss.pulls, codes)
    (low, high), (least, most) = gain.ends, loss.ends
    net = gain.value - loss.value
    below, above = (gain.value - low, most - loss.value), (high - gain.value, loss.value - least)
    return NetChange(
        net=_estimate(net, net - _joined(*below, rho), net + _joined(*above, rho), len(is_lost)),
        gained=_estimate(gain.value, low, high, len(is_lost)),
        n_asked=int(asked.sum()),
        n_gained=gain.events,
        n_spoiled=loss.events,
    )


class _Share:
    """The share of all questions that are of a kind and change: the kind's share times its rate of change.

    pulls: how far each question moves the share (its influence function); ends: the interval.
    """

    def __init__(self, kind: Mask, asked: Mask, changed: Floats, codes: Codes) -> None:
        seen = kind & asked
        n, of_kind, n_seen = len(kind), float(kind.mean()), int(seen.sum())
        self.events = int((changed * seen).sum())
        rate = self.events / n_seen if n_seen else 0.0
        self.value = of_kind * rate
        scale = n * of_kind / n_seen if n_seen else 0.0
        self.pulls = rate * (kind - of_kind) + scale * seen * (changed - rate)
        self.ends = (0.0, 1.0)
        if not of_kind:
            self.ends = wilson_interval(0, len(np.unique(codes)))
        elif n_seen:
            varies = 0 < self.events < n_seen
            size = self._size(codes) if varies else None
            # Of a kind that changes altogether, or not at all, each cluster is one piece of evidence.
            size = size or len(np.unique(codes[seen])) / of_kind
            self.ends = wilson_interval(min(self.value * size, size), size)

    def _size(self, codes: Codes) -> float | None:
        """Return how many independent questions tell as much; None of a single cluster.

        As effective_size in kernel.statistics has it, of pulls in place of zeros and ones.
        """
        n, totals = len(self.pulls), cluster_totals(self.pulls[:, None], codes)[:, 0]
        if len(totals) < 2:
            return None
        spread = self.value * (1 - self.value) * n**2
        unsure = student_quantile(0.975, n - 1) / student_quantile(0.975, len(totals) - 1)
        clustered = len(totals) / (len(totals) - 1) * float(totals @ totals)
        return min(spread / float(self.pulls @ self.pulls), spread / clustered * unsure**2)


def _correlation(first: Floats, second: Floats, codes: Codes) -> float:
    columns = cluster_totals(np.column_stack([first, second]), codes)
    (a, both), (_, b) = columns.T @ columns
    return float(both / math.sqrt(a * b)) if a > 0 and b > 0 else 0.0


def _joined(first: float, second: float, rho: float) -> float:
    return math.sqrt(max(0.0, first * first + second * second - 2 * rho * first * second))


def _estimate(value: float, low: float, high: float, n: int) -> Estimate:
    return Estimate(value=value, low=max(-1.0, low), high=min(1.0, high), n=n, method="wilson")


def as_people_see(judged: Estimate, given: Sequence[bool], people: Sequence[bool]) -> Estimate | None:
    """Return a difference of shares that a judge saw, as people would see it; None where they cannot tell.

    given: whether the judge gives the point of each labelled answer; people: whether people do. If the judge
    errs on both sides of the difference as on these, it sees the true difference times its Youden index,
    sensitivity + specificity - 1 (Rogan and Gladen 1978, American Journal of Epidemiology 107:71). Both
    errors are in the interval (MOVER: Zou and Donner 2008, Statistics in Medicine 27:1693). None where no
    label is right or none is wrong, and where the index may be below 0.2.
    """
    n_right, n_wrong = sum(people), len(people) - sum(people)
    if not n_right or not n_wrong or judged.low is None or judged.high is None:
        return None
    hits = sum(judge and truth for judge, truth in zip(given, people, strict=True))
    passes = sum(not judge and not truth for judge, truth in zip(given, people, strict=True))
    (a, b), (c, d) = wilson_interval(hits, n_right), wilson_interval(passes, n_wrong)
    sensitivity, specificity = hits / n_right, passes / n_wrong
    youden = sensitivity + specificity - 1
    low = youden - math.hypot(sensitivity - a, specificity - c)
    high = min(1.0, youden + math.hypot(b - sensitivity, d - specificity))
    if low < LEAST_YOUDEN:
        return None
    value = judged.value / youden
    ends = sorted((judged.value / low, judged.value / high))
    return _estimate(
        value,
        value - math.hypot((judged.value - judged.low) / youden, value - ends[0]),
        value + math.hypot((judged.high - judged.value) / youden, ends[1] - value),
        judged.n,
    )
