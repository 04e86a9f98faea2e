"""The store -> its cells, and how much there is."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections.abc import Iterable
from datetime import date, timedelta

import msgspec

from ragstone.monitor.cell import Cell
from ragstone.monitor.trends import Point, point_of


class MetricMean(msgspec.Struct, frozen=True, kw_only=True):
    """A metric by one judge over all days: its mean, denominator and interval, and its other statuses.

    best: the good end of its scale, `none` for the share of a label and for labels without an order.
    """

    metric: str
    judge: str
    whole: Point
    best: str


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is. sampled: that are or will be judged; without_time: that are in no trend.

    in_future: after `last`, see last_day; they are in no trend and no mean either.
    """

    n_exchanges: int
    n_sampled: int
    n_judged: int
    n_feedback: int
    without_time: int
    in_future: int = 0
    first: date | None
    last: date | None
    metrics: list[MetricMean]


def cells(
    db: sqlite3.Connection, *, metric: str | None, tag: str | None, since: date | None, until: date | None
) -> list[Cell]:
    """Return the cells of a choice, by day."""
    chosen = {
        "day >= ?": None if since is None else since.toordinal(),
        "day <= ?": None if until is None else until.toordinal(),
        "tag = ?": tag,
        "metric = ?": metric,
    }
    given = {where: value for where, value in chosen.items() if value is not None}
    where = f" WHERE {' AND '.join(given)}" if given else ""
    rows = db.execute(
        f"SELECT day, tag, value, metric, judge, n, w, wx, w2, w2x, w2x2, statuses FROM cells{where}"
        " ORDER BY day, tag, value, metric, judge",
        list(given.values()),
    )
    days: dict[int, date] = {}
    decode = msgspec.json.Decoder(dict[str, int]).decode
    found = []
    for day, tag_, value, metric_, judge, n, w, wx, w2, w2x, w2x2, statuses in rows:
        when = days.get(day) or days.setdefault(day, date.fromordinal(day))
        found.append(
            Cell(
                day=when,
                tag=tag_,
                value=value,
                metric=metric_,
                judge=judge,
                n=n,
                w=w,
                wx=wx,
                w2=w2,
                w2x=w2x,
                w2x2=w2x2,
                statuses={} if statuses == "{}" else decode(statuses),
            )
        )
    return found


def last_day(db: sqlite3.Connection, today: date | None) -> date | None:
    """Return the last day of the log that is at most a day after today; None where nothing has a time.

    Where all days are later, or today is not told, it is the last that there is. The one day is for clocks
    that go ahead; a row of 2099 would otherwise be what "the last days" are counted from.
    """
    until = None if today is None else (today + timedelta(days=1)).toordinal()
    (near,) = db.execute("SELECT max(day) FROM exchanges WHERE day <= ?", (until,)).fetchone()
    last = near or db.execute("SELECT max(day) FROM exchanges").fetchone()[0]
    return date.fromordinal(last) if last else None


def overview(db: sqlite3.Connection, of_all: Iterable[Cell], last: date | None) -> Overview:
    """Return how much there is; of_all: the cells of all exchanges, day by day, up to the day `last`."""
    n, sampled, judged, untimed, first, late = db.execute(
        "SELECT count(*), sum(draw < chance), sum(done > 0), sum(day IS NULL), min(day), sum(day > ?)"
        " FROM exchanges",
        (last.toordinal() if last else None,),
    ).fetchone()
    (feedback,) = db.execute(
        "SELECT count(*) FROM exchanges e LEFT JOIN said s ON s.name = e.name"
        " WHERE coalesce(s.feedback, e.feedback) IS NOT NULL"
    ).fetchone()
    best = dict(db.execute("SELECT metric, best FROM measures").fetchall())
    return Overview(
        n_exchanges=n,
        n_sampled=sampled or 0,
        n_judged=judged or 0,
        n_feedback=feedback,
        without_time=untimed or 0,
        in_future=late or 0,
        first=date.fromordinal(first) if first else None,
        last=last,
        metrics=[
            MetricMean(
                metric=cell.metric,
                judge=cell.judge,
                whole=point_of(cell.day, [cell]),
                best="none" if "=" in cell.metric else best.get(cell.metric, "highest"),
            )
            for cell in together(of_all)
        ],
    )


def together(cells: Iterable[Cell]) -> list[Cell]:
    """Return one cell for each tag, value, metric and judge, of all days: that of the last one."""
    found: dict[tuple[str, str, str, str], Cell] = {}
    for cell in cells:
        key = (cell.metric, cell.judge, cell.tag, cell.value)
        found[key] = _sum(found[key], cell) if key in found else cell
    return [found[key] for key in sorted(found)]


def _sum(one: Cell, other: Cell) -> Cell:
    sums = {name: getattr(one, name) + getattr(other, name) for name in ("n", "w", "wx", "w2", "w2x", "w2x2")}
    statuses = {
        name: one.statuses.get(name, 0) + other.statuses.get(name, 0)
        for name in {**one.statuses, **other.statuses}
    }
    return msgspec.structs.replace(one, day=max(one.day, other.day), statuses=statuses, **sums)
