"""Rows as users get them: a list that becomes a data frame, and shows itself as a table in a notebook."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

import msgspec

from ragstone.errors import DataError, MissingExtra
from ragstone.tables.shapes import Columns, columns_of_struct, duckdb_type, fitted, plain, polars_type
from ragstone.tables.shown import Displayed

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars

T = TypeVar("T")


class Rows(list[T], Displayed):
    """A list of rows: equal to a plain list of them, and a slice of it is `Rows` again.

    of: the type of the rows, or the columns (name -> type) of rows that are dicts; needed for the columns of
    an empty list, and found from the first row otherwise. The columns of a data frame are the fields of that
    type, in order, all of them; docs/notebooks.md says what becomes of nested ones.
    """

    def __init__(self, rows: Iterable[T] = (), of: type | Columns | None = None) -> None:
        super().__init__(rows)
        self.of = of

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, place: slice, /) -> "Rows[T]": ...
    def __getitem__(self, place: SupportsIndex | slice, /) -> "T | Rows[T]":
        if isinstance(place, slice):
            return Rows(super().__getitem__(place), self.of)
        return super().__getitem__(place)

    def __add__(self, others: list[Any], /) -> "Rows[Any]":
        return Rows([*self, *others], self.of)

    def copy(self) -> "Rows[T]":
        """Return another list of the same rows."""
        return Rows(self, self.of)

    def to_polars(self) -> "polars.DataFrame":
        """Return a Polars data frame. Raises MissingExtra without Polars, DataError for rows of two kinds."""
        package = _package("polars", "to_polars")
        cells, columns = self._fitted()
        schema = {name: polars_type(kind, cells[name]) for name, kind in columns.items()}
        frame: polars.DataFrame = package.DataFrame(cells, schema=schema)
        return frame

    def to_pandas(self) -> "pandas.DataFrame":
        """Return a pandas data frame: nested fields as dicts and lists, as they are.

        Raises MissingExtra without pandas, DataError for rows of two kinds.
        """
        pandas = _package("pandas", "to_pandas")
        columns = self.columns()
        return pandas.DataFrame.from_records(self._dicts(), columns=list(columns))

    def to_duckdb(self) -> "duckdb.DuckDBPyRelation":
        """Return a relation of DuckDB's default connection, so that `duckdb.sql` can name its variable.

        Raises MissingExtra without DuckDB, DataError for rows of two kinds.
        """
        package = _package("duckdb", "to_duckdb")
        cells, columns = self._fitted()
        if not columns:
            raise DataError("to_duckdb: no rows, and so no columns. A relation needs one column at least.")
        kinds = {name: duckdb_type(kind) for name, kind in columns.items()}
        anything = {name for name, kind in kinds.items() if kind == "JSON"}
        rows = [
            {
                name: msgspec.Raw(cell.encode()) if name in anything and isinstance(cell, str) else cell
                for name, cell in zip(cells, row, strict=True)
            }
            for row in zip(*cells.values(), strict=True)
        ]
        # Types are told, for DuckDB would guess them from the first rows; and no other package is needed.
        relation = package.sql(
            "SELECT unnest(from_json_strict($1, $2), max_depth := 2)",
            params=[msgspec.json.encode(rows).decode(), msgspec.json.encode([kinds]).decode()],
        )
        # Run once and kept: a relation would read the text anew for each query. DuckDB 1 has another name.
        kept: duckdb.DuckDBPyRelation = (
            relation.materialize() if hasattr(relation, "materialize") else relation.execute()
        )
        return kept

    def columns(self) -> dict[str, Any]:
        """Return the columns of a data frame: name -> type of the cells. Raises DataError for two kinds."""
        of = self.of
        if isinstance(of, Mapping):
            return dict(of)
        kind = of or (type(self[0]) if self else None)
        if kind is None:
            return {}
        wrong = next((row for row in self if type(row) is not kind), None)
        if wrong is not None or not issubclass(kind, msgspec.Struct):
            found = type(wrong or self[0]).__name__
            raise DataError(f"a data frame needs rows of one kind: {kind.__name__}, but one is a {found}.")
        return columns_of_struct(kind)

    def _dicts(self) -> list[dict[str, Any]]:
        return [plain(row) for row in self]

    def _fitted(self) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """Return name -> cells, and name -> type."""
        columns, rows = self.columns(), self._dicts()
        cells = {name: fitted((row.get(name) for row in rows), kind) for name, kind in columns.items()}
        return cells, columns


def _package(name: str, method: str) -> ModuleType:
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(f".{method}()", "frames") from None
