"""What the HTTP API reads and writes, as values; its OpenAPI document is made from them."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from ragstone.kernel.records import Usage
from ragstone_assistant.answering.prompting import nearest_of
from ragstone_assistant.conversation import Citation, Kind, LoopStep, Passage, Said

MODEL = "assistant"
"""The only model that /v1/chat/completions knows."""

Lang = Annotated[str, msgspec.Meta(pattern="^[a-z]{2,3}$", description="ISO 639 code of the reply")]
Filters = Annotated[
    dict[str, str],
    msgspec.Meta(
        description="tags that the passages must have, or have no value of; where none is left, a reply "
        "goes without those of `loosen`, and says so",
        extra_json_schema={"examples": [{}]},
    ),
]
Words = Annotated[str, msgspec.Meta(min_length=1)]


class Part(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    """A part of a message; only text is read."""

    text: str


class Refusal(msgspec.Struct, frozen=True, tag_field="type", tag="refusal"):
    """A refusal of an earlier reply."""

    refusal: str


class Message(msgspec.Struct, frozen=True):
    """A message. Those of `system`, `developer`, `tool` and `function` are accepted and not read."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part | Refusal] | None = None

    @property
    def text(self) -> str:
        """The text of all parts."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if isinstance(part, Part))


class StreamOptions(msgspec.Struct, frozen=True):
    """include_usage: a chunk with the tokens comes before `[DONE]`."""

    include_usage: bool | None = None


class TextFormat(msgspec.Struct, frozen=True):
    """The only format that replies have."""

    type: Literal["text"] = "text"


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """OpenAI's request. What is not listed here, e.g. `temperature` and `tools`, is accepted and not read.

    conversation_id: the server knows the earlier turns, and of `messages` only the last one of the user's
    counts.
    """

    model: str
    messages: Annotated[
        list[Message],
        msgspec.Meta(min_length=1, max_length=1000, description="at least one is the user's"),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None
    conversation_id: str | None = None
    filters: Filters | None = None
    lang: Lang | None = None
    n: Literal[1] | None = None
    response_format: TextFormat | None = None
    tool_choice: Literal["auto", "none"] | None = None
    store: bool | None = None


class Cited(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that the reply cites by its number."""

    number: int
    chunk_id: str
    document_id: str
    title: str
    page: int | None
    text: str


class Replied(msgspec.Struct, frozen=True, kw_only=True):
    """What a reply carries besides OpenAI's fields. conversation_id: null where none was given and
    none has begun: `messages` had several, or `store` is false. nearest: of a
    refusal the passages that its text names, which do not hold the answer; their numbers are not in the text.
    """

    exchange_id: str
    conversation_id: str | None
    kind: Kind
    lang: str
    citations: list[Cited]
    links: list[tuple[str, str]]
    steps: list[LoopStep]
    nearest: list[Cited] = []


class ReplyMessage(msgspec.Struct, frozen=True):
    """The reply as a message."""

    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


class Choice(msgspec.Struct, frozen=True):
    """The one choice."""

    message: ReplyMessage
    index: int = 0
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Tokens(msgspec.Struct, frozen=True):
    """Tokens of all calls that the reply took."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatReply(msgspec.Struct, frozen=True, kw_only=True):
    """OpenAI's response, and `ragstone` with sources and steps."""

    id: str
    created: int
    choices: list[Choice]
    usage: Tokens
    ragstone: Replied
    object: Literal["chat.completion"] = "chat.completion"
    model: str = MODEL


class ModelCard(msgspec.Struct, frozen=True):
    """A model in OpenAI's list."""

    id: str = MODEL
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "ragstone"


class ModelList(msgspec.Struct, frozen=True):
    """OpenAI's list of models."""

    data: list[ModelCard]
    object: Literal["list"] = "list"


class RetrieveRequest(msgspec.Struct, frozen=True, kw_only=True):
    """k: how many passages; default that of `[assistant]`."""

    question: Words
    filters: Filters | None = None
    k: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A passage, in the form of an Answer row's context, with its source."""

    id: str
    document_id: str
    text: str
    score: float
    title: str
    page: int | None


class Retrieved(msgspec.Struct, frozen=True):
    """Passages, best first."""

    contexts: list[Found]


class AnswerRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A question that is answered from the documents, without the agent and without a conversation."""

    question: Words
    filters: Filters | None = None
    lang: Lang | None = None


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The answer in the form of an Answer row; `[systems]` of kind "http" reads it."""

    exchange_id: str
    answer: str
    kind: Kind
    lang: str
    citations: list[Cited]
    contexts: list[Found]
    latency_s: float
    usage: Usage
    cost_usd: float | None
    error: str | None


class FeedbackRequest(msgspec.Struct, frozen=True, kw_only=True):
    """correction: what the answer should have been. Of several, the last one counts."""

    exchange_id: str
    thumb: Literal["up", "down"] | None = None
    correction: Annotated[str, msgspec.Meta(max_length=4000)] | None = None


class PassageBody(msgspec.Struct, frozen=True, kw_only=True):
    """A passage with the text around it."""

    document_id: str
    title: str
    page: int | None
    source: str | None
    text: str
    before: str
    after: str


def cited(citations: Sequence[Citation]) -> list[Cited]:
    """Return citations as they are shown."""
    return [
        Cited(
            number=citation.number,
            chunk_id=citation.passage.chunk_id,
            document_id=citation.passage.document_id,
            title=citation.passage.title,
            page=citation.passage.page,
            text=citation.passage.text,
        )
        for citation in citations
    ]


def found(passages: tuple[Passage, ...] | list[Passage]) -> list[Found]:
    """Return passages as contexts."""
    return [
        Found(
            id=passage.chunk_id,
            document_id=passage.document_id,
            text=passage.text,
            score=passage.score,
            title=passage.title,
            page=passage.page,
        )
        for passage in passages
    ]


def replied(outcome: Said, exchange_id: str, conversation_id: str | None) -> Replied:
    """Return what a reply carries besides its text."""
    near = nearest_of(outcome.passages) if outcome.kind == "refusal" else []
    return Replied(
        exchange_id=exchange_id,
        conversation_id=conversation_id,
        kind=outcome.kind,
        lang=outcome.lang,
        citations=cited(outcome.citations),
        links=list(outcome.links),
        steps=list(outcome.steps),
        nearest=cited([Citation(number=number, passage=passage) for number, passage in enumerate(near, 1)]),
    )


def tokens(usage: Usage) -> Tokens:
    """Return the tokens in OpenAI's words."""
    return Tokens(usage.input, usage.output, usage.input + usage.output)
