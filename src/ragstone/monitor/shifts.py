"""The same answers judged in several rounds -> how far later rounds differ, and since when beyond doubt."""

from collections.abc import Sequence
from datetime import date

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.statistics.clusters import Floats
from ragstone.statistics.sequences import log_capitals, log_evidence, sequence_interval

LATEST = (1, 2, 4)
"""How many of the latest rounds are taken together against those before: one is quick, four see more."""

_MOST = 700.0  # the log of a number that a float still holds


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """How far later scores lie from earlier ones of the same answers, from -1 to 1, with a 95 % interval.

    first: the mean of the earlier ones. n: answers that have both. before, after: rounds.
    """

    mean: float
    first: float
    low: float
    high: float
    n: int
    before: int
    after: int


class JudgeChange(msgspec.Struct, frozen=True, kw_only=True):
    """The judge of that name scores otherwise since the round of a day. raised: the round that showed it.

    e_value: the evidence, which reaches 1 / alpha without a change with a chance of at most alpha.
    """

    judge: str
    since: date
    raised: date
    e_value: float
    alpha: float
    shift: Shift


class Rounds(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Scores from 0 to 1 of one metric, (answers, rounds), by time; `known` is False where there is none."""

    scores: Floats
    known: NDArray[np.bool_]
    days: Sequence[date]

    def differences(self, begin: int, at: int, end: int) -> Floats:
        """Return, for answers that have both, the mean of rounds [at:end] less that of [begin:at]."""
        before, after = self.pairs(begin, at, end)
        return np.asarray(after - before)

    def pairs(self, begin: int, at: int, end: int) -> tuple[Floats, Floats]:
        """Return both means of each answer that has both."""
        (before, some), (after, more) = self._means(begin, at), self._means(at, end)
        return before[some & more], after[some & more]

    def _means(self, begin: int, end: int) -> tuple[Floats, NDArray[np.bool_]]:
        known = self.known[:, begin:end]
        n = known.sum(axis=1)
        totals = np.where(known, self.scores[:, begin:end], 0.0).sum(axis=1)
        return totals / np.maximum(n, 1), n > 0


def shift_between(rounds: Rounds, begin: int, at: int, end: int) -> Shift | None:
    """Return how far rounds [at:end] lie from [begin:at]; None where no answer has both.

    The interval is that of the mean over all answers like these (see sequence_interval), whatever the
    distribution of the differences.
    """
    before, after = rounds.pairs(begin, at, end)
    found = after - before
    if not found.size:
        return None
    low, high = sequence_interval(found)
    return Shift(
        mean=float(found.mean()),
        first=float(before.mean()),
        low=low,
        high=high,
        n=found.size,
        before=int(rounds.known[:, begin:at].any(axis=0).sum()),
        after=int(rounds.known[:, at:end].any(axis=0).sum()),
    )


def evidence_of(differences: Floats) -> float:
    """Return the evidence that the mean difference is not 0: half the capital on each side. 1 for none."""
    if not differences.size:
        return 1.0
    sides = [log_evidence(log_capitals(sign * differences).sum(axis=0)) for sign in (1, -1)]
    return float(np.exp(np.minimum(sides, _MOST)).mean())


def judge_changes_along(rounds: Rounds, judge: str, alpha: float) -> list[JudgeChange]:
    """Return the changes by time, any false one with a chance of at most alpha over all rounds to come.

    After a change the next round is the first that later ones are compared with, and the j-th change has
    the part 1 / (j (j + 1)) of alpha.
    """
    found: list[JudgeChange] = []
    begin = 0
    while True:
        part = alpha / ((len(found) + 1) * (len(found) + 2))
        change = _first_change(rounds, judge, begin, part)
        if change is None:
            return found
        found.append(change)
        begin = rounds.days.index(change.raised) + 1


def _first_change(rounds: Rounds, judge: str, begin: int, alpha: float) -> JudgeChange | None:
    put_aside = 0.0
    for now in range(begin + 1, len(rounds.days)):
        since = [now + 1 - latest for latest in LATEST if now + 1 - latest > begin]
        evidence = [evidence_of(rounds.differences(begin, at, now + 1)) for at in since]
        place = now - begin
        put_aside += sum(evidence) / len(evidence) / (place * (place + 1))
        if put_aside >= 1 / alpha:
            at = since[int(np.argmax(evidence))]
            shift = shift_between(rounds, begin, at, now + 1)
            if shift is not None:
                return JudgeChange(
                    judge=judge,
                    since=rounds.days[at],
                    raised=rounds.days[now],
                    e_value=put_aside,
                    alpha=alpha,
                    shift=shift,
                )
    return None
