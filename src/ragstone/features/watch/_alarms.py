"""Cells and canaries -> alarms: what changed, from when on, by how much, and whether it was the judge.

The chance of any false alarm, ever, over all metrics, tags and values, is at most `alpha` (see streams.py
and change_paths.py for what is supposed). Only days that are over are looked at: a day that still
fills can neither raise an alarm nor spend anything, so looking hourly is the same as looking daily.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Literal

import msgspec
import numpy as np

from ragstone.features.watch._canaries import Canaries, JudgeChange, Shift, judge_changes, judge_shift
from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._judged import LOG, JudgedOn, cannot_drift, judge_words
from ragstone.features.watch._streams import (
    Change,
    Level,
    N,
    Stream,
    StreamKey,
    changes_of,
    level_of,
    streams_of,
)
from ragstone.features.watch._uncovered import UNCOVERED
from ragstone.features.watch._use import USE_BEST, own_unit, unit_of
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.decimals import signed_decimal, signed_decimals

Cause = Literal["application", "judge", "both", "unknown"]


class Attribution(msgspec.Struct, frozen=True, kw_only=True):
    """A cause and why. corrected: the mean after the change as the judge before it would have it."""

    cause: Cause
    says: str
    corrected: Level | None = None


NO_DRIFT = Attribution(cause="application", says="the judge calls no model, so it cannot have drifted")
"""The cause of a change that a judge without a model found: no canary need be judged to know it."""


NO_JUDGE = Attribution(cause="application", says="measured in the log, not by a judge")


class JudgeEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of judges beside scores: frozen answers, and when scores were made."""

    canaries: Canaries | None = None
    judged_on: JudgedOn = {}


NOTHING_KNOWN = JudgeEvidence()


def cause_of(before: Level, after: Level, shift: Shift | None) -> Attribution:
    """Return what caused a change, by how far the judge moved on frozen answers at the same time.

    `judge`: the canaries moved the same way, beyond doubt (95 %), and what they leave is no change beyond
    doubt. `both`: they moved, and the application did. `application`: beyond doubt the judge does not
    account for all of it, and perhaps for none. `unknown` else: not judged since, or too few to tell.
    """
    if shift is None:
        return Attribution(
            cause="unknown", says="unknown whether the judge changed: no canaries judged since"
        )
    moved = after.mean - before.mean
    interval = f"{signed_decimal(shift.mean, 3)} ({signed_decimals(shift.low, shift.high, 3)})"
    if shift.low <= 0 <= shift.high:
        most = shift.high if moved > 0 else -shift.low
        if most < abs(moved) - math.hypot(before.half, after.half):
            return Attribution(
                cause="application", says=f"the canaries agree: {shift.n} frozen answers moved {interval}"
            )
        return Attribution(
            cause="unknown",
            says=f"{shift.n} frozen answers are too few to tell if it is the judge: {interval}",
        )
    mean = min(1.0, max(0.0, after.mean - shift.mean))
    # Both errors add up as independent ones do.
    half = math.hypot(after.half, (shift.high - shift.low) / 2)
    corrected = Level(mean=mean, low=max(0.0, mean - half), high=min(1.0, mean + half), n=after.n)
    says = f"the judge changed: it scores {shift.n} frozen answers {interval}"
    left = moved - shift.mean
    if moved * shift.mean > 0 and abs(left) <= math.hypot(before.half, corrected.half):
        return Attribution(cause="judge", says=says, corrected=corrected)
    says = f"{says}; the application changed too: {signed_decimal(left, 3)}"
    return Attribution(cause="both", says=says, corrected=corrected)


Best = Mapping[str, Literal["highest", "middle", "lowest"]]
"""Metric -> which of its scores are good, as judge files say; a metric that is absent has no good side."""


class Alarm(msgspec.Struct, frozen=True, kw_only=True):
    """One change. tag, value: both "" for all exchanges. judge: who scored, after the change.

    how: found in what was `logged`, by `canaries`, as a `new mode` among wrong answers that no watched mode
    holds, or `named`, where cells name another judge and nothing need be tested. compared: the first day that
    went into `before`. since: the estimated first day after the change, of a new mode that of its first
    answer. raised: the day at whose end the evidence sufficed; None where nothing was tested. before, after:
    means; of canaries, of their scores. e_value: the evidence, at least 1 / alpha, where alpha is the part
    that this test had; of a new mode, which has a p-value, None. over: the day since which it no longer holds
    (most of the change was undone, or another judge scores), None while it is open.
    worse: None where the metric has no good side. canaries: how far the judge moved by the frozen answers
    since then; corrected: the mean after it, less that. says: why that cause, in a sentence.
    beneath: alarms that repeat this one.
    """

    metric: str
    tag: str
    value: str
    judge: str
    how: Literal["logged", "canaries", "named", "new mode"]
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


def open_among(alarms: Iterable[Alarm]) -> list[Alarm]:
    """Return the alarms of a change for the worse, or of no known side, that still holds."""
    return [alarm for alarm in alarms if alarm.over is None and alarm.worse is not False]


def mean_words(alarm: Alarm, level: Level, *, digits: int = 3) -> str:
    """Return a mean of an alarm with its unit, or with so many digits where it has none."""
    known = unit_of(alarm.metric, alarm.judge)
    return f"{level.mean:.{digits}f}" if known is None else known.shown(level.mean)


def alarm_line(alarm: Alarm) -> str:
    """Return the alarm as one line for people."""
    where = f" ({alarm.tag} {alarm.value})" if alarm.tag else ""
    moved = "rose" if alarm.rose else "fell"
    state = f", over since {alarm.over}" if alarm.over else ""
    return (
        f"{alarm.metric}{where} {moved} from {mean_words(alarm, alarm.before)}"
        f" to {mean_words(alarm, alarm.after)}"
        f" since {alarm.since}{state}: {alarm.says}"
    )


ON_LOGS = 0.8
"""The part of alpha for changes of what was logged, where there are canaries; the rest is for these."""

ON_USE = 0.1
"""The part of alpha for what the log itself tells; the rest is for scores."""

ON_NEW_MODES = 0.1
"""The part of what is left for new modes, where modes are watched."""

NEAR_DAYS = 28
"""A change that canaries show is that of an alarm which says so already, if they are no further apart."""


def alarms(
    cells: Sequence[DayCell],
    section: MonitorSection,
    *,
    known: JudgeEvidence = NOTHING_KNOWN,
    today: date | None = None,
    best: Best | None = None,
    use: Sequence[DayCell] = (),
    new_modes: Sequence[Alarm] | None = None,
) -> list[Alarm]:
    """Return the alarms so far by the day on which they were raised, those that repeat others beneath them.

    use: what the log tells of latency, cost and the like, see use.py; their alarms are in their own units.
    new_modes: alarms of new modes, None where none are looked for.
    today: the day that is not over yet; default the last of the cells. It is a function of the cells alone:
    alarms of earlier looks come back as they were raised, as long as the cells of their days do.
    """
    if not cells and not use:
        return []
    before = today or max(cell.day for cell in (*cells, *use))
    streams, use_streams = streams_of(cells, before), streams_of(use, before)
    alpha = section.alpha * (1 - ON_USE) * (1.0 if new_modes is None else 1 - ON_NEW_MODES)
    part = ON_LOGS if section.canaries else 1.0
    changes = changes_of(streams, alpha * part, section.baseline_days)
    logged = _logged(changes, streams, known, best or {})
    changes = changes_of(use_streams, section.alpha * ON_USE, section.baseline_days)
    logged += _logged(changes, use_streams, known, USE_BEST)
    named = _named(streams, known)
    frozen = known.canaries if section.canaries else None
    by_canaries = _shown(frozen, alpha * (1 - part), logged) if frozen else []
    all_alarms = [
        *folded([*logged, *named, *by_canaries], [*streams, *use_streams]),
        *(new_modes or ()),
    ]
    return sorted(
        all_alarms, key=lambda alarm: (alarm.raised or alarm.since, alarm.metric, alarm.tag, alarm.value)
    )


def _logged(
    changes: Sequence[Change], streams: Sequence[Stream], known: JudgeEvidence, best: Best
) -> list[Alarm]:
    by_stream: dict[tuple[str, str, str, str], list[Change]] = {}
    for change in changes:
        by_stream.setdefault(change.stream.key, []).append(change)
    logged = []
    for of_one in by_stream.values():
        replaced = min((new.first for new in streams if _took_over(of_one[0].stream, new)), default=None)
        made = [
            _alarm(change, later, known, best)
            for change, later in zip(of_one, [*of_one[1:], None], strict=True)
        ]
        for alarm, later in pairwise([*made, None]):
            if alarm is not None:
                over = replaced
                if later and later.rose != alarm.rose and abs(later.moved) >= abs(alarm.moved) / 2:
                    over = later.since  # it took back at least half of the change
                logged.append(msgspec.structs.replace(alarm, over=over))
    return logged


def _alarm(change: Change, later: Change | None, known: JudgeEvidence, best: Best) -> Alarm:
    stream, end = change.stream, later.at if later else None
    before, after = (
        own_unit(stream.metric, stream.judge, level_of(stream.sums[first:last]))
        for first, last in ((change.begin, change.at), (change.at, end))
    )
    since, compared = stream.day(change.at), stream.day(change.begin)
    shift, attribution = _cause(change, end, before, after, known)
    side = best.get(stream.metric)
    return Alarm(
        metric=stream.metric,
        tag=stream.tag,
        value=stream.value,
        judge=stream.judge,
        how="logged",
        compared=compared,
        since=since,
        raised=stream.day(change.raised),
        before=before,
        after=after,
        worse=None if side in (None, "middle") else (after.mean > before.mean) == (side == "lowest"),
        e_value=math.exp(min(change.log_evidence, 700.0)),
        alpha=change.alpha,
        cause=attribution.cause,
        says=attribution.says,
        canaries=shift,
        corrected=attribution.corrected,
    )


def _cause(
    change: Change, end: int | None, before: Level, after: Level, known: JudgeEvidence
) -> tuple[Shift | None, Attribution]:
    """Return how far the judge moved, where that was measured, and the cause. end: of the next change."""
    stream = change.stream
    if stream.judge == LOG:
        return None, NO_JUDGE
    if cannot_drift(stream.judge):
        return None, NO_DRIFT
    day = _judged_at_once(known.judged_on, stream, change.begin, end)
    if day is not None:
        says = f"the judge had no time to change: it scored all these days within one day, up to {day}"
        return None, Attribution(cause="application", says=says)
    since, compared = stream.day(change.at), stream.day(change.begin)
    shift = (
        judge_shift(known.canaries, since, [stream.judge], compared).get(stream.metric)
        if known.canaries
        else None
    )
    return shift, cause_of(before, after, shift)


def _judged_at_once(judged_on: JudgedOn, stream: Stream, begin: int, end: int | None) -> date | None:
    """Return the day by whose end all scores of these days of a stream were made within a day.

    None where they were not, or nobody knows. Shares of labels were made with their metric.
    """
    known = judged_on.get((stream.metric.partition("=")[0], stream.judge), {})
    scored = np.flatnonzero(stream.sums[begin:end, N]) + begin
    spans = [known.get(stream.day(int(at))) for at in scored]
    if not spans or any(span is None for span in spans):
        return None
    first, last = (pick(span[at] for span in spans if span) for at, pick in ((0, min), (1, max)))
    return last if (last - first).days <= 1 else None


def _took_over(old: Stream, new: Stream) -> bool:
    """Return whether the new judge scores since, at the latest, the last day of the old one."""
    last = old.day(int(old.sums[:, N].nonzero()[0].max()))
    return old.key[:3] == new.key[:3] and old.judge != new.judge and old.first < new.first >= last


def _named(streams: Sequence[Stream], known: JudgeEvidence) -> list[Alarm]:
    """Return the changes of a judge that the cells name: of each metric, from one judge to the next."""
    whole = sorted(
        (stream for stream in streams if not stream.tag and stream.metric != UNCOVERED),
        key=lambda stream: (stream.metric, stream.first, stream.judge),
    )
    return [_renamed(old, new, known) for old, new in pairwise(whole) if _took_over(old, new)]


def _renamed(old: Stream, new: Stream, known: JudgeEvidence) -> Alarm:
    before, after = level_of(old.sums[: (new.first - old.first).days]), level_of(new.sums)
    judges = [old.judge, new.judge]
    fixed = any(map(cannot_drift, judges))  # such a judge is asked about no canary, so none compares the two
    canaries = None if fixed else known.canaries
    shift = judge_shift(canaries, new.first, judges, old.first).get(new.metric) if canaries else None
    attribution = cause_of(before, after, shift)
    moved = (
        attribution.says if shift else "unknown how much that changes scores: no canaries were judged by both"
    )
    return Alarm(
        metric=new.metric,
        tag="",
        value="",
        judge=new.judge,
        how="named",
        compared=old.first,
        since=new.first,
        raised=None,
        before=before,
        after=after,
        worse=None,
        e_value=None,
        alpha=None,
        cause="both" if attribution.cause == "both" else "judge",
        says=f"the judge changed from {judge_words(old.judge)} to {judge_words(new.judge)}; {moved}",
        canaries=shift,
        corrected=attribution.corrected,
    )


def _shown(canaries: Canaries, alpha: float, logged: Sequence[Alarm]) -> list[Alarm]:
    """Return the changes of a judge that canaries show, and that no alarm names yet."""
    return [
        _drifted(metric, change, canaries.frozen)
        for metric, changes in judge_changes(canaries, alpha).items()
        for change in changes
        if not any(
            alarm.metric == metric
            and alarm.cause in ("judge", "both")
            and abs((alarm.since - change.since).days) <= NEAR_DAYS
            for alarm in logged
        )
    ]


def _drifted(metric: str, change: JudgeChange, frozen: date) -> Alarm:
    shift = change.shift
    before = Level(mean=shift.first, low=None, high=None, n=shift.n)
    after = Level(mean=shift.first + shift.mean, low=None, high=None, n=shift.n)
    return Alarm(
        metric=metric,
        tag="",
        value="",
        judge=change.judge,
        how="canaries",
        compared=frozen,
        since=change.since,
        raised=change.raised,
        before=before,
        after=after,
        worse=None,
        e_value=change.e_value,
        alpha=change.alpha,
        cause="judge",
        says=f"the judge changed: it scores {shift.n} frozen answers {signed_decimal(shift.mean, 3)}",
        canaries=shift,
    )


SAME_CHANGE_DAYS = 28
"""Two alarms may be of one change if their estimated days lie no further apart: thin streams are vague."""


def folded(alarms: Sequence[Alarm], streams: Sequence[Stream]) -> list[Alarm]:
    """Return the alarms, those that repeat another one beneath it.

    A value's alarm repeats that of all exchanges if it moved the same way at about the same time by no
    other amount, as far as both are known. That of all exchanges repeats a value's if less than half of the
    change is left without that value. Shares of a judge's labels move together: the strongest comes first.
    Judges that got other names on the same day are one change.
    """
    by_day: dict[date, list[Alarm]] = {}
    for alarm in alarms:
        if alarm.how == "named":
            by_day.setdefault(alarm.since, []).append(alarm)
    named = [msgspec.structs.replace(first, beneath=tuple(rest)) for first, *rest in by_day.values()]
    whole = [alarm for alarm in alarms if alarm.how == "logged" and not alarm.tag]
    parts = [alarm for alarm in alarms if alarm.how == "logged" and alarm.tag]
    other = [alarm for alarm in alarms if alarm.how == "canaries"]
    below: dict[int, list[Alarm]] = {at: [] for at in range(len(whole))}
    alone: list[Alarm] = []
    for part in parts:
        repeated = (
            at
            for at, alarm in enumerate(whole)
            if _same_time(part, alarm) and abs(part.moved - alarm.moved) <= part.unsure + alarm.unsure
        )
        at = next(repeated, None)
        (alone if at is None else below[at]).append(part)
    by_key = {stream.key: stream for stream in streams}
    wholes = [msgspec.structs.replace(head, beneath=tuple(below[at])) for at, head in enumerate(whole)]
    left, beneath = [], {at: list[Alarm]() for at in range(len(alone))}
    for head in wholes:
        causes = [at for at, part in enumerate(alone) if _explains(part, head, by_key)]
        if causes:
            most = max(causes, key=lambda at: abs(alone[at].moved) * alone[at].after.n)
            beneath[most] += [msgspec.structs.replace(head, beneath=()), *head.beneath]
        else:
            left.append(head)
    explained = [msgspec.structs.replace(head, beneath=tuple(beneath[at])) for at, head in enumerate(alone)]
    return [*_by_label([*left, *explained]), *named, *other]


def _by_label(alarms: Sequence[Alarm]) -> list[Alarm]:
    """Return alarms of `metric` and `metric=label` that are of one change as one, the rest beneath."""
    heads: list[list[Alarm]] = []
    for alarm in sorted(alarms, key=lambda repeat: -(repeat.e_value or 0.0)):
        group = next((group for group in heads if _same_labels(group[0], alarm)), None)
        if group is None:
            heads.append([alarm])
        else:
            group.append(alarm)
    return [
        msgspec.structs.replace(
            head,
            beneath=(
                *head.beneath,
                *(
                    low
                    for repeat in rest
                    for low in (msgspec.structs.replace(repeat, beneath=()), *repeat.beneath)
                ),
            ),
        )
        for head, *rest in heads
    ]


def _same_labels(first: Alarm, other: Alarm) -> bool:
    bases = [alarm.metric.partition("=")[0] for alarm in (first, other)]
    near = abs((first.since - other.since).days) <= SAME_CHANGE_DAYS
    where = (first.judge, first.tag, first.value) == (other.judge, other.tag, other.value)
    return bases[0] == bases[1] and first.metric != other.metric and near and where


def _same_time(first: Alarm, other: Alarm) -> bool:
    near = abs((first.since - other.since).days) <= SAME_CHANGE_DAYS
    return near and (first.metric, first.judge, first.rose) == (other.metric, other.judge, other.rose)


def _explains(part: Alarm, whole: Alarm, streams: dict[StreamKey, Stream]) -> bool:
    """Return whether less than half of the change of all exchanges is left without those of the part."""
    if not _same_time(part, whole):
        return False
    all_of_them = streams[whole.metric, "", "", whole.judge]
    without = all_of_them.sums.copy()
    of_part = streams[part.metric, part.tag, part.value, part.judge]
    without[(of_part.first - all_of_them.first).days :] -= of_part.sums
    without = np.maximum(without, 0.0)
    begin, at = ((day - all_of_them.first).days for day in (whole.compared, whole.since))
    if not without[begin:at, N].any() or not without[at:, N].any():
        return True
    left = level_of(without[at:]).mean - level_of(without[begin:at]).mean
    return abs(left) < abs(whole.moved) / 2
