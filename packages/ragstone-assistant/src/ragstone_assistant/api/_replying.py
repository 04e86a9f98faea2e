"""One exchange: asked, answered whole or streamed, written to the log and kept before its end is told."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import Turn
from ragstone.kernel.serve.problems import CHAT_PATH, problem
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone_assistant.api._bodies import MODEL, Replied, Tokens, replied, tokens
from ragstone_assistant.api.state import ChatState
from ragstone_assistant.conversation import Asked, Doing, Said, TextPiece

logger = logging.getLogger("ragstone.serve")
T = TypeVar("T")


class PendingExchange(msgspec.Struct, frozen=True, kw_only=True):
    """A question on its way. begins: its conversation does not exist yet. keep: the turns that the
    conversation is longer by, without the reply.
    """

    id: str
    asked: Asked
    owner: str | None
    received: datetime
    conversation_id: str | None = None
    begins: bool = False
    keep: tuple[Turn, ...] = ()


async def reply(
    app_state: ChatState, exchange: PendingExchange, respond: Callable[[], Awaitable[Said]]
) -> Said:
    """Return the reply, once it is in the log and the conversation has it.

    Raises RefusedRequest for an error of ours, which is logged too; of what is cancelled nothing is kept.
    """
    asking = asyncio.ensure_future(respond())
    try:
        await asyncio.wait({asking})
    except asyncio.CancelledError:
        app_state.metrics.cancelled.inc()
        raise
    finally:
        asking.cancel()
    failure = asking.exception()
    if failure is None:
        outcome = asking.result()
        await _keep(app_state, exchange, outcome)
        return outcome
    logger.error("exchange %s failed", exchange.id, exc_info=failure)
    problem = f"{type(failure).__name__}: {failure}"
    await _write(
        app_state,
        exchange,
        Said(text="", kind="unavailable", lang=exchange.asked.lang or "und", error=problem),
    )
    raise RefusedRequest(500, "the server failed at this question; its own log says why")


async def _keep(app_state: ChatState, exchange: PendingExchange, outcome: Said) -> None:
    """Keep the exchange. Conversations that cannot be written cost the user no reply: /health tells."""
    await _write(app_state, exchange, outcome)
    turns = (*exchange.keep, Turn("assistant", outcome.text)) if exchange.conversation_id else ()
    try:
        await app_state.conversations.keep(
            exchange.id,
            exchange.owner,
            exchange.received,
            conversation_id=exchange.conversation_id,
            begins=exchange.begins,
            turns=turns,
            reply=msgspec.json.encode(replied(outcome, exchange.id, exchange.conversation_id)),
        )
    except RagstoneError:
        logger.exception("exchange %s is not among the conversations", exchange.id)


async def _write(app_state: ChatState, exchange: PendingExchange, outcome: Said) -> None:
    """Write the exchange to the log. A log that fails costs the user no reply: /health and /metrics tell."""
    app_state.metrics.count_reply(outcome)
    try:
        await app_state.assistant.log.write(
            exchange.asked,
            outcome,
            exchange_id=exchange.id,
            conversation_id=exchange.conversation_id,
            now=exchange.received,
        )
    except RagstoneError:
        app_state.metrics.unlogged.inc()
        logger.exception("exchange %s is not in the log", exchange.id)


async def unless_gone(request: AnyRequest, work: Coroutine[Any, Any, T]) -> T | None:
    """Return what the work returns; None where the client hung up before, which ends the work."""
    working = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_hung_up(request))
    try:
        await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        gone.cancel()
        if not working.done():
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)


async def _hung_up(request: AnyRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


QUIET_S = 15.0
"""After so long without a word a comment is sent, lest a proxy take the stream for dead."""
DONE = b"data: [DONE]\n\n"

Event = Doing | TextPiece | None


class Delta(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a chunk adds."""

    role: str | None = None
    content: str | None = None


class ChunkChoice(msgspec.Struct, frozen=True):
    """The one choice of a chunk."""

    delta: Delta
    finish_reason: str | None = None
    index: int = 0
    logprobs: None = None


class Working(msgspec.Struct, frozen=True):
    """A tool works. words: what is shown meanwhile."""

    doing: str
    words: str


class StreamChunk(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """OpenAI's chunk."""

    id: str
    created: int
    choices: list[ChunkChoice]
    object: str = msgspec.field(default_factory=lambda: "chat.completion.chunk")
    model: str = msgspec.field(default_factory=lambda: MODEL)
    usage: Tokens | None = None
    ragstone: Working | Replied | None = None


@dataclass(frozen=True)
class Begun:
    """A reply that is being worked on. events: what is heard of it, None at its end."""

    exchange: PendingExchange
    working: asyncio.Task[Said]
    events: asyncio.Queue[Event]


def begin(app_state: ChatState, exchange: PendingExchange) -> Begun:
    """Begin to work on a reply. Its conversation is busy until the work has ended or is cancelled."""
    events: asyncio.Queue[Event] = asyncio.Queue()

    async def respond() -> Said:
        return await app_state.assistant.respond(exchange.asked, events.put_nowait)

    working = asyncio.ensure_future(reply(app_state, exchange, respond))
    app_state.in_flight.add(working)
    working.add_done_callback(lambda task: _let_go_on(app_state, exchange, task))
    working.add_done_callback(lambda _: events.put_nowait(None))
    return Begun(exchange, working, events)


async def sse(begun: Begun, *, include_usage: bool) -> AsyncGenerator[bytes, None]:
    """Yield the events of a reply; the last one but `[DONE]` comes once the exchange is in the log.

    A failure is an event with `error`, and no `[DONE]` comes. Whoever stops to listen ends the work; where
    nobody began to listen, the gate does.
    """
    exchange, working, events = begun.exchange, begun.working, begun.events
    chunks = _Chunks(exchange)
    try:
        yield chunks.encode(Delta(role="assistant", content=""))
        async for event in _heard(events):
            yield chunks.of(event) if event is not None else b": still at it\n\n"
        if failure := working.exception():
            error = problem(CHAT_PATH, 500, getattr(failure, "detail", "the server failed")).error
            yield b"data: " + msgspec.json.encode({"error": error}) + b"\n\n"
            return
        outcome = working.result()
        whole = replied(outcome, exchange.id, exchange.conversation_id)
        yield chunks.encode(Delta(), finish_reason="stop", ragstone=whole)
        if include_usage:
            yield chunks.encode(None, usage=tokens(outcome.usage))
        yield DONE
    finally:
        working.cancel()


def _let_go_on(app_state: ChatState, exchange: PendingExchange, task: asyncio.Task[Said]) -> None:
    """Let the conversation go on. Whatever the task raised has been logged; asyncio need not tell again."""
    app_state.in_flight.discard(task)
    app_state.busy.discard(exchange.conversation_id or "")
    if not task.cancelled():
        task.exception()


async def _heard(events: asyncio.Queue[Event]) -> AsyncGenerator[Event, None]:
    """Yield what is heard until the end, pieces that have piled up as one; None when it is quiet for long."""
    while True:
        try:
            async with asyncio.timeout(QUIET_S):
                event = events.get_nowait() if not events.empty() else await events.get()
        except TimeoutError:
            yield None
            continue
        if event is None:
            return
        pieces = []
        while isinstance(event, TextPiece):
            pieces.append(event.piece)
            if events.empty():
                break
            event = events.get_nowait()
        if pieces:
            yield TextPiece("".join(pieces))
        if event is None:
            return
        if isinstance(event, Doing):
            yield event


class _Chunks:
    """Makes the chunks of one reply."""

    def __init__(self, exchange: PendingExchange) -> None:
        self._id = f"chatcmpl-{exchange.id}"
        self._created = int(exchange.received.timestamp())

    def of(self, event: Doing | TextPiece) -> bytes:
        if isinstance(event, TextPiece):
            return self.encode(Delta(content=event.piece))
        return self.encode(Delta(), ragstone=Working(event.action, event.words))

    def encode(self, delta: Delta | None, *, finish_reason: str | None = None, **more: Any) -> bytes:  # noqa: ANN401
        choices = [] if delta is None else [ChunkChoice(delta, finish_reason)]
        chunk = StreamChunk(id=self._id, created=self._created, choices=choices, **more)
        return b"data: " + msgspec.json.encode(chunk) + b"\n\n"
