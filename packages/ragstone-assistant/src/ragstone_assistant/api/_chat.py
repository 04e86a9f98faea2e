"""`POST /v1/chat/completions`, as OpenAI's clients know it, its models, and kept conversations."""

from typing import Any, Literal

import msgspec
from litestar import Response, delete, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import FromPath, JSONBody
from litestar.response import Stream

from ragstone.kernel.records import Turn
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone_assistant.api._bodies import (
    MODEL,
    ChatReply,
    ChatRequest,
    Choice,
    FeedbackRequest,
    ModelCard,
    ModelList,
    Replied,
    ReplyMessage,
    replied,
    tokens,
)
from ragstone_assistant.api._history import Summary, new_id
from ragstone_assistant.api._problems import fails
from ragstone_assistant.api._replying import PendingExchange, begin, reply, sse, unless_gone
from ragstone_assistant.api.state import ChatState, WithState, end_with, owner_of
from ragstone_assistant.conversation import Asked, silent

MOST_TURNS = 200
READ_TURNS = 40
"""Of a longer conversation the assistant reads the last ones."""

MOST_CHANGES = 5  # of what somebody says of one reply
MOST_REMEMBERED = 10_000  # replies whose feedback is compared with what was said before
STREAMED = "With `stream`, chunks as `text/event-stream`, the last of them `[DONE]`."
CLOSED = 499
"""What nginx calls a client that did not wait; nobody receives it, but the metrics count it."""


@post(
    "/v1/chat/completions",
    status_code=200,
    summary="A reply of the assistant, whole or streamed",
    description=STREAMED,
    responses={
        200: ResponseSpec(data_container=ChatReply, description="The reply", generate_examples=False),
        **fails(400, 404, 409, 413, 422),
    },
    tags=["chat"],
)
async def chat_completions(
    request: AnyRequest, data: JSONBody[ChatRequest], app_state: WithState
) -> Response[Any]:
    """Answer the last question of a conversation."""
    exchange = await _exchange(request, data, app_state)
    busy = exchange.conversation_id
    if busy is not None:
        if busy in app_state.busy:
            raise RefusedRequest(409, "a reply is being written in this conversation: wait for it")
        app_state.busy.add(busy)
    if data.stream:
        usage = bool(data.stream_options and data.stream_options.include_usage)
        begun = begin(app_state, exchange)
        end_with(request, begun.working)
        return Stream(
            sse(begun, include_usage=usage),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-cache", "X-Accel-Buffering": "no"},
        )
    try:
        work = reply(app_state, exchange, lambda: app_state.assistant.respond(exchange.asked, silent))
        outcome = await unless_gone(request, work)
    finally:
        if busy is not None:
            app_state.busy.discard(busy)
    if outcome is None:
        return Response(b"", status_code=CLOSED)
    return Response(
        msgspec.json.encode(
            ChatReply(
                id=f"chatcmpl-{exchange.id}",
                created=int(exchange.received.timestamp()),
                choices=[Choice(ReplyMessage(outcome.text))],
                usage=tokens(outcome.usage),
                ragstone=replied(outcome, exchange.id, exchange.conversation_id),
            )
        ),
        media_type="application/json",
    )


@get("/v1/models", summary="The models that may be asked", responses=fails(), tags=["chat"])
async def models() -> ModelList:
    """List the one model that there is."""
    return ModelList([ModelCard()])


@get("/v1/models/{model:str}", summary="A model", responses=fails(400, 404), tags=["chat"])
async def model_card(model: FromPath[str]) -> ModelCard:
    """Describe the one model that there is."""
    _check_model(model)
    return ModelCard()


async def _exchange(request: AnyRequest, body: ChatRequest, app_state: ChatState) -> PendingExchange:
    """Return the exchange that a request asks for. Raises RefusedRequest."""
    _check_model(body.model)
    turns = [
        Turn(message.role, message.text)
        for message in body.messages
        if message.role in ("user", "assistant") and message.text.strip()
    ]
    while turns and turns[-1].role == "assistant":
        turns.pop()
    if not turns:
        raise RefusedRequest(422, "messages has no question: the last one with text must be the user's")
    check_question(turns[-1].content, app_state)
    owner, now = owner_of(request), app_state.clocks.now()
    conversation_id, asked_turns, keep = body.conversation_id, turns, (turns[-1],)
    if conversation_id is not None:
        asked_turns = [*await _earlier(app_state, conversation_id, owner), turns[-1]]
    begins = conversation_id is None and len(turns) == 1 and body.store is not False
    return PendingExchange(
        id=new_id("x"),
        asked=Asked(turns=tuple(asked_turns[-READ_TURNS:]), filters=dict(body.filters or {}), lang=body.lang),
        owner=owner,
        received=now,
        conversation_id=new_id("c") if begins else conversation_id,
        begins=begins,
        keep=keep,
    )


async def _earlier(app_state: ChatState, conversation_id: str, owner: str | None) -> list[Turn]:
    turns = await app_state.conversations.turns(conversation_id, owner)
    if turns is None:
        raise RefusedRequest(404, "there is no such conversation: start one by leaving out conversation_id")
    if len(turns) >= MOST_TURNS:
        raise RefusedRequest(409, f"this conversation has {MOST_TURNS} turns: start another one")
    return [Turn(turn.role, turn.text) for turn in turns]


def check_question(question: str, app_state: ChatState) -> None:
    """Check that a question says something and is not too long. Raises RefusedRequest."""
    if not question.strip():
        raise RefusedRequest(422, "the question is empty")
    n_kb = len(question.encode("utf-8", "surrogatepass")) / 1024
    if n_kb > app_state.serve.max_question_kb:
        most = app_state.serve.max_question_kb
        raise RefusedRequest(
            413, f"the question has {n_kb:.0f} KB; the limit is {most} KB: ask a shorter one"
        )


def _check_model(name: str) -> None:
    if name != MODEL:
        raise RefusedRequest(404, f"there is no model {name!r}: ask {MODEL!r}", code="model_not_found")


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
async def begin_conversation(request: AnyRequest, app_state: WithState) -> ConversationId:
    """Begin a conversation; without keys, who knows its id may read, go on with and delete it."""
    return ConversationId(await app_state.conversations.create(owner_of(request), app_state.clocks.now()))


@get("/v1/conversations", summary="Conversations of a key", responses=fails(), tags=["chat"])
async def list_conversations(request: AnyRequest, app_state: WithState) -> ConversationList:
    """List the conversations of the key."""
    return ConversationList(await app_state.conversations.listed(owner_of(request)))


@get(
    "/v1/conversations/{conversation_id:str}",
    summary="A conversation with its turns",
    responses=fails(400, 404),
    tags=["chat"],
)
async def read_conversation(
    request: AnyRequest, conversation_id: FromPath[str], app_state: WithState
) -> Conversation:
    """Give the turns of a conversation."""
    stored = await app_state.conversations.turns(conversation_id, owner_of(request))
    if stored is None:
        raise RefusedRequest(404, GONE)
    turns = [
        ConversationTurn(
            role=turn.role,
            text=turn.text,
            exchange_id=turn.exchange_id,
            ragstone=msgspec.json.decode(turn.reply, type=Replied) if turn.reply else None,
        )
        for turn in stored
    ]
    return Conversation(id=conversation_id, turns=turns)


@delete(
    "/v1/conversations/{conversation_id:str}",
    status_code=204,
    summary="Delete a conversation",
    responses=fails(400, 404),
    tags=["chat"],
)
async def delete_conversation(
    request: AnyRequest, conversation_id: FromPath[str], app_state: WithState
) -> None:
    """Delete a conversation's text. The log keeps its exchanges, masked."""
    if not await app_state.conversations.delete(conversation_id, owner_of(request)):
        raise RefusedRequest(404, GONE)


@post(
    "/v1/feedback",
    status_code=204,
    summary="Say whether a reply helped",
    responses=fails(400, 404, 409, 413),
    tags=["chat"],
)
async def give_feedback(request: AnyRequest, data: JSONBody[FeedbackRequest], app_state: WithState) -> None:
    """Write a thumb and a correction beside an exchange of one's own; later ones replace earlier ones."""
    if not await app_state.conversations.owns(data.exchange_id, owner_of(request)):
        raise RefusedRequest(404, "there is no such exchange")
    word = (data.thumb, (data.correction or "").strip())
    before = app_state.feedback.get(data.exchange_id, [])
    if word != (None, ""):
        if before and before[-1] == word:
            return
        if len(before) >= MOST_CHANGES:
            raise RefusedRequest(
                409, f"feedback on this reply was changed {MOST_CHANGES} times: the last one counts"
            )
    await app_state.assistant.log.feedback(
        data.exchange_id, data.thumb, data.correction, app_state.clocks.now()
    )
    app_state.metrics.feedback.labels(data.thumb or "none").inc()
    if word != (None, ""):
        app_state.feedback.pop(data.exchange_id, None)
        app_state.feedback[data.exchange_id] = [*before, word]
        while len(app_state.feedback) > MOST_REMEMBERED:
            del app_state.feedback[next(iter(app_state.feedback))]
