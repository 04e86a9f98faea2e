"""The rows of a table, of one run or of several: the answers that filters leave, sorted by any column.

An answer is a question and the system that answered it, as in the joined table of a run. Each index is asked
for its own rows in order; several are merged.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.serve.rows.asking import RowFilter, RowIndex
from ragstone.kernel.tables.where import Kind, name_in_filter

FILE_ORDER = ("", "file")


class AnswerPlace(NamedTuple):
    """A row of a table: run, by its number among those of the table, question, by its place, and system."""

    run: int
    place: int
    system: str


class AnswerPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Rows of a table in order. n: that the filter leaves; of: all of the runs."""

    rows: list[AnswerPlace]
    n: int
    of: int


def table_columns(runs: Sequence[RowIndex]) -> dict[str, Kind]:
    """Return what a filter may ask of rows of these runs, by name -> kind; of two kinds the first run's."""
    kinds: dict[str, Kind] = {}
    for run in runs:
        kinds = run.own[0].kinds | kinds
    return kinds


def answers_in(
    runs: Sequence[RowIndex], chosen: RowFilter, *, first: int = 0, most: int | None = None
) -> AnswerPlaces:
    """Return the answers that `where` of a filter leaves, in its order; its menus do not count.

    The order is `file`, or the name of a column, with `-` before it from the highest down; what has no value
    comes last either way. Equal rows stay in the order of the questions, then of the names of systems, so
    that pages never share a row. first: rows
    that are left out before; most: rows that are returned, None for all. Raises DataError for a filter or an
    order that there is not.
    """
    kinds = table_columns(runs)
    column, is_down = chosen.order.removeprefix("-"), chosen.order.startswith("-")
    if column in FILE_ORDER:
        column = ""
    elif column not in kinds:
        hint = nearest(column, [*map(name_in_filter, kinds)])
        raise DataError(f"Rows cannot be sorted by {column!r}: there is no such column. {hint}")
    # Of several runs, the rows before the page may be of any of them.
    skipped, upto = (first, most) if len(runs) == 1 else (0, None if most is None else first + most)
    pairs = [
        _sorted(
            run,
            number,
            (chosen.where, kinds),
            (column, is_down),
            (skipped, upto),
        )
        for number, run in enumerate(runs)
    ]
    sorted_rows = [rows for rows, _ in pairs]
    if len(runs) == 1:
        rows = [row for _, row in sorted_rows[0]]
    elif column:

        def rank(row: tuple[str | float | None, AnswerPlace]) -> tuple[int, object]:
            """Return what runs are merged by: numbers before texts, for a name may be of two kinds."""
            key = row[0]
            if key is None:
                return (2, 0)
            if isinstance(key, str):
                return (1, _Falling(key) if is_down else key)
            return (0, -key if is_down else key)

        # Each run is sorted already, which a merge sort is quick with; runs that are equal stay in order.
        merged = sorted(chain.from_iterable(sorted_rows), key=rank)
        rows = [row for _, row in merged[first:upto]]
    else:
        rows = [row for _, row in islice((each for run in sorted_rows for each in run), first, upto)]
    every = (run.con.execute("SELECT count(*) FROM pairs").fetchone() or (0,) for run in runs)
    return AnswerPlaces(rows=rows, n=sum(n for _, n in pairs), of=sum(of for (of,) in every))


class _Falling(NamedTuple):
    """A text that sorts from the last down."""

    value: str

    def __lt__(self, other: "_Falling") -> bool:  # type: ignore[override]
        return self.value > other.value


def _sorted(
    run: RowIndex,
    number: int,
    asked: tuple[str, Mapping[str, Kind]],
    order: tuple[str, bool],
    limits: tuple[int, int | None],
) -> tuple[list[tuple[str | float | None, AnswerPlace]], int]:
    """Return the rows of one run in order, each with what it is sorted by, and how many the filter leaves.

    asked: a filter in words, and what it may ask. order: the column, and whether from the highest down.
    limits: rows left out before, and at most.
    """
    (column, is_down), (first, most) = order, limits
    where, of_where = run.condition(*asked)
    values = of_where
    limit = "" if most is None else f"LIMIT {most} OFFSET {first}"
    if column:
        keys, of_keys = run.sort_keys(column)
        query = (
            f"SELECT k.k, r.place, r.system, count(*) OVER () FROM pairs r LEFT JOIN ({keys}) k "  # noqa: S608 - texts are ?
            f"ON k.place = r.place AND k.system = r.system WHERE {where} "
            f"ORDER BY k.k {'DESC' if is_down else 'ASC'} NULLS LAST, r.place, r.system {limit}"
        )
        values = [*of_keys, *of_where]
    else:
        query = (
            "SELECT NULL, r.place, r.system, count(*) OVER () FROM pairs r "  # noqa: S608 - texts are ?
            f"WHERE {where} ORDER BY r.place, r.system {limit}"
        )
    rows = run.con.execute(query, values).fetchall()
    n = rows[0][3] if rows else 0
    if not rows and first:  # a page after the last one
        counted = f"SELECT count(*) FROM pairs r WHERE {where}"  # noqa: S608 - texts are ?
        (n,) = run.con.execute(counted, of_where).fetchone() or (0,)
    return [(key, AnswerPlace(number, at, system)) for key, at, system, _ in rows], n
