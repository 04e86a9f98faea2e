"""Scores of a day -> its cells: of all exchanges and of each value of each tag, the sums of every metric."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from ragstone.monitor.judged import PEOPLE, SCORED, THUMB, judge_of
from ragstone.records import STATUSES

MOST_VALUES = 200  # of a tag, by first appearance; the rest are one
OTHER_VALUES = "(other values)"

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Row = tuple[Any, ...]


class _Measured(msgspec.Struct, frozen=True):
    """What one metric says of some exchanges of a day: their places, scores (which count where the status is
    scored), statuses, weights."""

    metric: str
    judge: str
    at: Ints
    x: Floats
    status: Ints
    w: Floats


def refresh(db: sqlite3.Connection, tags: Sequence[str]) -> None:
    """Bring the cells of stale days in step with their scores, each day in a transaction of its own."""
    days = [day for (day,) in db.execute("SELECT day FROM stale ORDER BY day")]
    if not days:
        return
    names = _value_names(db, tags)
    for day in days:
        with db:
            db.execute("BEGIN IMMEDIATE")
            rows = list(_day(db, day, names))
            db.execute("DELETE FROM cells WHERE day = ?", (day,))
            db.executemany("INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
            db.execute("DELETE FROM stale WHERE day = ?", (day,))


def _value_names(db: sqlite3.Connection, tags: Sequence[str]) -> dict[int, tuple[str, str]]:
    """Return number -> tag and value, of the tags by which trends are shown."""
    names = {}
    for tag in tags:
        values = db.execute("SELECT n, value FROM tag_values WHERE tag = ? ORDER BY n", (tag,)).fetchall()
        for place, (n, value) in enumerate(values):
            names[n] = (tag, value if place < MOST_VALUES else OTHER_VALUES)
    return names


def _day(db: sqlite3.Connection, day: int, names: dict[int, tuple[str, str]]) -> Iterator[Row]:
    listed = db.execute("SELECT n, draw, chance FROM exchanges WHERE day = ? ORDER BY n", (day,)).fetchall()
    if not listed:
        return
    numbers = np.array([row[0] for row in listed], dtype=np.int64)
    draws, chance = (np.array([row[at] for row in listed]) for at in (1, 2))
    groups = _groups(db, day, numbers, names)
    for one in _measures(db, day, numbers, chance, int((draws < chance).sum())):
        for tag, values, codes in groups:
            yield from _sums(day, tag, values, codes[one.at], one)


def _groups(
    db: sqlite3.Connection, day: int, numbers: Ints, names: dict[int, tuple[str, str]]
) -> list[tuple[str, list[str], Ints]]:
    """Return tag, its values, and the place of each exchange's value among them, -1 for none."""
    groups: list[tuple[str, list[str], Ints]] = [("", [""], np.zeros(numbers.size, dtype=np.int64))]
    found = db.execute(
        "SELECT t.exchange, t.value FROM exchanges e JOIN tags t ON t.exchange = e.n WHERE e.day = ?", (day,)
    ).fetchall()
    of_tag: dict[str, list[tuple[int, str]]] = {}
    for exchange, value in found:
        if value in names:
            tag, text = names[value]
            of_tag.setdefault(tag, []).append((exchange, text))
    for tag, pairs in of_tag.items():
        values = list(dict.fromkeys(text for _, text in pairs))
        place = {text: at for at, text in enumerate(values)}
        codes = np.full(numbers.size, -1, dtype=np.int64)
        codes[np.searchsorted(numbers, [n for n, _ in pairs])] = [place[text] for _, text in pairs]
        groups.append((tag, values, codes))
    return groups


def _measures(
    db: sqlite3.Connection, day: int, numbers: Ints, chance: Floats, n_sampled: int
) -> Iterator[_Measured]:
    """Yield what each metric of each judge says; a label's share is a metric of its own, `metric=label`.

    Where a budget has left part of the day's sample unjudged, that part is random, see judged.due: the chance
    of each exchange is then less in the same proportion.
    """
    rows = db.execute(
        "SELECT s.exchange, s.measure, s.status, s.score, s.label FROM exchanges e"
        " JOIN scores s ON s.exchange = e.n WHERE e.day = ?",
        (day,),
    ).fetchall()
    by_measure: dict[int, list[Row]] = {}
    for row in rows:
        by_measure.setdefault(row[1], []).append(row)
    told = {row[0]: row[1:] for row in db.execute("SELECT n, judge, version, model, metric FROM measures")}
    judged = _judged(by_measure, told)
    for measure in sorted(by_measure):
        judge, version, model, metric = told[measure]
        some = by_measure[measure]
        at = np.searchsorted(numbers, [row[0] for row in some])
        x = np.array([row[3] or 0.0 for row in some], dtype=np.float64)
        status = np.array([row[2] for row in some], dtype=np.int64)
        share = min(1.0, judged[judge, metric] / n_sampled) if n_sampled else 1.0
        w = 1.0 / (chance[at] * share)
        who = judge_of(judge, version, model)
        yield _Measured(metric, who, at, x, status, w)
        labels = db.execute("SELECT n, label FROM labels WHERE measure = ? ORDER BY n", (measure,)).fetchall()
        given = np.array([-1 if row[4] is None else row[4] for row in some], dtype=np.int64)
        for number, label in labels:
            shown = (given == number).astype(np.float64)
            yield _Measured(f"{metric}={label}", who, at, shown, status, w)
    yield from _feedback(db, day, numbers)


def _judged(by_measure: dict[int, list[Row]], told: dict[int, Row]) -> dict[tuple[str, str], int]:
    """Return how many exchanges a judge has judged, whichever its version and model."""
    seen: dict[tuple[str, str], set[int]] = {}
    for measure, some in by_measure.items():
        judge, _, _, metric = told[measure]
        seen.setdefault((judge, metric), set()).update(row[0] for row in some)
    return {key: len(exchanges) for key, exchanges in seen.items()}


def _feedback(db: sqlite3.Connection, day: int, numbers: Ints) -> Iterator[_Measured]:
    """Yield what people said: of all exchanges, not of the sample."""
    rows = db.execute(
        "SELECT e.n, coalesce(s.feedback, e.feedback) AS said FROM exchanges e"
        " LEFT JOIN said s ON s.name = e.name WHERE e.day = ? AND said IS NOT NULL",
        (day,),
    ).fetchall()
    if rows:
        at = np.searchsorted(numbers, [row[0] for row in rows])
        x = np.array([row[1] for row in rows], dtype=np.float64)
        status = np.full(len(rows), SCORED, dtype=np.int64)
        yield _Measured(THUMB, PEOPLE, at, x, status, np.ones(len(rows)))


def _sums(day: int, tag: str, values: list[str], codes: Ints, one: _Measured) -> Iterator[Row]:
    """Yield the cells of one metric, one for each value that some exchange of it has."""
    size = len(values)
    scored = (one.status == SCORED) & (codes >= 0)
    at, x, w = codes[scored], one.x[scored], one.w[scored]
    n = np.bincount(at, minlength=size)
    w2 = w * w
    sums = [np.bincount(at, weights=column, minlength=size) for column in (w, w * x, w2, w2 * x, w2 * x * x)]
    others = (codes >= 0) & ~scored
    statuses = _statuses(codes[others], one.status[others])
    for place, value in enumerate(values):
        if n[place] or place in statuses:
            counts = msgspec.json.encode(statuses.get(place, {})).decode()
            row = (float(column[place]) for column in sums)
            yield (day, tag, value, one.metric, one.judge, int(n[place]), *row, counts)


def _statuses(codes: Ints, statuses: Ints) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for code, status in zip(codes.tolist(), statuses.tolist(), strict=True):
        counts = found.setdefault(code, {})
        counts[STATUSES[status]] = counts.get(STATUSES[status], 0) + 1
    return found
