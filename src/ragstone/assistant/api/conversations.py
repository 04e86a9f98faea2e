"""Conversations that the server keeps, and what people say of its replies."""

from typing import Literal

import msgspec
from litestar import delete, get, post
from litestar.params import FromPath, JSONBody

from ragstone.assistant.api.bodies import FeedbackRequest, Replied
from ragstone.assistant.api.desk import AnyRequest, AtDesk, owner_of
from ragstone.assistant.api.history import Summary
from ragstone.assistant.api.problems import Refused, fails


class ConversationId(msgspec.Struct, frozen=True):
    """A conversation that has begun."""

    id: str


class ConversationTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn. ragstone: of the assistant's, what the reply carried besides its text."""

    role: Literal["user", "assistant"]
    text: str
    exchange_id: str
    ragstone: Replied | None


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation, its turns in order."""

    id: str
    turns: list[ConversationTurn]


class ConversationList(msgspec.Struct, frozen=True):
    """The last 200 conversations of a key, newest first; empty where there are no keys."""

    conversations: list[Summary]


GONE = "there is no such conversation"


@post("/v1/conversations", status_code=201, summary="Begin a conversation", responses=fails(), tags=["chat"])
async def begin_conversation(request: AnyRequest, desk: AtDesk) -> ConversationId:
    """Begin a conversation; without keys, who knows its id may read, go on with and delete it."""
    return ConversationId(await desk.conversations.create(owner_of(request), desk.clocks.now()))


@get("/v1/conversations", summary="Conversations of a key", responses=fails(), tags=["chat"])
async def list_conversations(request: AnyRequest, desk: AtDesk) -> ConversationList:
    """List the conversations of the key."""
    return ConversationList(await desk.conversations.listed(owner_of(request)))


@get(
    "/v1/conversations/{conversation_id:str}",
    summary="A conversation with its turns",
    responses=fails(404),
    tags=["chat"],
)
async def read_conversation(
    request: AnyRequest, conversation_id: FromPath[str], desk: AtDesk
) -> Conversation:
    """Give the turns of a conversation."""
    kept = await desk.conversations.turns(conversation_id, owner_of(request))
    if kept is None:
        raise Refused(404, GONE)
    turns = [
        ConversationTurn(
            role=one.role,
            text=one.text,
            exchange_id=one.exchange_id,
            ragstone=msgspec.json.decode(one.reply, type=Replied) if one.reply else None,
        )
        for one in kept
    ]
    return Conversation(id=conversation_id, turns=turns)


@delete(
    "/v1/conversations/{conversation_id:str}",
    status_code=204,
    summary="Delete a conversation",
    responses=fails(404),
    tags=["chat"],
)
async def delete_conversation(request: AnyRequest, conversation_id: FromPath[str], desk: AtDesk) -> None:
    """Delete a conversation's text. The log keeps its exchanges, masked."""
    if not await desk.conversations.delete(conversation_id, owner_of(request)):
        raise Refused(404, GONE)


@post(
    "/v1/feedback",
    status_code=204,
    summary="Say whether a reply helped",
    responses=fails(400, 404, 413),
    tags=["chat"],
)
async def give_feedback(request: AnyRequest, data: JSONBody[FeedbackRequest], desk: AtDesk) -> None:
    """Write a thumb and a correction beside an exchange of one's own; later ones replace earlier ones."""
    if not await desk.conversations.owns(data.exchange_id, owner_of(request)):
        raise Refused(404, "there is no such exchange")
    await desk.assistant.log.feedback(data.exchange_id, data.thumb, data.correction, desk.clocks.now())
    desk.metrics.feedback.labels(data.thumb or "none").inc()
