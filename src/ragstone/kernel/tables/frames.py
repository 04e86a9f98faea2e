"""Rows as users get them: a list that becomes a data frame, and shows itself as a table in a notebook.

A column's type follows from the row's type alone, so that two files of the same kind have the same columns.
Structs, lists and numbers keep their shape; tags and scores become one struct of all names that occur in
Polars, a map in DuckDB; what may hold anything (`metadata`) becomes JSON text. A reference is one text or a
list of them, and is always a list. An empty table of tags or scores is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

import msgspec
from msgspec import inspect

from ragstone.kernel.errors import DataError, optional_package
from ragstone.kernel.tables.shown import Displayed

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow


Columns = Mapping[str, Any]
"""Name of a column -> the type of its cells."""

SCALARS: dict[type[inspect.Type], tuple[str, str]] = {
    inspect.StrType: ("String", "VARCHAR"),
    inspect.LiteralType: ("String", "VARCHAR"),
    inspect.IntType: ("Int64", "BIGINT"),
    inspect.FloatType: ("Float64", "DOUBLE"),
    inspect.BoolType: ("Boolean", "BOOLEAN"),
}
# Objects of any shape: carried as JSON text in the formats whose columns have one type.
FREE_FORM = frozenset({"metadata", "tags", "scores"})
SEQUENCES = (inspect.ListType, inspect.VarTupleType, inspect.TupleType)


def columns_of_struct(row_type: type) -> dict[str, Any]:
    """Return field -> type of a row type, in file order."""
    return {field.name: field.type for field in msgspec.structs.fields(row_type)}


def plain(value: Any) -> Any:
    """Return structs as dicts with every field, absent ones as None or their default; tuples as lists."""
    if value is msgspec.UNSET:
        return None
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def fitted(cells: Iterable[Any], kind: Any) -> list[Any]:
    """Return the plain cells of a column in the shape that polars_type and duckdb_type tell of its type."""
    shape = _shape(kind)
    return [_fit(cell, shape) for cell in cells]


def _fit(cell: Any, shape: inspect.Type) -> Any:
    if cell is None:
        return None
    if isinstance(shape, inspect.StructType):
        return {field.name: _fit(cell[field.name], _inner(field.type)) for field in shape.fields}
    if isinstance(shape, SEQUENCES):
        return [_fit(item, _item(shape)) for item in (cell if isinstance(cell, list) else [cell])]
    if isinstance(shape, inspect.DictType):
        return {str(name): _fit(item, _inner(shape.value_type)) for name, item in cell.items()} or None
    if isinstance(shape, inspect.AnyType):
        return msgspec.json.encode(cell).decode()
    return float(cell) if isinstance(shape, inspect.FloatType) else cell


def polars_type(kind: Any, cells: Sequence[Any]) -> "polars.DataType":
    """Return the type of a Polars column. cells: fitted; they tell the names of tags and scores."""
    return _polars(_shape(kind), cells)


def _polars(shape: inspect.Type, cells: Sequence[Any]) -> "polars.DataType":
    import polars

    there = [cell for cell in cells if cell is not None]
    if isinstance(shape, inspect.StructType):
        return polars.Struct(
            {
                field.name: _polars(_inner(field.type), [cell[field.name] for cell in there])
                for field in shape.fields
            }
        )
    if isinstance(shape, SEQUENCES):
        return polars.List(_polars(_item(shape), [item for cell in there for item in cell]))
    if isinstance(shape, inspect.DictType):
        names = dict.fromkeys(name for cell in there for name in cell)
        held = {
            name: _polars(_inner(shape.value_type), [cell[name] for cell in there if name in cell])
            for name in names
        }
        return polars.Struct(held) if held else polars.String()
    made: polars.DataType = getattr(polars, SCALARS[type(shape)][0] if type(shape) in SCALARS else "String")()
    return made


def duckdb_type(kind: Any) -> Any:
    """Return the type of a DuckDB column, as its function from_json takes it."""
    return _duckdb(_shape(kind))


def _duckdb(shape: inspect.Type) -> Any:
    if isinstance(shape, inspect.StructType):
        return {field.name: _duckdb(_inner(field.type)) for field in shape.fields}
    if isinstance(shape, SEQUENCES):
        return [_duckdb(_item(shape))]
    if isinstance(shape, inspect.DictType):
        value = _duckdb(_inner(shape.value_type))
        return f"MAP(VARCHAR, {value})" if isinstance(value, str) else "JSON"
    return SCALARS[type(shape)][1] if type(shape) in SCALARS else "JSON"


def _shape(kind: Any) -> inspect.Type:
    return _inner(inspect.type_info(kind))


def _inner(shape: inspect.Type) -> inspect.Type:
    """Return the type without None; of text or a list the list, and of other choices anything."""
    if isinstance(shape, inspect.DictType) and isinstance(shape.value_type, inspect.AnyType):
        return inspect.AnyType()
    if not isinstance(shape, inspect.UnionType):
        return shape
    types = [kind for kind in shape.types if not isinstance(kind, inspect.NoneType)]
    if len(types) == 1:
        return _inner(types[0])
    lists = [kind for kind in types if isinstance(kind, SEQUENCES)]
    if len(lists) == 1 and [_item(lists[0])] == [kind for kind in types if kind is not lists[0]]:
        return lists[0]
    numbers = all(isinstance(kind, inspect.IntType | inspect.FloatType) for kind in types)
    return inspect.FloatType() if numbers else inspect.AnyType()


def _item(shape: inspect.Type) -> inspect.Type:
    """Return the type of a list's items; a tuple of several types has items of any."""
    if isinstance(shape, inspect.TupleType):
        kinds = [_inner(kind) for kind in shape.item_types]
        return kinds[0] if all(kind == kinds[0] for kind in kinds) else inspect.AnyType()
    assert isinstance(shape, inspect.ListType | inspect.VarTupleType)
    return _inner(shape.item_type)


T = TypeVar("T")


class Rows(list[T], Displayed):
    """A list of rows: equal to a plain list of them, and a slice of it is `Rows` again.

    of: the type of the rows, or the columns (name -> type) of rows that are dicts; needed for the columns of
    an empty list, and found from the first row otherwise. The columns of a data frame are the fields of that
    type, in order, all of them; docs/how-to/notebooks.md says what becomes of nested ones.
    """

    def __init__(self, rows: Iterable[T] = (), of: type | Columns | None = None) -> None:
        super().__init__(rows)
        self.of = of

    @overload
    def __getitem__(self, index: SupportsIndex, /) -> T: ...
    @overload
    def __getitem__(self, index: slice, /) -> "Rows[T]": ...
    def __getitem__(self, index: SupportsIndex | slice, /) -> "T | Rows[T]":
        if isinstance(index, slice):
            return Rows(super().__getitem__(index), self.of)
        return super().__getitem__(index)

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
        whole: duckdb.DuckDBPyRelation = (
            relation.materialize() if hasattr(relation, "materialize") else relation.execute()
        )
        return whole

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
            other = type(wrong or self[0]).__name__
            raise DataError(f"a data frame needs rows of one kind: {kind.__name__}, but one is a {other}.")
        return columns_of_struct(kind)

    def _dicts(self) -> list[dict[str, Any]]:
        return [plain(row) for row in self]

    def _fitted(self) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """Return name -> cells, and name -> type."""
        columns, rows = self.columns(), self._dicts()
        cells = {name: fitted((row.get(name) for row in rows), kind) for name, kind in columns.items()}
        return cells, columns


def _package(name: str, method: str) -> ModuleType:
    with optional_package(f".{method}()", "frames"):
        return import_module(name)


def arrow_table(rows: "Rows[dict[str, Any]]") -> "pyarrow.Table":
    """Return rows that are dicts as a table of Arrow, tags and other objects of any shape as JSON text."""
    import pyarrow as pa

    return pa.table(
        {
            name: pa.array(fitted([plain(row[name]) for row in rows], Any if name in FREE_FORM else kind))
            for name, kind in rows.columns().items()
        }
    )
