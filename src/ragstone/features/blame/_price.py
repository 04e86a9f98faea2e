"""Points before a change and after it, on a sample of the questions -> what it brings, with an interval."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from ragstone.kernel.runs.causes import NetPoints
from ragstone.kernel.statistics import Codes, Floats, cluster_codes, cluster_totals
from ragstone.kernel.statistics.intervals import student_quantile

Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
LEAST_YOUDEN = 0.3  # of a judge whose error is taken out, at the lower end of its interval
DRAWS = 10_000
ENDS = 0.025, 0.975


class LabelledVerdict(NamedTuple):
    """Whether the judge gives an answer its point, and whether people do."""

    given: bool
    right: bool


class NetChange(msgspec.Struct, frozen=True, kw_only=True):
    """Points that a change brings, as shares of all questions: gained less spoiled, and gained alone.

    people: net as people would see it, None where they cannot tell. n_asked, n_gained, n_spoiled: answers
    that were made again and judged; lost points among them that come back; points among them that are lost.
    """

    net: NetPoints
    gained: NetPoints
    people: NetPoints | None
    n_asked: int
    n_gained: int
    n_spoiled: int


def net_change(
    lost: Sequence[bool],
    again: Sequence[bool | None],
    clusters: Sequence[Hashable],
    labels: Sequence[LabelledVerdict] = (),
) -> NetChange:
    """Return what a change brings to the mean of these questions, and of others like them.

    lost: whether the judge takes the point before the change. again: whether it gives the point after it,
    None where that was not asked. Those that were asked must be drawn at random from the lost ones, and from
    the others; each kind counts by its share of all questions (two-phase sampling: Neyman 1938, JASA 33:101).
    Where none was asked of those with a point, what is spoiled is unknown, and only `gained` may be used.
    clusters: what a question shares with others. labels: of answers before the change, drawn at random.

    The share gained and the share spoiled each have a beta distribution with Jeffreys' prior (Brown, Cai and
    DasGupta 2001, Statistical Science 16:101), of the effective number of questions that sample and clusters
    leave; intervals are quantiles of draws from both, which are always the same. Wilson's intervals joined
    (Newcombe 1998) hold 97 to 100 % where little is spoiled; see benchmarks/what_if.py.

    people: if the judge errs after the change as before, it sees the true difference times sensitivity +
    specificity - 1 (Rogan and Gladen 1978, American Journal of Epidemiology 107:71), which is divided out.
    None where no labelled answer is right or none is wrong, and where that index may be below 0.3.
    """
    is_lost = np.asarray(lost, dtype=bool)
    asked = np.array([value is not None for value in again], dtype=bool)
    right = np.array([bool(value) for value in again], dtype=np.float64)
    codes, rng = cluster_codes(clusters, len(is_lost)), np.random.default_rng(0)
    gain, loss = _Share(is_lost, asked, right, codes), _Share(~is_lost, asked, 1 - right, codes)
    gains, losses = gain.draws(rng), loss.draws(rng)
    net = gain.value - loss.value
    return NetChange(
        net=_points(net, gains - losses),
        gained=_points(gain.value, gains if gain.events else np.append(gains, np.zeros(DRAWS))),
        people=_as_people_see(net, gains - losses, labels, rng),
        n_asked=int(asked.sum()),
        n_gained=gain.events,
        n_spoiled=loss.events,
    )


class _Share:
    """The share of all questions that are of a kind and change: the kind's share times its rate of change.

    size: independent questions that tell as much.
    """

    def __init__(self, kind: Mask, asked: Mask, changed: Floats, codes: Codes) -> None:
        seen = kind & asked
        n_seen, of_kind = int(seen.sum()), float(kind.mean())
        self.events = int((changed * seen).sum())
        rate = self.events / n_seen if n_seen else 0.0
        self.value = of_kind * rate
        # Of a kind that changes altogether, or not at all, each cluster is one piece of evidence.
        self.size = len(np.unique(codes[seen])) / of_kind if n_seen else float(len(np.unique(codes)))
        if 0 < self.events < n_seen:
            # How far each question moves the share: its influence function.
            pulls = rate * (kind - of_kind) + len(kind) * of_kind / n_seen * seen * (changed - rate)
            self.size = self._effective(pulls, codes) or self.size

    def _effective(self, pulls: Floats, codes: Codes) -> float | None:
        """Return the size as effective_size in kernel.statistics has it, of pulls; None of one cluster."""
        n, totals = len(pulls), cluster_totals(pulls[:, None], codes)[:, 0]
        if len(totals) < 2:
            return None
        spread = self.value * (1 - self.value) * n**2
        unsure = student_quantile(ENDS[1], n - 1) / student_quantile(ENDS[1], len(totals) - 1)
        clustered = len(totals) / (len(totals) - 1) * float(totals @ totals)
        drawn_alone = spread / float(pulls @ pulls)
        return min(drawn_alone, spread / clustered * unsure**2) if clustered else drawn_alone

    def draws(self, rng: np.random.Generator) -> Floats:
        events = self.value * self.size
        return rng.beta(events + 0.5, max(self.size - events, 0.0) + 0.5, DRAWS)


def _points(value: float, draws: Floats) -> NetPoints:
    low, high = np.quantile(draws, ENDS)
    return NetPoints(
        value=value, low=max(-1.0, min(float(low), value)), high=min(1.0, max(float(high), value))
    )


def _as_people_see(
    net: float, draws: Floats, labels: Sequence[LabelledVerdict], rng: np.random.Generator
) -> NetPoints | None:
    """Return the difference that a judge sees, divided by what it sees of a true one."""
    of_right = [label.given for label in labels if label.right]
    of_wrong = [not label.given for label in labels if not label.right]
    if not of_right or not of_wrong:
        return None
    youden, index = -1.0, -np.ones(DRAWS)
    for hits in (of_right, of_wrong):  # sensitivity, specificity
        youden += sum(hits) / len(hits)
        index += rng.beta(sum(hits) + 0.5, len(hits) - sum(hits) + 0.5, DRAWS)
    if np.quantile(index, ENDS[0]) < LEAST_YOUDEN:
        return None
    return _points(net / youden, draws / np.maximum(index, LEAST_YOUDEN / 2))
