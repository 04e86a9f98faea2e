"""What is asked of the index of a run: a page of its questions, those that filters leave, in an order."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import STATUSES
from ragstone.kernel.runs.embedded import ColumnView, LineView
from ragstone.kernel.runs.notes import Note
from ragstone.kernel.serve.rows.filtering import (
    OwnColumns,
    Query,
    Value,
    pairs_that,
    places_that,
    run_columns,
    sort_keys,
)
from ragstone.kernel.serve.rows.indexing import CODES, KIND_CODES, SEARCHED
from ragstone.kernel.tables.where import Kind, conditions_in, folded

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    from numpy.typing import NDArray

Span = tuple[str, int, int]
"""Where a row stands: kind of row, first byte in the file of that kind, bytes."""
A_PAGE = 50
MOST_GROUPS = 40  # offered in the menu, as in the report: a longer menu is worse than the search

SCORED = f"status = {CODES['scored']}"
ON_SCALE = f"{SCORED} AND NOT isnan(c.low)"  # NaN is what an index has for none, and DuckDB's greatest number
MIDDLE = "(c.low + c.high) / 2"
RESULTS = {
    "low": f"{ON_SCALE} AND score < {MIDDLE}",
    "high": f"{ON_SCALE} AND score >= {MIDDLE}",
    "unscored": f"NOT {SCORED}",
    **{f"is-{status}": f"status = {code}" for status, code in CODES.items()},
}
WITH_WORD = f"""place IN (
    SELECT place FROM texts WHERE name IN ('{SEARCHED}', 'question_id', 'answer') AND contains(value, ?))"""  # noqa: S608
FOUND = {"found": "found > 0", "first": "found = 1", "missed": "found = 0", "unknown": "found = -1"}
# As the report sorts: what has no score comes last, whichever way.
ORDERS = {
    "file": "place",
    "lowest": "share ASC NULLS LAST, place",
    "highest": "share DESC NULLS LAST, place",
    "rank": "CASE found WHEN 0 THEN 1e9 WHEN -1 THEN -1e9 ELSE found END DESC, place",
}


class RowFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for; the words are those of the report's menus.

    judge: number of a column, or None for every judge that asks a model (every one where none does). low,
    high: ends of the score, in the judge's units. tag, value: a group of questions. where: a filter in words,
    see tables/where.py. order: one of ORDERS, or the name of a column of the joined table, with `-` before it
    from the highest down; of several systems the first in that order counts. page: from 0.
    """

    judge: int | None = None
    result: str = "any"
    found: str = "any"
    tag: str = ""
    value: str = ""
    cause: str = "any"
    text: str = ""
    where: str = ""
    low: float | None = None
    high: float | None = None
    order: str = "file"
    at: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0

    def judges_among(self, columns: Sequence[ColumnView]) -> list[int]:
        """Return the numbers of the judges that the menus ask. Raises DataError."""
        if self.judge is not None:
            if not 0 <= self.judge < len(columns):
                raise DataError("There is no such judge in this run: reload the run's page.")
            return [self.judge]
        by_model = [at for at, column in enumerate(columns) if column.model != "none"]
        return by_model or list(range(len(columns)))


class Lines(msgspec.Struct, frozen=True, kw_only=True):
    """A page of lines. n: questions that fit; of: all. results: result -> questions that have it.

    conditions: of the filter in words, those that must all hold.
    """

    lines: list[LineView]
    n: int
    of: int
    page: int
    results: dict[str, int]
    conditions: list[str] = []


class RowsHead(msgspec.Struct, frozen=True, kw_only=True):
    """What the list of a run's questions needs once: the judges, and what can be chosen.

    groups: (key, value, questions), the largest; n_groups: of all. causes: with their questions. filters:
    name -> kind of what a filter in words may ask.
    """

    columns: list[ColumnView]
    groups: list[tuple[str, str, int]]
    n_groups: int
    causes: list[tuple[str, int]]
    filters: dict[str, Kind]


class RowPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a question is among those that a filter leaves.

    at: from 1, None where it is not among them. n: questions that fit; of: all. before, after: ids of its
    neighbours; of a question that is not among them, `after` is the first that is.
    """

    at: int | None
    n: int
    of: int
    before: str | None = None
    after: str | None = None


class RowIndex:
    """The index of a run, open: all that is asked of it. con: a cursor on it.

    notes: of the run as they are now; an index holds none, so that a new one does not make it again.
    """

    def __init__(self, con: "duckdb.DuckDBPyConnection", notes: Sequence[Note] = ()) -> None:
        self.con, self.notes = con, notes

    @cached_property
    def own(self) -> OwnColumns:
        """What a filter may ask of these rows, and the judge of each column of scores."""
        return run_columns(self.con, self.notes)

    def columns(self, summarised: Sequence[ColumnView]) -> list[ColumnView]:
        """Return the columns by number, with what the summary of the run tells of them."""
        known = {(column.system, column.judge, column.metric, column.model): column for column in summarised}
        rows = self.con.execute(
            "SELECT system, judge, metric, model, low, high FROM columns ORDER BY col"
        ).fetchall()
        return [
            known.get((system, judge, metric, model))
            or ColumnView(
                system=system, judge=judge, metric=metric, model=model, low=_number(low), high=_number(high)
            )
            for system, judge, metric, model, low, high in rows
        ]

    def head(self, summarised: Sequence[ColumnView]) -> RowsHead:
        """Return the judges, and what the menus of groups and causes offer."""
        rows = self.con.execute(
            "SELECT name, value, count(*) n FROM groups GROUP BY ALL ORDER BY n DESC, min(place)"
        ).fetchall()
        keys = sorted({name for name, _, _ in rows}, key=lambda name: (name != "lang", name))
        largest = sorted(rows[:MOST_GROUPS], key=lambda row: (keys.index(row[0]), -row[2]))
        causes = self.con.execute(
            "SELECT cause, count(*) n FROM causes GROUP BY ALL ORDER BY n DESC, min(place)"
        ).fetchall()
        return RowsHead(
            columns=self.columns(summarised),
            groups=largest,
            n_groups=len(rows),
            causes=causes,
            filters=self.own[0].kinds,
        )

    def lines(self, chosen: RowFilter, columns: Sequence[ColumnView]) -> Lines:
        """Return a page of lines. Raises DataError for a filter that there is not."""
        places = chosen.judges_among(columns)
        judged, values = self._judged(chosen, places)
        (n,) = self._counts(judged.format("count(*)"), values)
        page = min(max(chosen.at, 0), max(0, -(-n // A_PAGE) - 1))
        order, of_order = self._order(chosen.order)
        paged = f"{judged.format('place')} ORDER BY {order} LIMIT {A_PAGE} OFFSET {page * A_PAGE}"
        on_page = [at for (at,) in self.con.execute(paged, [*values, *of_order]).fetchall()]
        (of,) = self._counts("SELECT count(*) FROM lines")
        return Lines(
            lines=self.lines_at(on_page, len(columns)),
            n=n,
            of=of,
            page=page,
            results=self._results(places, of),
            conditions=conditions_in(chosen.where, self.own[0].kinds) if chosen.where else [],
        )

    def lines_at(self, places: Sequence[int], n_columns: int) -> list[LineView]:
        """Return the lines of questions, in this order, with their cells."""
        if not places:
            return []
        wanted = _listed(places)
        texts = self.con.execute(
            f"SELECT place, id, question, preview, tags, lang, found FROM lines WHERE place IN ({wanted})"  # noqa: S608
        ).fetchall()
        causes: dict[int, list[str]] = {}
        of_causes = f"SELECT place, cause FROM causes WHERE place IN ({wanted})"  # noqa: S608
        for at, cause in self.con.execute(of_causes).fetchall():
            causes.setdefault(at, []).append(cause)
        cells: dict[int, list[float | str | None]] = {at: [None] * n_columns for at in places}
        of_cells = f"SELECT place, col, status, score FROM cells WHERE place IN ({wanted})"  # noqa: S608
        for at, column, status, score in self.con.execute(of_cells).fetchall():
            cells[at][column] = score if status == CODES["scored"] else STATUSES[status]
        lines = {
            at: LineView(
                id=name,
                cells=cells[at],
                question=question,
                preview=preview,
                tags=msgspec.json.decode(tags, type=dict[str, str]) if tags else None,
                lang=lang,
                found=None if rank < 0 else rank,
                causes=causes.get(at),
            )
            for at, name, question, preview, tags, lang, rank in texts
        }
        return [lines[at] for at in places]

    def place_among(self, chosen: RowFilter, columns: Sequence[ColumnView], question_id: str) -> RowPlace:
        """Return where a question is in the order of a filter. Raises DataError."""
        judged, values = self._judged(chosen, chosen.judges_among(columns))
        order, of_order = self._order(chosen.order)
        numbered = judged.format(f"id, row_number() OVER (ORDER BY {order}) AS rank")
        row = self.con.execute(
            f"WITH numbered AS ({numbered}), mine AS (SELECT max(rank) AS rank FROM numbered WHERE id = ?) "  # noqa: S608
            "SELECT mine.rank, (SELECT count(*) FROM numbered), (SELECT count(*) FROM lines), "
            "(SELECT id FROM numbered WHERE rank = mine.rank - 1), "
            "(SELECT id FROM numbered WHERE rank = coalesce(mine.rank, 0) + 1) FROM mine",
            [*of_order, *values, question_id],
        ).fetchone()
        at, n, of, before, after = row or (None, 0, 0, None, None)
        return RowPlace(at=at, n=n, of=of, before=before, after=after)

    def place_of(self, question_id: str) -> int | None:
        """Return the place of a question in the order of the file; None where there is none."""
        row = self.con.execute("SELECT place FROM lines WHERE id = ?", [question_id]).fetchone()
        return row[0] if row else None

    def page_of(self, question_id: str) -> int | None:
        """Return the page of a question in the order of the file; None where there is no such question."""
        at = self.place_of(question_id)
        return None if at is None else at // A_PAGE

    def answers_left(self, where: str) -> list[tuple[str, str]]:
        """Return question id and system of the answers that a filter in words leaves, all for an empty one.

        Raises DataError.
        """
        condition, values = self.condition(where, self.own[0].kinds if where.strip() else {})
        query = (
            f"SELECT l.id, r.system FROM pairs r JOIN lines l USING (place) WHERE {condition} "  # noqa: S608
            "ORDER BY r.place, r.system"
        )
        return self.con.execute(query, values).fetchall()

    def condition(self, where: str, kinds: Mapping[str, Kind]) -> Query:
        """Return the condition on a pair `r` that a filter in words leaves it; true for an empty one."""
        if not where.strip():
            return "true", []
        return pairs_that(self.own, where, self.notes, kinds)

    def sort_keys(self, column: str) -> Query:
        """Return the query of place, system and `k`, what the pairs are sorted by, as sort_keys does."""
        return sort_keys(self.own, column)

    def places_holding(self, text: str) -> "NDArray[np.int64]":
        """Return the places of the questions in which every word of a search is."""
        condition, words = _holding(text)
        query = f"SELECT place FROM lines WHERE {condition}"  # noqa: S608 - texts are ?
        places: NDArray[np.int64] = self.con.execute(query, words).fetchnumpy()["place"].astype("int64")
        return places

    def passed(self, column: int, *, lowest: bool) -> "tuple[NDArray[np.int64], NDArray[np.int8]]":
        """Return the places that a judge scored on a known scale, and 1 where it passes one, else 0.

        It passes what is at or above the middle of the scale; lowest: at or below it.
        """
        rows = self.con.execute(
            f"SELECT place, (score {'<=' if lowest else '>='} {MIDDLE})::TINYINT AS passed "  # noqa: S608
            f"FROM cells JOIN columns c USING (col) WHERE col = ? AND {ON_SCALE}",
            [column],
        ).fetchnumpy()
        return rows["place"], rows["passed"]

    def files(self) -> dict[str, Path]:
        """Return the files of the run's rows, by kind."""
        return {
            kind: Path(path) for kind, path in self.con.execute("SELECT kind, path FROM sources").fetchall()
        }

    def spans(self, places: Sequence[int], kind: str | None = None) -> list[Span]:
        """Return where the rows of questions stand in the files, in order. kind: of these rows alone."""
        of_kind = "" if kind is None else f"kind = {KIND_CODES[kind]} AND"
        return self._spans(
            f"SELECT kind, start, size FROM spans WHERE {of_kind} place IN (SELECT unnest(?)) ORDER BY start",  # noqa: S608
            [list(places)],
        )

    def spans_named(self, kind: str, ids: Sequence[str]) -> list[Span]:
        """Return where documents or chunks stand in their file, as far as there are any of these ids."""
        return self._spans(
            "SELECT kind, start, size FROM named WHERE kind = ? AND id IN (SELECT unnest(?))",
            [KIND_CODES[kind], list(ids)],
        )

    def _spans(self, query: str, values: list[object]) -> list[Span]:
        kinds = list(KIND_CODES)
        return [
            (kinds[code], start, size) for code, start, size in self.con.execute(query, values).fetchall()
        ]

    def _judged(self, chosen: RowFilter, places: Sequence[int]) -> Query:
        """Return the query of the lines that a filter leaves, what it selects being `{}`; and its values."""
        where, values = self._where(chosen, len(places))
        judged = f"""WITH judged AS (
            SELECT place, min(share) FILTER ({SCORED}) AS share, count(*) AS n_judged,
                bool_or({_hit(chosen)}) AS hit
            FROM cells JOIN columns c USING (col) WHERE col IN ({_listed(places)}) GROUP BY place
        ) SELECT {{}} FROM lines LEFT JOIN judged USING (place) WHERE {where}"""  # noqa: S608 - texts are ?
        return judged, values

    def _where(self, chosen: RowFilter, n_columns: int) -> Query:
        """Return the conditions on lines, and the values of their places."""
        conditions, values = ["true"], list[Value]()
        if chosen.result == "absent":
            conditions.append(f"coalesce(n_judged, 0) < {n_columns}")
        if _hit(chosen) != "true":
            conditions.append("coalesce(hit, false)")
        if chosen.found != "any":
            conditions.append(_of("found", FOUND, chosen.found))
        if chosen.tag:
            conditions.append("place IN (SELECT place FROM groups WHERE name = ? AND value = ?)")
            values += [chosen.tag, chosen.value]
        if chosen.cause != "any":
            conditions.append("place IN (SELECT place FROM causes WHERE cause = ?)")
            values.append(chosen.cause)
        words, said = _holding(chosen.text)
        conditions.append(words)
        values += said
        if chosen.where.strip():
            places, asked = places_that(self.own, chosen.where, self.notes)
            conditions.append(f"place IN ({places})")
            values += asked
        return " AND ".join(conditions), values

    def _order(self, order: str) -> Query:
        """Return what questions are ordered by, and the values of its places. Raises DataError."""
        if order in ORDERS:
            return ORDERS[order], []
        column = order.removeprefix("-")
        if column not in self.own[0].kinds:
            _of("order", ORDERS, order)
        keys, values = self.sort_keys(column)
        least, direction = ("max", "DESC") if order.startswith("-") else ("min", "ASC")
        of_place = f"(SELECT {least}(k) FROM ({keys}) o WHERE o.place = lines.place)"  # noqa: S608 - texts are ?
        return f"{of_place} {direction} NULLS LAST, place", values

    def _results(self, places: Sequence[int], n_lines: int) -> dict[str, int]:
        """Return how many questions have each result by the chosen judges, as the menu offers them."""
        if not places:
            return {}
        hits = ", ".join(f"bool_or({condition}) AS r{at}" for at, condition in enumerate(RESULTS.values()))
        counts = ", ".join(f"count(*) FILTER (r{at})" for at in range(len(RESULTS)))
        *row, whole = self._counts(
            f"SELECT {counts}, count(*) FILTER (n = {len(places)}) FROM (SELECT place, count(*) AS n, {hits} "  # noqa: S608
            f"FROM cells JOIN columns c USING (col) WHERE col IN ({_listed(places)}) GROUP BY place)"
        )
        by_result = {**dict(zip(RESULTS, row, strict=True)), "absent": n_lines - whole}
        return {name: n for name, n in by_result.items() if n}

    def _counts(self, query: str, values: Sequence[Value] = ()) -> tuple[int, ...]:
        row = self.con.execute(query, values).fetchone()
        if row is None:
            raise ValueError("an aggregate has one row")
        return row


def _hit(chosen: RowFilter) -> str:
    hits = [_of("result", RESULTS, chosen.result)] if chosen.result not in ("any", "absent") else []
    for sign, end in ((">=", chosen.low), ("<=", chosen.high)):
        if end is not None:
            if not math.isfinite(end):
                raise DataError(f"The score {end} is not a number: give one such as 0.5.")
            hits.append(f"{SCORED} AND score {sign} {end!r}")
    return " AND ".join(hits) or "true"


def _holding(text: str) -> tuple[str, list[str]]:
    """Return the condition on lines that every word of a search is in them, and the values of its places."""
    words = folded(text).split()
    return " AND ".join([WITH_WORD] * len(words)) or "true", words


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers)) or "-1"


def _of(what: str, offered: dict[str, str], name: str) -> str:
    if name not in offered:
        raise DataError(f"There is no {what} {name!r}. Choose one of: {', '.join(offered)}.")
    return offered[name]


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
