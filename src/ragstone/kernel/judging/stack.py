"""Kind `stack`: what its members say, weighed by what people's labels taught, becomes a probability."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import shorten
from typing import ClassVar, Literal

import msgspec
import numpy as np

from ragstone.kernel.judging.combined import (
    DIGITS,
    NOTHING_SAID,
    CombinedJudge,
    MemberVerdict,
    hear_all,
    with_members,
)
from ragstone.kernel.judging.fields import ZERO_TO_ONE, JudgeFields, Member, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext
from ragstone.kernel.records import OWN_THRESHOLD, Answer
from ragstone.kernel.statistics.intervals import Floats

WIDEST = 160  # characters of a member's own rationale
LEAST_LIKELY = 0.001  # a probability counts as at least this, and at most as 1 minus it
LEAST = 0.25  # share of the strongest reason's log odds below which another is not worth a word


class StackMember(Member, frozen=True, kw_only=True):
    """A member of a stack, and how much it counts.

    Its score adds weight x (score - centre) / spread to the log odds. centre: the score that speaks neither
    for nor against; a member with nothing to say counts as that. unit: `log odds` of a member whose score is
    a probability: its log odds count in place of it, and centre and spread are of these. if_high, if_low:
    what a score above or below the centre means, in words of a rationale.
    """

    weight: float
    centre: float
    spread: float
    unit: Literal["log odds"] | None = None
    if_high: str | None = None
    if_low: str | None = None


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """What one member adds to the log odds, and what is said of that."""

    log_odds: float
    said: str


class StackJudge(CombinedJudge, frozen=True, kw_only=True, tag="stack"):
    """A judge whose score is the probability of a yes, a logistic regression on its members' scores.

    intercept: the log odds where every member is at its centre. curve: points (what the regression says,
    probability) from left to right, where its shape is not that of the regression; straight between two
    points, level beyond the ends. threshold: the probability from which on the rationale says yes. The
    numbers are fitted on people's labels, see stacking.py.
    """

    members: Sequence[StackMember] = []
    intercept: float
    curve: Sequence[tuple[float, float]] = []
    threshold: float = 0.5

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if not self.members:
            yield "members", "a stack needs an entry [[members]]."
        if not 0 < self.threshold < 1:
            yield "threshold", f"threshold = {self.threshold:g}: give a probability between 0 and 1."
        if not math.isfinite(self.intercept):
            yield "intercept", f"intercept = {self.intercept}: give a finite number."
        if self.curve and not _is_curve(self.curve):
            yield (
                "curve",
                "the points of curve are [before, after], both between 0 and 1: give two or more, before "
                "rising, and after never falling.",
            )
        for member in self.members:
            if member.cut is not None or member.unsure:
                yield (
                    "members",
                    f"member {member.judge!r}: cut and unsure are for a jury or a cascade. A stack weighs "
                    "scores as they are: remove them.",
                )
            numbers = (member.weight, member.centre, member.spread)
            if not all(map(math.isfinite, numbers)) or member.spread <= 0:
                yield (
                    "members",
                    f"member {member.judge!r}: weight, centre and spread are finite, and spread is above 0.",
                )

    def problem_of_member(self, member: Member, inner: JudgeFields) -> str | None:
        """Return why a judge cannot be this member, or None."""
        weight = member.weight if isinstance(member, StackMember) else 0.0
        if weight * (1 if inner.best == "highest" else -1) < 0:
            return (
                f"has weight = {weight:g}, yet its {inner.best} score is the good one: a better score would "
                "count against the answer. Remove the member."
            )
        if isinstance(member, StackMember) and member.unit and tuple(inner.scale) != ZERO_TO_ONE:
            return 'has unit = "log odds", and its scores do not go from 0 to 1. Remove unit.'
        return super().problem_of_member(member, inner)

    async def find(self, answer: Answer, _inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return the probability that people call the answer right, with the reasons that weigh most.

        A member that has nothing to say of the answer counts as its centre; where these have half of the
        weight or more, the row has the status of the first. A member that failed (no call, a timeout, a reply
        that cannot be read) gives the row its status. `metadata.members` holds what each said,
        `metadata.threshold` the file's.
        """
        heard = await hear_all(self.members, answer, context)
        silent = [verdict.judgement for verdict in heard if not is_scored(verdict)]
        failed = [row for row in silent if row.status not in NOTHING_SAID or row.status == "unparsable"]
        weight = [abs(member.weight) for member in self.members]
        mute = sum(own for own, verdict in zip(weight, heard, strict=True) if not is_scored(verdict))
        if failed or (silent and 2 * mute >= sum(weight)):
            first = (failed or silent)[0]
            lost = Finding(score=None, status=first.status, rationale=first.rationale, error=first.error)
            return with_members(lost, heard)
        reasons = [
            reason_of(member, verdict)
            for member, verdict in zip(self.members, heard, strict=True)
            if is_scored(verdict)
        ]
        likely = probability(self.intercept + sum(reason.log_odds for reason in reasons))
        if self.curve:
            likely = float(on_curve(np.array(likely), np.array(self.curve)))
        rationale = words_of(reasons, yes=likely >= self.threshold)
        named = {OWN_THRESHOLD: self.threshold}
        return with_members(Finding(score=round(likely, DIGITS), rationale=rationale, metadata=named), heard)


def _is_curve(points: Sequence[tuple[float, float]]) -> bool:
    inside = all(0 <= before <= 1 and 0 < after < 1 for before, after in points)
    rises = all(
        point[0] < next_point[0] and point[1] <= next_point[1] for point, next_point in pairwise(points)
    )
    return len(points) > 1 and inside and rises


def probability(log_odds: float) -> float:
    """Return the probability, without overflow."""
    return 0.5 * (1 + math.tanh(log_odds / 2))


def log_odds_of(likely: Floats) -> Floats:
    """Return the log odds of probabilities, as of LEAST_LIKELY where they are less; NaN stays NaN."""
    inside = np.clip(likely, LEAST_LIKELY, 1 - LEAST_LIKELY)
    return np.asarray(np.log(inside / (1 - inside)))


def is_scored(verdict: MemberVerdict) -> bool:
    """Return whether the member gave a score."""
    return verdict.judgement.score is not None


def reason_of(member: StackMember, verdict: MemberVerdict) -> Reason:
    """Return what a member that gave a score adds, and what is said, against an answer in its words too."""
    score = verdict.judgement.score
    assert score is not None
    counted = float(log_odds_of(np.array(score))) if member.unit else score
    log_odds = member.weight * (counted - member.centre) / member.spread
    high = counted >= member.centre
    text = member.if_high if high else member.if_low
    text = text or f"{verdict.name} is {'high' if high else 'low'} ({score:.2g})"
    own = verdict.judgement.rationale if log_odds < 0 else None
    text += f" ({shorten(own, WIDEST, placeholder=' …')})" if own else ""
    return Reason(log_odds=log_odds, said=text)


def words_of(reasons: Sequence[Reason], *, yes: bool) -> str:
    """Return why, in words: the weightiest reasons of the verdict's side, then what speaks against it.

    Reasons that weigh less than a quarter of the weightiest one are left out.
    """
    strongest = max((abs(reason.log_odds) for reason in reasons), default=0.0)
    weighty = sorted(
        (reason for reason in reasons if abs(reason.log_odds) >= LEAST * strongest > 0),
        key=lambda reason: -abs(reason.log_odds),
    )
    sides = [
        list(dict.fromkeys(reason.said for reason in weighty if (reason.log_odds > 0) == side))
        for side in (yes, not yes)
    ]
    mine, others = (" and ".join(side) for side in sides)
    verdict = "yes" if yes else "no"
    if not mine:
        return f"{verdict}, though {others}" if others else f"{verdict}: nothing speaks for or against it"
    return f"{verdict}: {mine}" + (f", but {others}" if others else "")


def on_curve(values: Floats, points: Floats) -> Floats:
    """Return values moved onto the curve: straight between two points, level beyond the ends."""
    return np.asarray(np.interp(values, points[:, 0], points[:, 1]))
