"""The store -> the exchanges that a person should open: the worst of late, each once."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

import msgspec

from ragstone.monitor.gaps import Gap
from ragstone.monitor.scored import PEOPLE
from ragstone.monitor.showing import Seen, shown

MOST = 200
EACH = 40  # of a metric at least; of few metrics their parts of MOST
OF_GAPS, OF_GAP = 20, 3
MIDDLE = 0.5


class Open(msgspec.Struct, frozen=True, kw_only=True):
    """An exchange to open. low: the metrics in which it is below their middle; gaps: their ranks, from 1."""

    seen: Seen
    low: list[str]
    gaps: list[int]


def worst_of(db: sqlite3.Connection, since: date | None, gaps: Sequence[Gap] = ()) -> list[Open]:
    """Return the worst exchanges since a day, the worst first: low in most metrics, then the newest.

    Of each metric with a good end the worst are looked at, of people's feedback too, and OF_GAP of each
    of the first OF_GAPS gaps; at most MOST come back.
    """
    measures = db.execute(
        "SELECT n, metric, best FROM measures WHERE best IN ('highest', 'lowest')"
    ).fetchall()
    best = {metric: side for _, metric, side in measures}
    day = since.toordinal() if since else 0
    numbers: dict[int, None] = {}
    of_gaps = _of_gaps(db, gaps)
    each = max(EACH, MOST // (1 + len(measures)))
    for measure, _, side in measures:
        numbers.update(dict.fromkeys(_worst(db, measure, side, day, each)))
    numbers.update(dict.fromkeys(_disliked(db, day, each)))
    numbers.update(dict.fromkeys(of_gaps))
    some = list(numbers)
    found = [
        Open(seen=seen, low=low_in(seen, best), gaps=of_gaps.get(seen.n, []))
        for at in range(0, len(some), MOST)
        for seen in shown(db, some[at : at + MOST])
    ]
    found.sort(
        key=lambda one: (-len(one.low), -(one.seen.time.timestamp() if one.seen.time else 0.0), one.seen.n)
    )
    return found[:MOST]


def low_in(seen: Seen, best: Mapping[str, str]) -> list[str]:
    """Return the metrics in which an exchange is below the middle, people's feedback among them."""
    low = [
        one.metric
        for one in seen.scores
        if one.score is not None
        and one.metric in best
        and (one.score > MIDDLE if best[one.metric] == "lowest" else one.score < MIDDLE)
    ]
    if seen.feedback is not None and seen.feedback < MIDDLE:
        low.append("feedback")
    return list(dict.fromkeys(low))


def _worst(db: sqlite3.Connection, measure: int, side: str, day: int, most: int) -> list[int]:
    worse, order = (">", "DESC") if side == "lowest" else ("<", "ASC")
    rows = db.execute(
        "SELECT e.n FROM exchanges e CROSS JOIN scores s ON s.exchange = e.n AND s.measure = ?"
        f" WHERE (e.day >= ? OR e.day IS NULL) AND s.score {worse} ?"
        f" ORDER BY s.score {order}, e.time DESC, e.n LIMIT ?",
        (measure, day, MIDDLE, most),
    )
    return [n for (n,) in rows]


def _disliked(db: sqlite3.Connection, day: int, most: int) -> list[int]:
    rows = db.execute(
        f"SELECT e.n, coalesce(s.feedback, e.feedback) AS {PEOPLE} FROM exchanges e"
        " LEFT JOIN said s ON s.name = e.name WHERE (e.day >= ? OR e.day IS NULL)"
        f" AND {PEOPLE} < ? ORDER BY {PEOPLE}, e.time DESC, e.n LIMIT ?",
        (day, MIDDLE, most),
    )
    return [n for n, _ in rows]


def _of_gaps(db: sqlite3.Connection, gaps: Iterable[Gap]) -> dict[int, list[int]]:
    """Return the numbers of some exchanges of each gap, with the ranks of their gaps."""
    found: dict[int, list[int]] = {}
    for rank, gap in enumerate(gaps, 1):
        if rank > OF_GAPS:
            break
        names = [name for example in gap.examples for name in example.ids[:1]][:OF_GAP]
        marks = ",".join("?" * len(names))
        rows = db.execute(f"SELECT max(n) FROM exchanges WHERE name IN ({marks}) GROUP BY name", names)
        for (n,) in rows:
            found.setdefault(n, []).append(rank)
    return found
