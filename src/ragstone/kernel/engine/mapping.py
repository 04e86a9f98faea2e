"""Rows through a stage's work: done in this process, by the workers of a cluster, or by batches of calls."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from ragstone.kernel.engine.local import map_in_order
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import Stopped

if TYPE_CHECKING:
    from ragstone.kernel.engine.row_work import RowWork
    from ragstone.kernel.llm.call_trace import Exchange

In = TypeVar("In")
Out = TypeVar("Out")


async def map_rows(
    work: "RowWork[In, Out]",
    rows: Callable[[], Iterable[In]],
    session: Session,
    *,
    n_rows: int | None = None,
    **arguments: object,
) -> "AsyncIterator[tuple[Out, list[Exchange]]]":
    """Yield what becomes of each row, in order, with the conversations that it took.

    rows: gives them anew each time. n_rows: how many, None where nobody has counted. The engine is that of
    the session's settings. Stops and raises as `map_in_order` does.
    """
    made: AsyncIterator[tuple[Out, list[Exchange]]]
    if on_cluster(session):
        made = _map_on_cluster(work, rows, session, n_rows, arguments)
    else:
        done = await work.build(session, **arguments)

        async def one(row: In) -> "tuple[Out, list[Exchange]]":
            with session.call_log.trace() as trace:
                return await done(row), trace.exchanges() if trace else []

        made = map_in_order(one, rows(), session.stop)
    async with contextlib.aclosing(cast("AsyncGenerator[tuple[Out, list[Exchange]], None]", made)):
        async for result in made:
            yield result


async def _map_on_cluster(
    work: "RowWork[In, Out]",
    rows: Callable[[], Iterable[In]],
    session: Session,
    n_rows: int | None,
    arguments: Mapping[str, object],
) -> "AsyncIterator[tuple[Out, list[Exchange]]]":
    from ragstone.kernel.engine.cluster.driver import map_blocks
    from ragstone.kernel.engine.cluster.spec import stage_spec
    from ragstone.kernel.llm.call_trace import Exchange

    spec = stage_spec(work.name, session.settings, listening=session.call_log.listening, **arguments)
    encode = msgspec.json.Encoder().encode
    decode, exchange = msgspec.json.Decoder(work.out).decode, msgspec.json.Decoder(Exchange).decode
    made = map_blocks(spec, lambda: map(encode, rows()), session, n_rows=n_rows)
    async with contextlib.aclosing(made):
        async for outcome in made:
            yield decode(outcome.out), [exchange(heard) for heard in outcome.heard]


def on_cluster(session: Session) -> bool:
    """Return whether the rows of a session's stages go to the workers of a cluster.

    Not where calls are answered in rounds: then the calls go there, and the rows stay.
    """
    return session.settings.engine.kind == "ray" and not session.batching


# A row asks up to four calls, each after the reply to the one before; as many again for batches that expire.
ROUNDS = 8


def in_rounds(
    rows: Callable[[], AsyncIterator[Out]], session: Session, asking: Callable[[], AsyncIterator[object]]
) -> AsyncIterator[Out]:
    """Yield the rows of a stage; in a session with batches, after their calls have come back.

    asking: makes those rows that ask a model, so that their calls are heard. A call that has not been
    answered after ROUNDS batches gives its row the status `error`; run again, and it is asked again.
    """
    return _after_rounds(rows, session, asking) if session.batching else rows()


async def _after_rounds(
    rows: Callable[[], AsyncIterator[Out]], session: Session, asking: Callable[[], AsyncIterator[object]]
) -> AsyncIterator[Out]:
    for _ in range(ROUNDS):
        with session.collecting():
            async for _row in asking():  # thrown away: what it was to be made from was only put off
                pass
        try:
            if not await session.models.submit():
                break
        except asyncio.CancelledError:
            raise Stopped(
                "stopped. The submitted batches continue at the provider, and their calls will be charged: "
                "run the same command again to pick them up."
            ) from None
    # All that was answered is in the ledger now, so the rows are those that single calls would have made.
    async for row in rows():
        yield row
