"""A judgement -> what the store keeps of it: a score from 0 to 1, its label, and the reason."""

import msgspec

from ragstone.judging import Judge
from ragstone.judging.classify import ClassifyJudge
from ragstone.records import NO_MODEL, Judgement, Status

PASSING: frozenset[Status] = frozenset({"timeout", "rate_limited", "error"})
"""A judge that could not answer: it is asked again in a later run, TRIES times at most."""

TRIES = 3
LONGEST_REASON = 2000  # characters
PEOPLE, THUMB = "people", "feedback"
"""The judge and the metric of people's feedback."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """What one judge says of an exchange in one metric. score: from 0 to 1, by the scale of the judge."""

    judge: str
    version: int
    model: str
    metric: str
    status: Status
    score: float | None = None
    label: str | None = None
    reason: str | None = None


def scored_of(row: Judgement) -> Scored:
    """Return what is kept of a judgement. A score without a scale is taken as it is, within 0 and 1."""
    return Scored(
        judge=row.judge,
        version=row.prompt_version,
        model=row.model,
        metric=row.metric,
        status=row.status,
        score=None if row.score is None else _from_0_to_1(row.score, row.scale),
        label=row.label,
        reason=_reason(row),
    )


def _from_0_to_1(score: float, scale: tuple[float, float] | None) -> float:
    low, high = scale or (0.0, 1.0)
    return min(1.0, max(0.0, (score - low) / (high - low))) if high > low else 0.0


def _reason(row: Judgement) -> str | None:
    """Return why: the judge's words, or the statements that it did not find supported."""
    text = row.rationale or row.error
    if not text and row.verdicts:
        bad = [
            f"{one.statement} ({one.reason})" if one.reason else one.statement
            for one in row.verdicts
            if not one.supported
        ]
        text = "Not supported: " + "; ".join(bad) if bad else "Every statement is supported."
    return text[:LONGEST_REASON] if text else None


def judge_of(judge: str, version: int, model: str) -> str:
    """Return who judged, as cells name it: name, version and model, with spaces between them."""
    return judge if judge == PEOPLE else f"{judge} {version} {model}"


def cannot_drift(judge: str) -> bool:
    """Return whether a judge, as cells name it, asks no model: the same answer always gets the same score."""
    return judge.endswith(f" {NO_MODEL}")


def best_of(judges: list[Judge]) -> dict[str, str]:
    """Return metric -> which end of its scale is the good one; labels of no order have none."""
    ends: dict[str, str] = {}
    for judge in judges:
        unordered = isinstance(judge, ClassifyJudge) and not judge.is_ordered
        ends |= dict.fromkeys(judge.metrics, "none" if unordered else judge.best)
    return ends
