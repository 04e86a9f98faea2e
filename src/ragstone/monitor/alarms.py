"""Cells and canaries -> alarms: what changed, from when on, by how much, and whether it was the judge.

The chance of any false alarm, ever, over all metrics, tags and values, is at most `alpha` (see changing.py
and statistics/changes.py for what is supposed). Only days that are over are looked at: a day that still
fills can neither raise an alarm nor spend anything, so looking hourly is the same as looking daily.
"""

import math
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

import msgspec

from ragstone.config import MonitorSection
from ragstone.monitor.alarm import Alarm, Best
from ragstone.monitor.canaries import Canaries, judge_changes, judge_shift
from ragstone.monitor.causes import NO_DRIFT, cause_of
from ragstone.monitor.cell import Cell
from ragstone.monitor.changing import Change, changes_of
from ragstone.monitor.folding import folded
from ragstone.monitor.scored import cannot_drift
from ragstone.monitor.shifts import JudgeChange
from ragstone.monitor.streams import Level, N, Stream, level_of, streams_of

ON_LOGS = 0.8
"""The part of alpha for changes of what was logged, where there are canaries; the rest is for these."""

NEAR_DAYS = 28
"""A change that canaries show is that of an alarm which says so already, if they are no further apart."""


def alarms(
    cells: Sequence[Cell],
    section: MonitorSection,
    *,
    canaries: Canaries | None = None,
    today: date | None = None,
    best: Best | None = None,
) -> list[Alarm]:
    """Return the alarms so far by the day on which they were raised, those that repeat others beneath them.

    today: the day that is not over yet; default the last of the cells. It is a function of the cells alone:
    alarms of earlier looks come back as they were raised, as long as the cells of their days do.
    """
    if not cells:
        return []
    streams = streams_of(cells, today or max(cell.day for cell in cells))
    part = ON_LOGS if section.canaries else 1.0
    changes = changes_of(streams, section.alpha * part, section.baseline_days)
    logged = _logged(changes, streams, canaries, best or {})
    named = _named(streams, canaries)
    shown = _shown(canaries, section.alpha * (1 - part), logged) if canaries and section.canaries else []
    kept = folded([*logged, *named, *shown], streams)
    return sorted(kept, key=lambda one: (one.raised or one.since, one.metric, one.tag, one.value))


def _logged(
    changes: Sequence[Change], streams: Sequence[Stream], canaries: Canaries | None, best: Best
) -> list[Alarm]:
    by_stream: dict[tuple[str, str, str, str], list[Change]] = {}
    for change in changes:
        by_stream.setdefault(change.stream.key, []).append(change)
    found = []
    for of_one in by_stream.values():
        replaced = _replaced(of_one[0].stream, streams)
        made = [
            _alarm(change, later, canaries, best)
            for change, later in zip(of_one, [*of_one[1:], None], strict=True)
        ]
        for alarm, later in pairwise([*made, None]):
            if alarm is not None:
                undone = later is not None and _undoes(later, alarm)
                over = later.since if later is not None and undone else replaced
                found.append(msgspec.structs.replace(alarm, over=over))
    return found


def _alarm(change: Change, later: Change | None, canaries: Canaries | None, best: Best) -> Alarm:
    stream = change.stream
    before = level_of(stream.sums[change.begin : change.at])
    after = level_of(stream.sums[change.at : later.at if later else None])
    since, compared = stream.day(change.at), stream.day(change.begin)
    shift = judge_shift(canaries, since, [stream.judge], compared).get(stream.metric) if canaries else None
    found = NO_DRIFT if cannot_drift(stream.judge) else cause_of(before, after, shift)
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
        worse=_is_worse(stream.metric, after.mean > before.mean, best),
        e_value=math.exp(min(change.log_evidence, 700.0)),
        alpha=change.alpha,
        cause=found.cause,
        says=found.says,
        canaries=shift,
        corrected=found.corrected,
    )


def _undoes(later: Alarm, alarm: Alarm) -> bool:
    """Return whether the later change took back at least half of the earlier one."""
    return later.rose != alarm.rose and abs(later.moved) >= abs(alarm.moved) / 2


def _replaced(stream: Stream, streams: Sequence[Stream]) -> date | None:
    """Return the day on which another judge took over; None while this one scores, too, or was the last."""
    return min((new.first for new in streams if _took_over(stream, new)), default=None)


def _took_over(old: Stream, new: Stream) -> bool:
    """Return whether the new judge scores since, at the latest, the last day of the old one."""
    last = old.day(int(old.sums[:, N].nonzero()[0].max()))
    return old.key[:3] == new.key[:3] and old.judge != new.judge and old.first < new.first >= last


def _named(streams: Sequence[Stream], canaries: Canaries | None) -> list[Alarm]:
    """Return the changes of a judge that the cells name: of each metric, from one judge to the next."""
    whole = sorted(
        (one for one in streams if not one.tag), key=lambda one: (one.metric, one.first, one.judge)
    )
    return [_renamed(old, new, canaries) for old, new in pairwise(whole) if _took_over(old, new)]


def _renamed(old: Stream, new: Stream, canaries: Canaries | None) -> Alarm:
    before, after = level_of(old.sums[: (new.first - old.first).days]), level_of(new.sums)
    judges = [old.judge, new.judge]
    fixed = any(map(cannot_drift, judges))  # such a judge is asked about no canary, so none compares the two
    shifts = judge_shift(canaries, new.first, judges, old.first) if canaries and not fixed else {}
    shift = shifts.get(new.metric)
    found = cause_of(before, after, shift)
    moved = found.says if shift else "by how much that moves scores is not known: no canaries of both"
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
        cause="both" if found.cause == "both" else "judge",
        says=f"the judge changed from {old.judge} to {new.judge}; {moved}",
        canaries=shift,
        corrected=found.corrected,
    )


def _shown(canaries: Canaries, alpha: float, logged: Sequence[Alarm]) -> list[Alarm]:
    """Return the changes of a judge that canaries show, and that no alarm names yet."""
    return [
        _drifted(metric, change, canaries.frozen)
        for metric, found in judge_changes(canaries, alpha).items()
        for change in found
        if not any(_is_of(alarm, metric, change) for alarm in logged)
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
        says=f"the judge changed: it scores {shift.n} frozen answers {shift.mean:+.3f}",
        canaries=shift,
    )


def _is_of(alarm: Alarm, metric: str, change: JudgeChange) -> bool:
    near = abs((alarm.since - change.since).days) <= NEAR_DAYS
    return alarm.metric == metric and alarm.cause in ("judge", "both") and near


def _is_worse(metric: str, rose: bool, best: Best) -> bool | None:
    side = best.get(metric)
    return None if side in (None, "middle") else rose == (side == "lowest")
