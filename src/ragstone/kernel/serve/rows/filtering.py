"""A filter in words (see tables/where.py) -> SQL on the tables `pairs`, `texts` and `cells` of a run's index.

It means what the same filter means on the joined table of the run.
"""

from typing import TYPE_CHECKING

from ragstone.kernel.records import STATUSES
from ragstone.kernel.runs.filtering import FLIPS, FilterColumns, filter_columns
from ragstone.kernel.runs.joined import JudgeKey, judge_names
from ragstone.kernel.serve.rows.indexing import CODES, NUMBERS, TAG
from ragstone.kernel.tables.where import Compared, Condition, Joined, Negated, bound, folded

if TYPE_CHECKING:
    import duckdb

Value = str | float | bool | None
Query = tuple[str, list[Value]]
"""A condition on a pair `r`, and the values of its places."""

SCORED = f"status = {CODES['scored']}"
FLIPPED = f"""r.place IN (SELECT place FROM (
    SELECT place FROM cells JOIN columns c USING (col) WHERE {SCORED} AND NOT isnan(c.low)
    GROUP BY place, judge, metric, model HAVING count(DISTINCT score >= (c.low + c.high) / 2) > 1))"""  # noqa: S608


def run_columns(con: "duckdb.DuckDBPyConnection") -> tuple[FilterColumns, dict[str, JudgeKey]]:
    """Return what a filter may ask of the rows of an index, and the judge of each column of scores."""
    keys = con.execute("SELECT judge, metric, model FROM columns ORDER BY col").fetchall()
    names = judge_names(keys)
    tags = con.execute(
        "SELECT name, min(place) FROM texts WHERE starts_with(name, ?) GROUP BY name ORDER BY 2, name", [TAG]
    ).fetchall()
    (several,) = con.execute("SELECT count(DISTINCT system) > 1 FROM pairs").fetchone() or (False,)
    (blamed,) = con.execute("SELECT count(*) > 0 FROM causes").fetchone() or (False,)
    columns = filter_columns(
        names.values(), [name.removeprefix(TAG) for name, _ in tags], blamed=blamed, several=several
    )
    return columns, {name: key for key, name in names.items()}


def places_that(con: "duckdb.DuckDBPyConnection", text: str) -> Query:
    """Return the query of the questions of which a filter leaves a system. Raises DataError."""
    columns, judges = run_columns(con)
    where, values = _Writer(columns, judges).written(bound(text, columns.kinds))
    return f"SELECT r.place FROM pairs r WHERE {where}", values  # noqa: S608 - texts are ?


class _Writer:
    """Writes conditions of one run."""

    def __init__(self, columns: FilterColumns, judges: dict[str, JudgeKey]) -> None:
        self.judges = judges
        self.texts = {name: f"{TAG}{key}" for key, name in columns.tags.items()}

    def written(self, condition: Condition) -> Query:
        match condition:
            case Joined(every, parts):
                queries = [self.written(part) for part in parts]
                word = " AND " if every else " OR "
                return f"({word.join(query for query, _ in queries)})", [v for _, vs in queries for v in vs]
            case Negated(part):
                query, values = self.written(part)
                return f"NOT {query}", values
            case Compared():
                return self.compared(condition)

    def compared(self, asked: Compared) -> Query:
        """Return a comparison: `!=` is the opposite of `=`, and `in` is any of several `=`."""
        if asked.column == FLIPS:
            test = "false" if asked.values[0] is None else f"({FLIPPED}) = {asked.values[0]}"
            return (f"({test})" if asked.sign == "=" else f"NOT ({test})"), []
        sign = "=" if asked.sign in ("in", "!=") else asked.sign
        queries = [self.is_so(asked.column, sign, value) for value in asked.values]
        query, values = " OR ".join(query for query, _ in queries), [v for _, vs in queries for v in vs]
        return f"{'NOT ' if asked.sign == '!=' else ''}({query})", values

    def is_so(self, column: str, sign: str, value: Value) -> Query:
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
        name = self.texts.get(column, column)
        test = {"=": "value = ?", "~": "contains(value, ?)"}[sign] if value is not None else "true"
        has = f"name = ? AND {test}"
        query = (
            f"(r.place IN (SELECT place FROM texts WHERE system IS NULL AND {has}) OR "  # noqa: S608
            f"(r.place, r.system) IN (SELECT (place, system) FROM texts WHERE system IS NOT NULL AND {has}))"
        )
        values: list[Value] = [name] if value is None else [name, folded(str(value))]
        return f"NOT {query}" if value is None else query, values * 2

    def judged(self, name: str, hit: str, values: list[Value], *, none: bool) -> Query:
        """Return whether a judge's cell of the pair is so, or there is no such cell."""
        query = (
            "(r.place, r.system) IN (SELECT (place, c.system) FROM cells JOIN columns c USING (col) "  # noqa: S608
            f"WHERE judge = ? AND metric = ? AND model = ? AND {hit})"
        )
        return f"NOT {query}" if none else query, [*self.judges[name], *values]
