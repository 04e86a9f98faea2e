"""Whether critics can be trusted: a plain verdict on each, from the defects that the build has planted.

The rule, for the share of planted defects that a critic rejects (it should) and the share of the sound
questions behind them that it rejects (it should not). `chance`: the interval of the difference (95 %; of each
kind of defect, shared out among the kinds) reaches down to 0, for defects of all kinds and for those of each
kind, for a critic may be made for one kind only. `good`: it rejects at least 80 % of all defects and at most
20 % of the sound questions. `partial`: better than chance, and not good.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from ragstone.dataset.built import CriticMeasured
from ragstone.dataset.candidate import Candidate
from ragstone.statistics import Estimate, difference_interval, wilson_interval

Grade = Literal["good", "partial", "chance"]

FILTER = "filter"  # the name under which all critics together are measured
CATCHES = 0.8  # the least share of defects that a good critic rejects
REJECTS = 0.2  # the greatest share of sound questions that a good critic rejects
SCALE = (1, 2, 3, 4, 5)


class CriticScores(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates a critic gave 1, 2, 3, 4 and 5; n_below: less than the threshold."""

    critic: str
    counts: list[int]
    n: int
    n_below: int


class CriticVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be thought of a critic, or of all together (`filter`).

    measured: on defects of all kinds; kinds: of each kind. rejection: rejected of the sound questions, with
    Wilson's interval. grade and words: see above; None where it was measured on no defect or no sound
    question.
    """

    critic: str
    grade: Grade | None
    words: str
    measured: CriticMeasured
    kinds: list[CriticMeasured]
    rejection: Estimate | None


def verdicts_of(measured: Sequence[CriticMeasured]) -> list[CriticVerdict]:
    """Return a verdict on each critic, that on all of them together first; none where none was planted."""
    overall = {one.critic: one for one in measured if one.kind is None}
    return [
        _verdict(overall[name], [one for one in measured if one.critic == name and one.kind is not None])
        for name in sorted(overall, key=lambda name: name != FILTER)
    ]


def scores_of(candidates: Sequence[Candidate], threshold: int) -> list[CriticScores]:
    """Return the distribution of each critic's scores, over all candidates that have one."""
    found: dict[str, Counter[int]] = {}
    for one in candidates:
        for critic, score in (one.question.scores or {}).items():
            found.setdefault(critic, Counter())[round(score)] += 1
    return [
        CriticScores(
            critic=critic,
            counts=[counts[grade] for grade in SCALE],
            n=counts.total(),
            n_below=sum(n for grade, n in counts.items() if grade < threshold),
        )
        for critic, counts in found.items()
    ]


def share_of(n: int, of: int) -> Estimate | None:
    """Return n / of with Wilson's interval, None of nothing."""
    if not of:
        return None
    low, high = wilson_interval(n, of)
    return Estimate(value=n / of, low=low, high=high, n=of, method="wilson")


def _verdict(measured: CriticMeasured, kinds: list[CriticMeasured]) -> CriticVerdict:
    grade = _grade(measured, kinds)
    return CriticVerdict(
        critic=measured.critic,
        grade=grade,
        words=_words(measured, kinds, grade),
        measured=measured,
        kinds=kinds,
        rejection=share_of(measured.n_rejected, measured.n_sound),
    )


def _grade(one: CriticMeasured, kinds: Sequence[CriticMeasured]) -> Grade | None:
    if not one.n_defects or not one.n_sound:
        return None
    shared_out = 1 - 0.05 / max(1, len(kinds))
    if not (_better(one, one, 0.95) or any(_better(kind, one, shared_out) for kind in kinds)):
        return "chance"
    caught, rejected = one.n_caught / one.n_defects, one.n_rejected / one.n_sound
    return "good" if caught >= CATCHES and rejected <= REJECTS else "partial"


def _better(on: CriticMeasured, sound: CriticMeasured, level: float) -> bool:
    """Return whether defects are surely rejected more often than sound questions."""
    if not on.n_defects:
        return False
    caught, rejected = (on.n_caught, on.n_defects), (sound.n_rejected, sound.n_sound)
    return difference_interval(caught, rejected, level)[0] > 0


def _words(one: CriticMeasured, kinds: list[CriticMeasured], grade: Grade | None) -> str:
    if grade is None:
        return "measured on no defect, or on no sound question: nobody knows"
    counts = (
        f"catches {one.n_caught} of {one.n_defects} planted defects and rejects {one.n_rejected} of "
        f"{one.n_sound} sound questions"
    )
    missed = [kind for kind in kinds if kind.n_defects and kind.n_caught / kind.n_defects < 0.5]
    if grade == "chance":
        caught, rejected = one.n_caught / one.n_defects, one.n_rejected / one.n_sound
        told = "no better than chance" if caught <= rejected else "not shown to be better than chance"
        return f"{told}: {counts}"
    if not missed:
        return counts
    names = ", ".join(
        f"{(kind.kind or '').replace('_', ' ')} {kind.n_caught} of {kind.n_defects}" for kind in missed
    )
    return f"{counts}; it misses most of: {names}"
