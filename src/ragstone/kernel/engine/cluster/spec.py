"""What a worker needs to know to build its stage: data, never a closure."""

import traceback
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import NamedTuple, TypeVar

import msgspec

from ragstone.kernel.config import Settings, choose
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError, DataError, ModelError, RagstoneError
from ragstone.kernel.llm.limits import GivenUp

T = TypeVar("T")

KINDS = (ConfigError, DataError, GivenUp, ModelError, RagstoneError)  # a kind before those that it is of

_encode = msgspec.json.Encoder().encode


class StageSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A stage by name, with the settings and the arguments that its work is built from.

    name: where its RowWork stands, `module:NAME`. arguments: values that msgspec can encode. listening:
    whether conversations with models are brought back, for calls.jsonl.gz of a run. Paths in it must mean the
    same on every worker.
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
        arguments={key: msgspec.Raw(msgspec.msgpack.encode(argument)) for key, argument in arguments.items()},
        listening=listening,
    )


class RowOutcome(NamedTuple):
    """What became of one row, as JSON, and the conversations that it took."""

    out: bytes
    heard: list[bytes]


async def built_work(
    spec: StageSpec, session: Session
) -> tuple[type[object], Callable[[object], Awaitable[object]]]:
    """Return the type of a stage's rows, and its work on one of them, built with a worker's own session."""
    module, _, attribute = spec.name.partition(":")
    work: RowWork[object, object] = getattr(import_module(module), attribute)
    arguments = {name: spec.argument(name, kind) for name, kind in work.arguments.items()}
    return work.row, await work.build(session, **arguments)


async def build_work(spec: StageSpec, session: Session) -> Callable[[bytes], Awaitable[RowOutcome]]:
    """Return the work of a stage on a row in JSON, built with a worker's own session.

    A RagstoneError ends the run; the unforeseen is a recorded failure.
    """
    row_type, done = await built_work(spec, session)
    decode = msgspec.json.Decoder(row_type).decode

    async def one(row: bytes) -> RowOutcome:
        with session.call_log.trace() as trace:
            out = await done(decode(row))
        heard = trace.exchanges() if trace else []
        return RowOutcome(_encode(out), [_encode(exchange) for exchange in heard])

    return one


def portable(mistake: BaseException) -> Exception:
    """Return an error as any process can read it: one of ours by its words, else with its traceback."""
    for kind in KINDS:
        if isinstance(mistake, kind):
            return kind(str(mistake))
    return RuntimeError("on a worker:\n" + "".join(traceback.format_exception(mistake)))
