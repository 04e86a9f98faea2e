"""What a worker needs to know to build its stage: data, never a closure."""

from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import TypeVar, cast

import msgspec

from ragstone.config import Settings, choose
from ragstone.engine.row_work import RowWork
from ragstone.engine.session import Session

T = TypeVar("T")
In = TypeVar("In")
Out = TypeVar("Out")

_encode = msgspec.json.Encoder().encode


class StageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A stage by name, with the settings and the arguments that its builder takes.

    name: where its RowWork or its builder stands, `module:NAME`. arguments: values that msgspec can
    encode; the builder reads one with `argument`, as the type that it has. listening: whether conversations
    with models are brought back, for calls.jsonl.gz of a run. Paths in it must mean the same on every worker.
    """

    name: str
    settings: Settings
    arguments: dict[str, msgspec.Raw] = {}
    listening: bool = False

    def argument(self, name: str, kind: type[T]) -> T:
        """Return an argument as it was given to `stage_spec`."""
        return msgspec.msgpack.decode(self.arguments[name], type=kind)


def stage_spec(name: str, settings: Settings, *, listening: bool = False, **arguments: object) -> StageSpec:
    """Return the spec of a stage, whose settings are as workers need them.

    Their folder is made absolute, for workers start in another; and a worker hands no rows on.
    """
    here = choose(settings, "engine", kind="local")
    return StageSpec(
        name=name,
        settings=msgspec.structs.replace(here, root=str(settings.path(".").absolute())),
        arguments={key: msgspec.Raw(msgspec.msgpack.encode(given)) for key, given in arguments.items()},
        listening=listening,
    )


class RowOutcome(msgspec.Struct, frozen=True, array_like=True):
    """What became of one row: any number of rows, as JSON, and the conversations that it took."""

    rows: list[bytes]
    heard: list[bytes] = []


Work = Callable[[bytes], Awaitable[RowOutcome]]
"""An encoded row -> what became of it. A RagstoneError ends the run; the unforeseen is a recorded failure."""

Builder = Callable[[StageSpec, Session], Awaitable[Work]]
"""Is called once in the life of a worker, with the worker's own session."""


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

        async def one(row: bytes) -> RowOutcome:
            with session.call_log.trace() as trace:
                out = await done(decode(row))
            return RowOutcome([_encode(out)], [_encode(one) for one in trace.exchanges()])

        return one

    return build
