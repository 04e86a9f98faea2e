"""A filter in words (see tables/where.py) -> a page of the index of traces.

Scores are those that the monitor keeps, and those that evaluators sent with the traces; a filter on a metric
holds where any of them meets it.
"""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import contextlib
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from ragstone.features.watch._trace_index import NOTHING_READ, SAID, IndexState, TraceRow, lines_of
from ragstone.features.watch.store import FILE, FORMAT
from ragstone.kernel.runs.notes import Note, note_columns
from ragstone.kernel.tables.interchange.trace_filter import TRACE_COLUMNS
from ragstone.kernel.tables.where import (
    ColumnTest,
    Combination,
    Condition,
    Kind,
    Negation,
    bound,
    folded,
    holds,
)

Order = Literal["time", "duration", "tokens", "cost", "errors"]
NOTED = ("notes", "note_tags")
Values = list[str | float | bool | None]


class TraceScore(NamedTuple):
    """A score of a trace. by: the judge with its model, or `sent` for what came with the trace."""

    metric: str
    score: float | None
    label: str | None
    by: str


class TracePage(NamedTuple):
    """A page of traces. n: that meet the filter; of: all. at: the page, from 1."""

    rows: list[TraceRow]
    n: int
    of: int
    at: int


class TraceTotals(NamedTuple):
    """Sums over traces; tokens: of the n_counted that tell them; cost: of the n_priced that tell it."""

    n: int
    failed: int
    tokens: int
    n_counted: int
    cost: float
    n_priced: int


@contextlib.contextmanager
def with_scores(con: sqlite3.Connection, monitor: Path) -> Iterator[bool]:
    """Let queries see the scores of the monitor's store; gives whether there is one that can be read."""
    path = monitor / FILE
    there = False
    if path.is_file():
        with contextlib.suppress(sqlite3.Error):
            con.execute("ATTACH DATABASE ? AS monitor", (str(path),))
            (version,) = con.execute("PRAGMA monitor.user_version").fetchone()
            there = version == FORMAT
    yield there


class TraceQuery:
    """Asks one connection. has_monitor: see with_scores. notes: on traces. state: how far the index is."""

    def __init__(
        self,
        con: sqlite3.Connection,
        notes: Sequence[Note],
        *,
        has_monitor: bool,
        state: IndexState = NOTHING_READ,
    ) -> None:
        self.notes, self.state = notes, state
        self._con, self._has_monitor = con, has_monitor
        metrics = [name for (name,) in con.execute("SELECT DISTINCT name FROM evaluations ORDER BY name")]
        if has_monitor:
            metrics += [name for (name,) in con.execute("SELECT DISTINCT metric FROM monitor.measures")]
        self.metrics = {
            f"scores.{name}" if name in TRACE_COLUMNS or name in NOTED else name: name
            for name in dict.fromkeys(metrics)
        }

    @property
    def columns(self) -> dict[str, Kind]:
        """What a filter may ask, by name."""
        kinds: dict[str, Kind] = {**TRACE_COLUMNS}
        kinds |= dict.fromkeys(self.metrics, "number")
        return kinds | (dict.fromkeys(NOTED, "text") if self.notes else {})

    def page(self, where: str | Condition, order: Order, *, rising: bool, at: int, size: int) -> TracePage:
        """Return a page of what a filter leaves, empty for none. Raises DataError, see tables/where.py."""
        source, values = self._source(where)
        (of,) = self._con.execute("SELECT count(*) FROM traces").fetchone()
        # None is SQLite's least: it comes last by itself, by an index, unless the least is to be first.
        ends = f"t.{order} IS NULL, t.{order}, t.n" if rising else f"t.{order} DESC, t.n DESC"
        query = f"SELECT t.n FROM {source} ORDER BY {ends}"
        if values or "WHERE" in source:
            # Numbers alone, all of them: a second scan of the texts to count them would take longer.
            numbers = self._con.execute(query, values).fetchall()
            n = len(numbers)
            at = min(max(1, at), max(1, -(-n // size)))
            on_page = numbers[(at - 1) * size : at * size]
        else:
            n, at = of, min(max(1, at), max(1, -(-of // size)))
            on_page = self._con.execute(f"{query} LIMIT ? OFFSET ?", (size, (at - 1) * size)).fetchall()
        return TracePage(self.rows([number for (number,) in on_page]), n, of, at)

    def ids(self, where: str, most: int) -> list[str]:
        """Return the ids of what a filter leaves, the newest first, at most so many. Raises DataError."""
        source, values = self._source(where)
        rows = self._con.execute(f"SELECT t.id FROM {source} ORDER BY t.time DESC LIMIT ?", [*values, most])
        return [trace for (trace,) in rows]

    def totals(self, where: str | Condition) -> TraceTotals:
        """Return the sums over what a filter leaves. Raises DataError."""
        source, values = self._source(where)
        row = self._con.execute(
            "SELECT count(*), coalesce(sum(failed), 0), coalesce(sum(tokens), 0), count(tokens),"
            f" coalesce(sum(cost), 0.0), count(cost) FROM {source}",
            values,
        ).fetchone()
        return TraceTotals(*row)

    def named(self, trace_ids: Sequence[str]) -> list[TraceRow]:
        """Return the traces with these ids that are there, in their order."""
        numbers = [
            row[0]
            for trace in trace_ids
            if (row := self._con.execute("SELECT n FROM traces WHERE id = ?", (trace,)).fetchone())
        ]
        return self.rows(numbers)

    def lines(self, trace_id: str) -> list[bytes]:
        """Return the lines that hold spans of a trace. Raises DataError."""
        return lines_of(self._con, trace_id)

    def rows(self, numbers: Sequence[int]) -> list[TraceRow]:
        """Return traces by their numbers."""
        decode = msgspec.json.Decoder(TraceRow).decode
        marks = ",".join("?" * len(numbers))
        views = dict(self._con.execute(f"SELECT n, view FROM views WHERE n IN ({marks})", numbers).fetchall())
        return [decode(views[n]) for n in numbers if n in views]

    def services(self) -> list[tuple[str, int]]:
        """Return the services by how many traces they have."""
        rows = self._con.execute(
            "SELECT max(n), count(*) c FROM traces WHERE service IS NOT NULL GROUP BY service ORDER BY c DESC"
            " LIMIT 100"
        ).fetchall()
        return [(self.rows([n])[0].service or "", count) for n, count in rows]

    def scores(self, trace_ids: Sequence[str]) -> dict[str, list[TraceScore]]:
        """Return id in small letters -> its scores."""
        by_trace: dict[str, list[TraceScore]] = defaultdict(list)
        marks = ",".join("?" * len(trace_ids))
        rows = self._con.execute(
            "SELECT t.id, e.name, e.score, e.label FROM evaluations e JOIN traces t ON t.n = e.trace"
            f" WHERE t.id IN ({marks})",
            list(trace_ids),
        ).fetchall()
        for trace, metric, score, label in rows:
            by_trace[trace.lower()].append(TraceScore(metric, score, label, "sent"))
        if self._has_monitor:
            rows = self._con.execute(
                "SELECT e.name, m.metric, s.score, l.label, m.judge || ' ' || m.model"
                " FROM monitor.exchanges e"
                " JOIN monitor.scores s ON s.exchange = e.n JOIN monitor.measures m ON m.n = s.measure"
                f" LEFT JOIN monitor.labels l ON l.n = s.label WHERE e.name IN ({marks})"
                " ORDER BY m.metric, m.judge",
                list(trace_ids),
            ).fetchall()
            for trace, *score in rows:
                by_trace[trace.lower()].append(TraceScore(*score))
        return by_trace

    def _source(self, where: str | Condition) -> tuple[str, Values]:
        """Return the traces `t` that a filter leaves, as a query takes them after FROM."""
        if isinstance(where, str):
            if not where.strip():
                return "traces t", []
            where = bound(where, self.columns)
        test, values = self._written(where)
        texts = " JOIN texts x ON x.n = t.n" if "x." in test else ""
        return f"traces t{texts} WHERE {test}", values

    def _written(self, condition: Condition) -> tuple[str, Values]:
        match condition:
            case Combination(every, parts):
                queries = [self._written(part) for part in parts]
                word = " AND " if every else " OR "
                return f"({word.join(query for query, _ in queries)})", [v for _, vs in queries for v in vs]
            case Negation(part):
                query, values = self._written(part)
                return f"NOT {query}", values
            case ColumnTest():
                return self._compared(condition)

    def _compared(self, test: ColumnTest) -> tuple[str, Values]:
        """Return a comparison: `!=` is the opposite of `=`, and `in` is any of several `=`."""
        sign = "=" if test.sign in ("in", "!=") else test.sign
        alone = [msgspec.structs.replace(test, sign=sign, values=(value,)) for value in test.values]
        queries = [self._is_so(each) for each in alone]
        query, values = " OR ".join(query for query, _ in queries), [v for _, vs in queries for v in vs]
        return f"{'NOT ' if test.sign == '!=' else ''}({query})", values

    def _is_so(self, asked: ColumnTest) -> tuple[str, Values]:
        column, (value,) = asked.column, asked.values
        if column in self.metrics:
            return self._scored(self.metrics[column], asked)
        if column in NOTED:
            cells = [(note.question_id, note_columns([note], note.system or "")) for note in self.notes]
            ids = [trace for trace, row in cells if row[column] and (value is None or holds(asked, row))]
            query = f"t.id IN ({','.join('?' * len(ids))})"
            return (f"NOT {query}" if value is None else query), [*ids]
        if column == "text":  # any of the texts is so
            columns = (*SAID, "name", "error")
            parts = [self._is_so(msgspec.structs.replace(asked, column=each)) for each in columns]
            word = " AND " if value is None else " OR "
            return f"({word.join(query for query, _ in parts)})", [v for _, values in parts for v in values]
        inside = f"{'x' if column in SAID else 't'}.{column}"
        if value is None:
            test, values = f"{inside} IS NULL", Values()
        elif asked.sign == "~":
            test, values = f"coalesce(instr({inside}, ?) > 0, 0)", [folded(str(value))]
        else:
            test = f"coalesce({inside} {asked.sign} ?, 0)"
            values = [folded(value) if isinstance(value, str) else value]
        return test, values

    def _scored(self, metric: str, asked: ColumnTest) -> tuple[str, Values]:
        (value,) = asked.values
        test = "score IS NOT NULL" if value is None else f"score {asked.sign} ?"
        values: Values = [metric] if value is None else [metric, value]
        query = f"t.n IN (SELECT trace FROM evaluations WHERE name = ? AND {test})"
        if self._has_monitor:
            query += (
                " OR t.id IN (SELECT e.name FROM monitor.exchanges e"
                " JOIN monitor.scores s ON s.exchange = e.n"
                f" JOIN monitor.measures m ON m.n = s.measure WHERE m.metric = ? AND s.{test})"
            )
            values *= 2
        return (f"NOT ({query})" if value is None else f"({query})"), values
