"""The store -> how much the application is used, how long it takes and what it costs, day by day."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from ragstone.report.wording import count, plural, seconds, usd

MOST_DAYS = 184
"""Days of the log that are shown as days; of a longer one, weeks are."""


class UseOfPeriod(msgspec.Struct, frozen=True, kw_only=True):
    """The use of a day, of the week that begins with that Monday, or of the whole log from its first day.

    n: exchanges, judged or not. users, conversations: different ones, of those that the log names.
    latency_p50, latency_p95: seconds, of n_latency exchanges. tokens: the mean of n_tokens; usd: the sum of
    n_usd. What no exchange tells is None.
    """

    day: date
    n: int
    users: int | None
    conversations: int | None
    n_latency: int
    latency_p50: float | None
    latency_p95: float | None
    n_tokens: int
    tokens: float | None
    n_usd: int
    usd: float | None


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


def read_use(db: sqlite3.Connection, until: date | None) -> ApplicationUse:
    """Return the use of the exchanges that have a time, up to that day."""
    rows = [
        _UsedRow(*row)
        for row in db.execute(
            "SELECT e.day, u.user, u.conversation, u.latency_s, u.tokens, u.usd FROM exchanges e"
            " LEFT JOIN usage u ON u.exchange = e.n WHERE e.day <= ? ORDER BY e.day",
            (until.toordinal() if until else None,),
        )
    ]
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
    p50, p95 = np.quantile(latencies, (0.5, 0.95)).tolist() if latencies else (None, None)
    return UseOfPeriod(
        day=day,
        n=len(rows),
        users=_different(row.user for row in rows),
        conversations=_different(row.conversation for row in rows),
        n_latency=len(latencies),
        latency_p50=p50,
        latency_p95=p95,
        n_tokens=len(tokens),
        tokens=sum(tokens) / len(tokens) if tokens else None,
        n_usd=len(costs),
        usd=sum(costs) if costs else None,
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
        for n, noun in ((whole.users, "user"), (whole.conversations, "conversation"))
        if n is not None
    ]
    if people:
        words.append(("who asked", ", ".join(people)))
    if whole.latency_p50 is not None and whole.latency_p95 is not None:
        times = f"median {seconds(whole.latency_p50)}, 95 % within {seconds(whole.latency_p95)}"
        words.append(("latency", f"{times}, of {plural(whole.n_latency, 'exchange')}"))
    if whole.tokens is not None:
        words.append(("tokens", f"{whole.tokens:,.0f} an exchange, of {count(whole.n_tokens)}"))
    if whole.usd is not None:
        words.append(("cost", f"{usd(whole.usd)} of {plural(whole.n_usd, 'exchange')}"))
    return words
