"""One change, as people are told of it."""

import math
from collections.abc import Mapping
from datetime import date
from typing import Literal

import msgspec

from ragstone.monitor.causes import Cause
from ragstone.monitor.shifts import Shift
from ragstone.monitor.streams import Level

Best = Mapping[str, Literal["highest", "middle", "lowest"]]
"""Metric -> which of its scores are good, as judge files say; a metric that is absent has no good side."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """One change. tag, value: both "" for all exchanges. judge: who scored, after the change.

    how: found in what was `logged`, by `canaries`, or `named`, where cells name another judge and nothing
    need be tested. compared: the first day that went into `before`. since: the estimated first day after the
    change. raised: the day at whose end the evidence
    sufficed; None where nothing was tested. before, after: means; of canaries, of their scores. e_value: the
    evidence, at least 1 / alpha, where alpha is the part that this test had. over: the day since which
    it no longer holds (most of the change was undone, or another judge scores), None while it is open.
    worse: None where the metric has no good side. canaries: how far the judge moved by the frozen answers
    since then; corrected: the mean after it, less that. says: why that cause, in a sentence.
    beneath: alarms that repeat this one.
    """

    metric: str
    tag: str
    value: str
    judge: str
    how: Literal["logged", "canaries", "named"]
    compared: date
    since: date
    raised: date | None
    before: Level
    after: Level
    worse: bool | None
    e_value: float | None
    alpha: float | None
    cause: Cause
    says: str
    canaries: Shift | None = None
    corrected: Level | None = None
    over: date | None = None
    beneath: tuple["Alarm", ...] = ()

    @property
    def rose(self) -> bool:
        """Whether the mean is higher than before."""
        return self.moved > 0

    @property
    def moved(self) -> float:
        """By how much."""
        return self.after.mean - self.before.mean

    @property
    def unsure(self) -> float:
        """Half the width of the 95 % interval of that."""
        return math.hypot(self.before.half, self.after.half)


def alarm_line(alarm: Alarm) -> str:
    """Return the alarm as one line for people."""
    where = f" ({alarm.tag} {alarm.value})" if alarm.tag else ""
    moved = "rose" if alarm.rose else "fell"
    state = f", over since {alarm.over}" if alarm.over else ""
    return (
        f"{alarm.metric}{where} {moved} from {alarm.before.mean:.3f} to {alarm.after.mean:.3f}"
        f" since {alarm.since}{state}: {alarm.says}"
    )
