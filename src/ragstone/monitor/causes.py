"""A change and the canaries -> whether the judge changed, the application, or both, or who knows."""

import math
from typing import Literal

import msgspec

from ragstone.monitor.shifts import Shift
from ragstone.monitor.streams import Level

Cause = Literal["application", "judge", "both", "unknown"]


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A cause and why. corrected: the mean after the change as the judge before it would have it."""

    cause: Cause
    says: str
    corrected: Level | None = None


NO_DRIFT = Found(cause="application", says="the judge asks no model, so it cannot have drifted")
"""The cause of a change that a judge without a model found: no canary need be judged to know it."""


def cause_of(before: Level, after: Level, shift: Shift | None) -> Found:
    """Return what caused a change, by how far the judge moved on frozen answers at the same time.

    `judge`: the canaries moved the same way, beyond doubt (95 %), and what they leave is no change beyond
    doubt. `both`: they moved, and the application did. `application`: beyond doubt the judge does not
    account for all of it, and perhaps for none. `unknown` else: not judged since, or too few to tell.
    """
    if shift is None:
        return Found(cause="unknown", says="whether the judge changed is not known: no canaries judged since")
    moved = after.mean - before.mean
    words = f"{shift.mean:+.3f} [{shift.low:+.3f}, {shift.high:+.3f}]"
    if shift.low <= 0 <= shift.high:
        most = shift.high if moved > 0 else -shift.low
        if most < abs(moved) - math.hypot(before.half, after.half):
            return Found(
                cause="application", says=f"the canaries agree: {shift.n} frozen answers moved {words}"
            )
        return Found(
            cause="unknown", says=f"{shift.n} canaries are too few to tell if it is the judge: {words}"
        )
    corrected = _corrected(after, shift)
    says = f"the judge changed: it scores {shift.n} frozen answers {words}"
    left = moved - shift.mean
    if moved * shift.mean > 0 and abs(left) <= math.hypot(before.half, corrected.half):
        return Found(cause="judge", says=says, corrected=corrected)
    return Found(cause="both", says=f"{says}; the application did, too: {left:+.3f}", corrected=corrected)


def _corrected(after: Level, shift: Shift) -> Level:
    """Return the mean less the judge's shift; both errors add up as independent ones do."""
    mean = min(1.0, max(0.0, after.mean - shift.mean))
    half = math.hypot(after.half, (shift.high - shift.low) / 2)
    return Level(mean=mean, low=max(0.0, mean - half), high=min(1.0, mean + half), n=after.n)
