"""One exchange: it is asked, answered, written to the log and kept, before its end is told to the client."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, TypeVar

import msgspec

from ragstone.assistant.api.bodies import replied
from ragstone.assistant.api.desk import AnyRequest, Desk
from ragstone.assistant.api.problems import Refused
from ragstone.assistant.conversation import Asked, Said, Turn
from ragstone.errors import RagstoneError

logger = logging.getLogger("ragstone.serve")
T = TypeVar("T")


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
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


async def reply(desk: Desk, exchange: Exchange, respond: Callable[[], Coroutine[Any, Any, Said]]) -> Said:
    """Return the reply, once it is in the log and the conversation has it.

    Raises Refused for an error of ours, which is logged too; of what is cancelled nothing is kept.
    """
    asking = asyncio.ensure_future(respond())
    try:
        await asyncio.wait({asking})
    except asyncio.CancelledError:
        desk.metrics.cancelled.inc()
        raise
    finally:
        asking.cancel()
    failure = asking.exception()
    if failure is None:
        said = asking.result()
        await _keep(desk, exchange, said)
        return said
    logger.error("exchange %s failed", exchange.id, exc_info=failure)
    told = f"{type(failure).__name__}: {failure}"
    await _write(
        desk, exchange, Said(text="", kind="unavailable", lang=exchange.asked.lang or "und", error=told)
    )
    raise Refused(500, "the server failed at this question; its own log says why")


async def _keep(desk: Desk, exchange: Exchange, said: Said) -> None:
    """Keep the exchange. Conversations that cannot be written cost the user no reply: /health tells."""
    await _write(desk, exchange, said)
    turns = (*exchange.keep, Turn("assistant", said.text)) if exchange.conversation_id else ()
    try:
        await desk.conversations.keep(
            exchange.id,
            exchange.owner,
            exchange.received,
            conversation_id=exchange.conversation_id,
            begins=exchange.begins,
            turns=turns,
            reply=msgspec.json.encode(replied(said, exchange.id, exchange.conversation_id)),
        )
    except RagstoneError:
        logger.exception("exchange %s is not among the conversations", exchange.id)


async def _write(desk: Desk, exchange: Exchange, said: Said) -> None:
    """Write the exchange to the log. A log that fails costs the user no reply: /health and /metrics tell."""
    desk.metrics.count_reply(said)
    try:
        await desk.assistant.log.write(
            exchange.asked,
            said,
            exchange_id=exchange.id,
            conversation_id=exchange.conversation_id,
            now=exchange.received,
        )
    except RagstoneError:
        desk.metrics.unlogged.inc()
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
