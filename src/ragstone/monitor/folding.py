"""Alarms that are one and the same change -> one alarm, the others beneath it."""

from collections.abc import Sequence
from datetime import date

import msgspec
import numpy as np

from ragstone.monitor.alarm import Alarm
from ragstone.monitor.streams import Key, N, Stream, level_of

NEAR_DAYS = 28
"""Two alarms may be of one change if their estimated days lie no further apart: thin streams are vague."""


def folded(alarms: Sequence[Alarm], streams: Sequence[Stream]) -> list[Alarm]:
    """Return the alarms, those that repeat another one beneath it.

    A value's alarm repeats that of all exchanges if it moved the same way at about the same time by no
    other amount, as far as both are known. That of all exchanges repeats a value's if less than half of the
    change is left without that value. Shares of a judge's labels move together: the strongest comes first.
    Judges that got other names on the same day are one change.
    """
    named = _by_day([alarm for alarm in alarms if alarm.how == "named"])
    whole = [alarm for alarm in alarms if alarm.how == "logged" and not alarm.tag]
    parts = [alarm for alarm in alarms if alarm.how == "logged" and alarm.tag]
    other = [alarm for alarm in alarms if alarm.how == "canaries"]
    below: dict[int, list[Alarm]] = {at: [] for at in range(len(whole))}
    alone: list[Alarm] = []
    for part in parts:
        at = next((at for at, alarm in enumerate(whole) if _repeats(part, alarm)), None)
        (alone if at is None else below[at]).append(part)
    by_key = {stream.key: stream for stream in streams}
    kept = [msgspec.structs.replace(one, beneath=tuple(below[at])) for at, one in enumerate(whole)]
    left, beneath = [], {at: list[Alarm]() for at in range(len(alone))}
    for one in kept:
        causes = [at for at, part in enumerate(alone) if _explains(part, one, by_key)]
        if causes:
            most = max(causes, key=lambda at: abs(alone[at].moved) * alone[at].after.n)
            beneath[most] += [msgspec.structs.replace(one, beneath=()), *one.beneath]
        else:
            left.append(one)
    explained = [msgspec.structs.replace(one, beneath=tuple(beneath[at])) for at, one in enumerate(alone)]
    return [*_by_label([*left, *explained]), *named, *other]


def _by_day(named: Sequence[Alarm]) -> list[Alarm]:
    found: dict[date, list[Alarm]] = {}
    for alarm in named:
        found.setdefault(alarm.since, []).append(alarm)
    return [msgspec.structs.replace(first, beneath=tuple(rest)) for first, *rest in found.values()]


def _by_label(alarms: Sequence[Alarm]) -> list[Alarm]:
    """Return alarms of `metric` and `metric=label` that are of one change as one, the rest beneath."""
    heads: list[list[Alarm]] = []
    for alarm in sorted(alarms, key=lambda one: -(one.e_value or 0.0)):
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
                *(low for one in rest for low in (msgspec.structs.replace(one, beneath=()), *one.beneath)),
            ),
        )
        for head, *rest in heads
    ]


def _same_labels(one: Alarm, other: Alarm) -> bool:
    bases = [alarm.metric.partition("=")[0] for alarm in (one, other)]
    near = abs((one.since - other.since).days) <= NEAR_DAYS
    where = (one.judge, one.tag, one.value) == (other.judge, other.tag, other.value)
    return bases[0] == bases[1] and one.metric != other.metric and near and where


def _same_time(one: Alarm, other: Alarm) -> bool:
    near = abs((one.since - other.since).days) <= NEAR_DAYS
    return near and (one.metric, one.judge, one.rose) == (other.metric, other.judge, other.rose)


def _repeats(part: Alarm, whole: Alarm) -> bool:
    return _same_time(part, whole) and abs(part.moved - whole.moved) <= part.unsure + whole.unsure


def _explains(part: Alarm, whole: Alarm, streams: dict[Key, Stream]) -> bool:
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
