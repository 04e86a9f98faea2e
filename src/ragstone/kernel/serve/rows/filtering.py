"""A filter in words (see tables/where.py) -> SQL on the tables `pairs`, `texts` and `cells` of a run's index.

It means what the same filter means on the joined table of the run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import STATUSES
from ragstone.kernel.runs.filtering import ANYWHERE, FLIPS, FilterColumns, filter_columns
from ragstone.kernel.runs.joined_rows import JudgeKey, judge_names
from ragstone.kernel.runs.notes import Note, note_columns
from ragstone.kernel.serve.rows.indexing import CODES, NUMBERS, OF_SYSTEM, SEARCHED, TAG
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

if TYPE_CHECKING:
    import duckdb

Value = str | float | bool | None | list[str]
NOTED = ("notes", "note_tags")
Query = tuple[str, list[Value]]
"""A condition on a pair `r`, and the values of its places."""

SCORED = f"status = {CODES['scored']}"
FLIPPED = f"""r.place IN (SELECT place FROM (
    SELECT place FROM cells JOIN columns c USING (col) WHERE {SCORED} AND NOT isnan(c.low)
    GROUP BY place, judge, metric, model HAVING count(DISTINCT score >= (c.low + c.high) / 2) > 1))"""  # noqa: S608


IN_ANY_TEXT = f"""(r.place IN (SELECT place FROM texts WHERE system IS NULL
    AND name IN ('{SEARCHED}', 'question_id') AND contains(value, ?)) OR (r.place, r.system) IN
    (SELECT (place, system) FROM texts WHERE system IS NOT NULL
    AND name IN ('{SEARCHED}', '{OF_SYSTEM}', 'answer')
    AND contains(value, ?)))"""  # noqa: S608


OwnColumns = tuple[FilterColumns, dict[str, JudgeKey]]
"""What a filter may ask of the rows of a run, and the judge of each column of scores."""


def run_columns(con: "duckdb.DuckDBPyConnection", notes: Sequence[Note]) -> OwnColumns:
    """Return what a filter may ask of the rows of an index, and the judge of each column of scores."""
    keys = con.execute("SELECT judge, metric, model FROM columns ORDER BY col").fetchall()
    names = judge_names(keys)
    tags = con.execute(
        "SELECT name, min(place) FROM texts WHERE starts_with(name, ?) GROUP BY name ORDER BY 2, name", [TAG]
    ).fetchall()
    (several,) = con.execute("SELECT count(DISTINCT system) > 1 FROM pairs").fetchone() or (False,)
    (blamed,) = con.execute("SELECT count(*) > 0 FROM causes").fetchone() or (False,)
    tag_keys = [name.removeprefix(TAG) for name, _ in tags]
    columns = filter_columns(names.values(), tag_keys, blamed=blamed, several=several, noted=bool(notes))
    return columns, {name: key for key, name in names.items()}


def places_that(own: OwnColumns, text: str, notes: Sequence[Note]) -> Query:
    """Return the query of the questions of which a filter leaves a system. Raises DataError.

    own: the columns of the run. notes: of the run as they are now; an index holds none, so that a new one
    does not make it again.
    """
    where, values = pairs_that(own, text, notes, own[0].kinds)
    return f"SELECT r.place FROM pairs r WHERE {where}", values  # noqa: S608 - texts are ?


def pairs_that(own: OwnColumns, text: str, notes: Sequence[Note], kinds: Mapping[str, Kind]) -> Query:
    """Return the condition on a pair `r` that a filter leaves it. Raises DataError.

    own: the columns of the run. kinds: what the filter may ask, of this run and of others in the same table.
    A column that this run lacks is empty throughout.
    """
    columns, judges = own
    return _SqlWriter(columns, judges, notes).written(bound(text, kinds))


def sort_keys(own: OwnColumns, column: str) -> Query:
    """Return the query of place, system and `k`, what the pairs are sorted by.

    A pair without a value may lack. Texts are compared without regard to case, as in filters. Raises
    DataError for a column without an order.
    """
    columns, judges = own
    judge = column if column in judges else column.removesuffix("_status")
    if column not in columns.kinds:
        return "SELECT place, system, NULL AS k FROM pairs WHERE false", []
    if column in (*NOTED, ANYWHERE):
        raise DataError(
            f"Rows cannot be sorted by {column}: a row may have several texts there. Choose another column."
        )
    if column == FLIPS:
        return f"SELECT r.place, r.system, ({FLIPPED})::INTEGER AS k FROM pairs r", []  # noqa: S608
    if column in NUMBERS:
        known = f"WHERE NOT isnan(coalesce({column}, 'NaN'::DOUBLE))"
        return f"SELECT place, system, {column} AS k FROM pairs {known}", []  # noqa: S608 - our names
    if judge in judges:
        names = ", ".join(f"'{status}'" for status in STATUSES)
        key, hit = ("score", SCORED) if column == judge else (f"[{names}][status + 1]", "true")
        return (
            f"SELECT place, c.system AS system, min({key}) AS k FROM cells JOIN columns c USING (col) "  # noqa: S608
            f"WHERE judge = ? AND metric = ? AND model = ? AND {hit} GROUP BY ALL"
        ), [*judges[judge]]
    name = next((f"{TAG}{key}" for key, tag in columns.tags.items() if tag == column), column)
    return (
        "SELECT place, system, min(k) AS k FROM ("
        "SELECT r.place, r.system, value AS k FROM pairs r JOIN texts t USING (place) "
        "WHERE name = ? AND t.system IS NULL "
        "UNION ALL SELECT place, system, value FROM texts WHERE name = ? AND system IS NOT NULL) GROUP BY ALL"
    ), [name, name]


class _SqlWriter:
    """Writes conditions of one run."""

    def __init__(self, columns: FilterColumns, judges: dict[str, JudgeKey], notes: Sequence[Note]) -> None:
        self.judges = judges
        self.notes = notes
        self.kinds = columns.kinds
        self.texts = {name: f"{TAG}{key}" for key, name in columns.tags.items()}

    def written(self, condition: Condition) -> Query:
        match condition:
            case Combination(every, parts):
                queries = [self.written(part) for part in parts]
                word = " AND " if every else " OR "
                return f"({word.join(query for query, _ in queries)})", [v for _, vs in queries for v in vs]
            case Negation(part):
                query, values = self.written(part)
                return f"NOT {query}", values
            case ColumnTest():
                return self.compared(condition)

    def compared(self, asked: ColumnTest) -> Query:
        """Return a comparison: `!=` is the opposite of `=`, and `in` is any of several `=`."""
        if self.kinds.get(asked.column) != asked.kind:  # this run has no such column
            return ("true" if (None in asked.values) != (asked.sign == "!=") else "false"), []
        if asked.column == FLIPS:
            test = "false" if asked.values[0] is None else f"({FLIPPED}) = {asked.values[0]}"
            return (f"({test})" if asked.sign == "=" else f"NOT ({test})"), []
        sign = "=" if asked.sign in ("in", "!=") else asked.sign
        alone = [msgspec.structs.replace(asked, sign=sign, values=(value,)) for value in asked.values]
        queries = [self.is_so(each) for each in alone]
        query, values = " OR ".join(query for query, _ in queries), [v for _, vs in queries for v in vs]
        return f"{'NOT ' if asked.sign == '!=' else ''}({query})", values

    def is_so(self, asked: ColumnTest) -> Query:
        """Return a comparison with one value, by = < <= > >= or ~."""
        column, sign, (value,) = asked.column, asked.sign, asked.values
        judge = column if column in self.judges else column.removesuffix("_status")
        if column in NUMBERS:
            is_none = f"isnan(coalesce(r.{column}, 'NaN'::DOUBLE))"  # DuckDB takes the NaN of NumPy as null
            if value is None:
                return is_none, []
            return f"(NOT {is_none} AND r.{column} {sign} ?)", [float(value)]
        if column in self.judges:
            hit = f"{SCORED} AND score {sign} ?" if value is not None else SCORED
            return self.judged(judge, hit, [value] if value is not None else [], none=value is None)
        if judge in self.judges:
            name = folded(str(value))
            fit = [CODES[each] for each in STATUSES if (name in each if sign == "~" else name == each)]
            listed = ", ".join(map(str, fit)) or "-1"
            return self.judged(
                judge, "true" if value is None else f"status IN ({listed})", [], none=value is None
            )
        if column in NOTED:
            return self.noted(asked)
        if column == ANYWHERE:
            return IN_ANY_TEXT, [folded(str(value))] * 2
        name = self.texts.get(column, column)
        test = {"=": "value = ?", "~": "contains(value, ?)"}[sign] if value is not None else "true"
        has = f"name = ? AND {test}"
        query = (
            f"(r.place IN (SELECT place FROM texts WHERE system IS NULL AND {has}) OR "  # noqa: S608
            f"(r.place, r.system) IN (SELECT (place, system) FROM texts WHERE system IS NOT NULL AND {has}))"
        )
        values: list[Value] = [name] if value is None else [name, folded(str(value))]
        return f"NOT {query}" if value is None else query, values * 2

    def noted(self, asked: ColumnTest) -> Query:
        """Return whether a note on the pair, or on its question, is so; or whether there is none."""
        none = asked.values[0] is None
        ids: list[str] = []
        pairs: list[tuple[str, str]] = []
        for note in self.notes:
            of_note = note_columns([note], note.system or "")
            if of_note[asked.column] and (none or holds(asked, of_note)):
                if note.system is None:
                    ids.append(note.question_id)
                else:
                    pairs.append((note.question_id, note.system))
        query = (
            "(r.place IN (SELECT place FROM lines WHERE id IN (SELECT unnest(?::VARCHAR[]))) OR "
            "(r.place, r.system) IN (SELECT (l.place, n.s) FROM lines l JOIN "
            "(SELECT unnest(?::VARCHAR[]) q, unnest(?::VARCHAR[]) s) n ON l.id = n.q))"
        )
        values: list[Value] = [ids, [each for each, _ in pairs], [each for _, each in pairs]]
        return f"NOT {query}" if none else query, values

    def judged(self, name: str, hit: str, values: list[Value], *, none: bool) -> Query:
        """Return whether a judge's cell of the pair is so, or there is no such cell."""
        query = (
            "(r.place, r.system) IN (SELECT (place, c.system) FROM cells JOIN columns c USING (col) "  # noqa: S608
            f"WHERE judge = ? AND metric = ? AND model = ? AND {hit})"
        )
        return f"NOT {query}" if none else query, [*self.judges[name], *values]
