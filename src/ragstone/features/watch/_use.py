"""The store -> how much the application is used, how long it takes and what it costs, day by day.

Alarms look for changes in means from 0 to 1, see streams.py. So a time or an amount is told by its place
between two ends, on a scale of logarithms: what an alarm shows is the geometric mean, which one answer that
took an hour does not move.
"""

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import groupby
from operator import attrgetter
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._judged import LOG
from ragstone.features.watch._streams import Level
from ragstone.kernel.document.numbers import count, percent, seconds, usd
from ragstone.kernel.errors import plural
from ragstone.kernel.statistics.intervals import Floats

MOST_DAYS = 184
"""Days of the log that are shown as days; of a longer one, weeks are."""


class UseOfPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """The use of a day, of the week that begins with that Monday, or of the whole log from its first day.

    n: exchanges, judged or not. users, conversations: different ones, which n_user and n_conversation of the
    exchanges name. latency_p50, latency_p95: seconds, of n_latency exchanges. tokens: the mean of n_tokens;
    usd: the sum of n_usd. calls: of tools; failed_share: the share of them that failed. What no exchange
    tells is None.
    """

    day: date
    n: int
    users: int | None
    conversations: int | None
    n_user: int = 0
    n_conversation: int = 0
    n_latency: int
    latency_p50: float | None
    latency_p95: float | None
    n_tokens: int
    tokens: float | None
    n_usd: int
    usd: float | None
    calls: int = 0
    failed_share: float | None = None


class ApplicationUse(msgspec.Struct, frozen=True, kw_only=True):
    """The whole log, None for an empty one, and its days or weeks by time."""

    whole: UseOfPeriod | None
    span: Literal["day", "week"]
    periods: list[UseOfPeriod]


class _UsedRow(NamedTuple):
    day: int
    user: str | None
    conversation: str | None
    latency_s: float | None
    tokens: int | None
    usd: float | None
    calls: int | None
    failed: int | None


def _rows_until(db: sqlite3.Connection, until: date | None) -> Iterator[_UsedRow]:
    """Yield what is known of the exchanges that have a time, up to that day, by their days."""
    rows = db.execute(
        "SELECT e.day, u.user, u.conversation, u.latency_s, u.tokens, u.usd, t.calls, t.failed"
        " FROM exchanges e LEFT JOIN usage u ON u.exchange = e.n LEFT JOIN tools t ON t.exchange = e.n"
        " WHERE e.day <= ? ORDER BY e.day",
        (until.toordinal() if until else None,),
    )
    return (_UsedRow(*row) for row in rows)


def read_use(db: sqlite3.Connection, until: date | None) -> ApplicationUse:
    """Return the use of the exchanges that have a time, up to that day."""
    rows = [*_rows_until(db, until)]
    weekly = len({row.day for row in rows}) > MOST_DAYS
    parts: dict[date, list[_UsedRow]] = {}
    for row in rows:
        day = date.fromordinal(row.day)
        parts.setdefault(day - timedelta(days=day.weekday()) if weekly else day, []).append(row)
    return ApplicationUse(
        whole=_use_of(date.fromordinal(rows[0].day), rows) if rows else None,
        span="week" if weekly else "day",
        periods=[_use_of(day, some) for day, some in parts.items()],
    )


def _use_of(day: date, rows: Sequence[_UsedRow]) -> UseOfPeriod:
    latencies = [row.latency_s for row in rows if row.latency_s is not None]
    tokens = [row.tokens for row in rows if row.tokens is not None]
    costs = [row.usd for row in rows if row.usd is not None]
    calls = sum(row.calls or 0 for row in rows)
    p50, p95 = np.quantile(latencies, (0.5, 0.95)).tolist() if latencies else (None, None)
    return UseOfPeriod(
        day=day,
        n=len(rows),
        users=_different(row.user for row in rows),
        conversations=_different(row.conversation for row in rows),
        n_user=sum(row.user is not None for row in rows),
        n_conversation=sum(row.conversation is not None for row in rows),
        n_latency=len(latencies),
        latency_p50=p50,
        latency_p95=p95,
        n_tokens=len(tokens),
        tokens=sum(tokens) / len(tokens) if tokens else None,
        n_usd=len(costs),
        usd=sum(costs) if costs else None,
        calls=calls,
        failed_share=sum(row.failed or 0 for row in rows) / calls if calls else None,
    )


def _different(names: Iterable[str | None]) -> int | None:
    return len(set(names) - {None}) or None


def use_words(whole: UseOfPeriod | None) -> list[tuple[str, str]]:
    """Return what is known of the use, with its denominators: (name, words)."""
    if whole is None:
        return []
    words = []
    people = [
        plural(n, noun)
        + (f" (named by {count(named)} of {plural(whole.n, 'exchange')})" if named < whole.n else "")
        for n, noun, named in (
            (whole.users, "user", whole.n_user),
            (whole.conversations, "conversation", whole.n_conversation),
        )
        if n is not None
    ]
    if people:
        words.append(("who asked", ", ".join(people)))
    if whole.latency_p50 is not None and whole.latency_p95 is not None:
        times = f"median {seconds(whole.latency_p50)}, 95th percentile {seconds(whole.latency_p95)}"
        words.append(("latency", f"{times}, of {plural(whole.n_latency, 'exchange')}"))
    if whole.tokens is not None:
        words.append(("tokens", f"{whole.tokens:,.0f} per exchange, of {count(whole.n_tokens)}"))
    if whole.usd is not None:
        words.append(("cost", f"{usd(whole.usd)} of {plural(whole.n_usd, 'exchange')}"))
    if whole.failed_share is not None:
        words.append(("tools", f"{percent(whole.failed_share)} of {plural(whole.calls, 'call')} failed"))
    return words


class UseMetric(msgspec.Struct, frozen=True, kw_only=True):
    """What a day is watched for. low, high: the ends of its scale; best: which of them is the good one.

    shown: words for a value in its own unit.
    """

    low: float
    high: float
    best: Literal["highest", "middle", "lowest"]
    shown: Callable[[float], str]

    def place(self, values: Floats) -> Floats:
        """Return places from 0 to 1 of values on the scale; those beyond an end are at it."""
        held = np.clip(values, self.low, self.high)
        return np.asarray(np.log(held / self.low) / np.log(self.high / self.low))

    def value(self, place: float) -> float:
        """Return the value at a place from 0 to 1."""
        return float(self.low * (self.high / self.low) ** place)


FAILED_CALLS = "failed_tool_calls"
USE_METRICS: Mapping[str, UseMetric] = {
    "latency_s": UseMetric(low=0.01, high=1e3, best="lowest", shown=seconds),
    "tokens": UseMetric(low=1.0, high=1e6, best="middle", shown=lambda value: f"{value:,.0f}"),
    "cost_usd": UseMetric(low=1e-6, high=10.0, best="lowest", shown=usd),
    "users": UseMetric(low=1.0, high=1e6, best="highest", shown=lambda value: f"{value:,.0f} per day"),
}
"""Of an answer, and how many users there are a day. A share, as that of failed calls, needs no scale."""
USE_BEST = {name: metric.best for name, metric in USE_METRICS.items()} | {FAILED_CALLS: "lowest"}


def unit_of(metric: str, judge: str) -> UseMetric | None:
    """Return the unit of what the log tells; None for a share, and for what a judge says."""
    return USE_METRICS.get(metric) if judge == LOG else None


def own_unit(metric: str, judge: str, level: Level) -> Level:
    """Return the mean of a stream in the unit of what the log tells; those of judges as they are."""
    known = unit_of(metric, judge)
    if known is None:
        return level
    low, high = (None if end is None else known.value(end) for end in (level.low, level.high))
    return Level(mean=known.value(level.mean), low=low, high=high, n=level.n)


def use_cells(db: sqlite3.Connection, until: date | None) -> list[DayCell]:
    """Return what the log tells of each day up to that one, for alarms: all exchanges count, judged or not.

    Users count as many as they are, as their number does by chance; the share of failed calls by its calls.
    An answer that cost nothing has no cost.
    """
    cells = []
    for day, group in groupby(_rows_until(db, until), key=attrgetter("day")):
        rows = [*group]
        values_of = {
            "latency_s": [row.latency_s for row in rows if row.latency_s is not None],
            "tokens": [row.tokens for row in rows if row.tokens],
            "cost_usd": [row.usd for row in rows if row.usd],
        }
        users = _different(row.user for row in rows) or 0
        values_of["users"] = [users] * users
        calls = np.array([(row.calls, row.failed) for row in rows if row.calls], dtype=float).reshape(-1, 2)
        today = date.fromordinal(day)
        cells += [use_cell(today, name, np.array(values)) for name, values in values_of.items() if values]
        cells += [use_cell(today, FAILED_CALLS, calls[:, 1], calls[:, 0])] if len(calls) else []
    return cells


def use_cell(day: date, metric: str, values: Floats, of: Floats | None = None) -> DayCell:
    """Return what the log tells of a day as a cell.

    values: a number of each exchange in the metric's own unit; of FAILED_CALLS how many failed, of so many.
    """
    w = np.ones(len(values)) if of is None else of
    x = USE_METRICS[metric].place(values) if of is None else values / of
    return DayCell(
        day=day,
        tag="",
        value="",
        metric=metric,
        judge=LOG,
        n=len(w),
        w=math.fsum(w),
        wx=math.fsum(w * x),
        w2=math.fsum(w * w),
        w2x=math.fsum(w * w * x),
        w2x2=math.fsum(w * w * x * x),
    )
