"""Types of fields -> types of columns: what a data frame holds of rows, whatever rows there happen to be.

A column's type follows from the row's type alone, so that two files of the same kind have the same columns.
Structs, lists and numbers keep their shape; tags and scores become one struct of all names that occur in
Polars, a map in DuckDB; what may hold anything (`metadata`) becomes JSON text. A reference is one text or a
list of them, and is always a list. An empty table of tags or scores is null.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect

if TYPE_CHECKING:
    import polars

Columns = Mapping[str, Any]
"""Name of a column -> the type of its cells."""

SCALARS: dict[type[inspect.Type], tuple[str, str]] = {
    inspect.StrType: ("String", "VARCHAR"),
    inspect.LiteralType: ("String", "VARCHAR"),
    inspect.IntType: ("Int64", "BIGINT"),
    inspect.FloatType: ("Float64", "DOUBLE"),
    inspect.BoolType: ("Boolean", "BOOLEAN"),
}
SEQUENCES = (inspect.ListType, inspect.VarTupleType, inspect.TupleType)


def columns_of_struct(row_type: type) -> dict[str, Any]:
    """Return field -> type of a row type, in file order."""
    return {field.name: field.type for field in msgspec.structs.fields(row_type)}


def plain(value: Any) -> Any:
    """Return structs as dicts with every field, absent ones as None or their default; tuples as lists."""
    if isinstance(value, msgspec.Struct):
        return {name: plain(getattr(value, name)) for name in value.__struct_fields__}
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
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
        return [_fit(one, _item(shape)) for one in (cell if isinstance(cell, list) else [cell])]
    if isinstance(shape, inspect.DictType):
        return {str(name): _fit(one, _inner(shape.value_type)) for name, one in cell.items()} or None
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
        return polars.List(_polars(_item(shape), [one for cell in there for one in cell]))
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
    types = [one for one in shape.types if not isinstance(one, inspect.NoneType)]
    if len(types) == 1:
        return _inner(types[0])
    lists = [one for one in types if isinstance(one, SEQUENCES)]
    if len(lists) == 1 and [_item(lists[0])] == [one for one in types if one is not lists[0]]:
        return lists[0]
    numbers = all(isinstance(one, inspect.IntType | inspect.FloatType) for one in types)
    return inspect.FloatType() if numbers else inspect.AnyType()


def _item(shape: inspect.Type) -> inspect.Type:
    """Return the type of a list's items; a tuple of several types has items of any."""
    if isinstance(shape, inspect.TupleType):
        kinds = [_inner(one) for one in shape.item_types]
        return kinds[0] if all(one == kinds[0] for one in kinds) else inspect.AnyType()
    assert isinstance(shape, inspect.ListType | inspect.VarTupleType)
    return _inner(shape.item_type)
