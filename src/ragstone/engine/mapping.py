"""A stage's work on one row, named once: done in this process, or by the workers of a cluster."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar, cast

from ragstone.engine.local import map_in_order
from ragstone.engine.session import Session
from ragstone.llm.call_trace import Exchange

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


async def map_rows(
    work: RowWork[In, Out],
    rows: Callable[[], Iterable[In]],
    session: Session,
    *,
    n_rows: int | None = None,
    **arguments: object,
) -> AsyncIterator[tuple[Out, list[Exchange]]]:
    """Yield what becomes of each row, in order, with the conversations that it took.

    rows: gives them anew each time. n_rows: how many, None where nobody has counted. The engine is that of
    the session's settings. Stops and raises as `map_in_order` does.
    """
    if on_cluster(session):
        from ragstone.engine.cluster.mapping import map_on_cluster

        made: AsyncIterator[tuple[Out, list[Exchange]]] = map_on_cluster(
            work, rows, session, n_rows, arguments
        )
    else:
        done = await work.build(session, **arguments)

        async def one(row: In) -> tuple[Out, list[Exchange]]:
            with session.call_log.trace() as trace:
                return await done(row), trace.exchanges()

        made = map_in_order(one, rows(), session.models.stop)
    async with contextlib.aclosing(cast(AsyncGenerator[tuple[Out, list[Exchange]], None], made)):
        async for found in made:
            yield found


def on_cluster(session: Session) -> bool:
    """Return whether the rows of a session's stages go to the workers of a cluster.

    Not where calls are answered in rounds: then the calls go there, and the rows stay.
    """
    return session.settings.engine.kind == "ray" and not session.batching
