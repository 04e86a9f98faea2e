"""A stage's work on one row, named once, so that any process can take it up."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

In = TypeVar("In")
Out = TypeVar("Out")


class RowWork(NamedTuple, Generic[In, Out]):
    """Work on a row that any process can take up: all that it needs stands in the row and the arguments.

    name: where it stands, `module:NAME`, for workers to find it. row, out: types that msgspec reads and
    writes as JSON. arguments: their names and types. build: a session and the arguments -> the function,
    made once.
    """

    name: str
    row: type[In]
    out: type[Out]
    arguments: Mapping[str, Any]
    build: Callable[..., Awaitable[Callable[[In], Awaitable[Out]]]]
