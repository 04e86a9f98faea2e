"""Work on rows, as any stage names it (engine/mapping.py), on the workers."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from importlib import import_module
from typing import TypeVar, cast

import msgspec

from ragstone.engine.cluster.spec import Builder, Made, StageSpec, Work, stage_spec
from ragstone.engine.mapping import RowWork
from ragstone.engine.session import Session
from ragstone.llm.call_trace import Exchange

In = TypeVar("In")
Out = TypeVar("Out")

_encode = msgspec.json.Encoder().encode


def builder_named(name: str) -> Builder:
    """Return what builds the work that stands at `module:NAME`, a RowWork or a builder itself."""
    module, _, attribute = name.partition(":")
    found = getattr(import_module(module), attribute)
    return builder_of(found) if isinstance(found, RowWork) else cast(Builder, found)


def builder_of(work: RowWork[In, Out]) -> Builder:
    """Return what builds the work on a worker, from the arguments of its spec."""

    async def build(spec: StageSpec, session: Session) -> Work:
        given = {name: spec.argument(name, kind) for name, kind in work.arguments.items()}
        done = await work.build(session, **given)
        decode = msgspec.json.Decoder(work.row).decode

        async def one(row: bytes) -> Made:
            with session.call_log.trace() as trace:
                out = await done(decode(row))
            return Made([_encode(out)], [_encode(one) for one in trace.exchanges()])

        return one

    return build


async def map_on_cluster(
    work: RowWork[In, Out],
    rows: Callable[[], Iterable[In]],
    session: Session,
    n_rows: int | None,
    arguments: Mapping[str, object],
) -> AsyncIterator[tuple[Out, list[Exchange]]]:
    """Yield what map_rows yields here."""
    from ragstone.engine.cluster.driver import map_blocks

    spec = stage_spec(work.name, session.settings, listening=session.call_log.listening, **arguments)
    decode, exchange = msgspec.json.Decoder(work.out).decode, msgspec.json.Decoder(Exchange).decode
    async for made in map_blocks(spec, lambda: map(_encode, rows()), session, n_rows=n_rows):
        yield decode(made.rows[0]), [exchange(one) for one in made.heard]
