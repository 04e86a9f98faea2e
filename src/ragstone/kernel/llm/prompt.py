"""What is asked of a model and what comes back, with the probabilities of its tokens: plain values."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from ragstone.kernel.config import Sampling
from ragstone.kernel.llm.questionnaire import Questionnaire
from ragstone.kernel.llm.schema import sent_schema
from ragstone.kernel.records import Usage, checked_usage, figure_of

MOST_TOP = 20
# What OpenAI writes for a token that was all but impossible; JSON has no minus infinity.
LEAST = -9999.0
DIGITS = 5  # a reply of 1,000 tokens with 20 alternatives each is a large row of the ledger

CONTENT_FILTER = "the provider's content filter"
"""The `refusal` of a completion that the provider cut off, and not the model."""


class Alternative(msgspec.Struct, frozen=True, array_like=True):
    """A token that could have stood in a place. logprob: natural logarithm of its probability, at most 0."""

    text: str
    logprob: float


class Token(msgspec.Struct, frozen=True, array_like=True):
    """A token of a reply; `top` are the likeliest in its place, best first, itself among them or not.

    The probabilities are the model's own: before a schema's grammar, where that decides, as llama.cpp gives
    them (hosted endpoints do not say). So those of a scale's labels need not sum to 1: renormalise. A token
    that is a part of a character, or that ends the reply, has no text of its own.
    """

    text: str
    logprob: float
    top: tuple[Alternative, ...] = ()


class _Alternative(msgspec.Struct):
    token: str
    logprob: float | None = None


class _Token(msgspec.Struct):
    token: str
    logprob: float | None = None
    top_logprobs: list[_Alternative] | None = None


class _Logprobs(msgspec.Struct):
    content: list[_Token] | None = None


def read_logprobs(raw: object, n_top: int) -> tuple[Token, ...] | None:
    """Return the tokens of a choice's `logprobs`, None where they are absent or not as OpenAI writes them.

    raw: JSON text as msgspec.Raw, a decoded object, or one with attributes. They are evidence beside the
    reply, so an odd form of them costs no reply.
    """
    try:
        if isinstance(raw, msgspec.Raw):
            raw = msgspec.json.decode(raw)
        if raw is None:
            return None
        logprobs = msgspec.convert(raw, _Logprobs, from_attributes=True)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if not logprobs.content:
        return None
    return tuple(
        Token(
            token.token,
            _bounded(token.logprob),
            tuple(
                Alternative(each.token, _bounded(each.logprob)) for each in (token.top_logprobs or [])[:n_top]
            ),
        )
        for token in logprobs.content
    )


def _bounded(logprob: float | None) -> float:
    """Return a finite number: NaN and what is unknown count as all but impossible."""
    return round(min(0.0, max(LEAST, logprob)), DIGITS) if logprob is not None and logprob <= 1 else LEAST


class Message(msgspec.Struct, frozen=True):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One call to a model.

    reply: the type that the reply must have (a msgspec Struct or a pydantic model); None for free text.
    held_to: the type whose schema the model is held to, where `reply` speaks of the row (of its ids, of how
    many there are): one that is the same for all rows. Whatever it lets pass is checked by `reply`.
    nonce: if given, the reply must carry it in a field `nonce`, so that a text which the model merely
    quotes can never be taken for its verdict. sample: number of the draw, when one prompt is asked
    several times at a temperature above 0. top_logprobs: if given, how many of the likeliest tokens the
    reply lists for each of its places, 0 to 20; ValueError for more. version: of the application that is
    asked, where somebody gave it one: another one makes another call of it.

    max_tokens: of the reply itself; None for no limit. temperature: None for that of the model's settings,
    and where they have none default_temperature; None there too: the provider's own, none is sent.

    questionnaire: what a decision model is asked of the messages, each of which is a text under the name of
    one of its inputs; None for a model that writes. shared: where, in characters of the last message, what
    other prompts begin with too may end; empty for a prompt that shares nothing but its first messages.

    No part of what decides a reply: shared; room, tokens to think in beside it, which the door fills in;
    renew, that a response of an earlier command is not taken.
    """

    messages: tuple[Message, ...]
    reply: type | None = None
    held_to: type | None = None
    nonce: str | None = None
    max_tokens: int | None = 1024
    temperature: float | None = None
    default_temperature: float | None = 0.0
    top_p: float | None = None
    sample: int = 0
    top_logprobs: int | None = None
    version: str = ""
    questionnaire: Questionnaire | None = None
    room: int = 0
    renew: bool = False
    shared: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        asked = self.questionnaire
        if asked is not None and (self.reply is not None or len(asked.inputs) != len(self.messages)):
            raise ValueError("a questionnaire has a name for each message, and its reply no type")
        if self.top_logprobs is not None and not 0 <= self.top_logprobs <= MOST_TOP:
            raise ValueError(f"top_logprobs {self.top_logprobs}: endpoints list 0 to {MOST_TOP} of them")

    @property
    def limit(self) -> int | None:
        """The most tokens that the model may say and think; None for no limit."""
        return None if self.max_tokens is None else self.max_tokens + self.room

    @property
    def shown(self) -> tuple[Message, ...]:
        """The messages as a call log has them: typed questions before the texts that they are about."""
        if self.questionnaire is None:
            return self.messages
        asked = msgspec.json.encode(self.questionnaire.questions).decode()
        texts = zip(self.questionnaire.inputs, self.messages, strict=True)
        return (
            Message("system", asked),
            *(Message(each.role, f"{name}: {each.content}") for name, each in texts),
        )

    @property
    def form(self) -> type | None:
        """The type whose schema the model is held to."""
        return self.held_to or self.reply

    @property
    def schema(self) -> bytes | None:
        """The JSON Schema that is sent, see sent_schema; None for free text."""
        return None if self.form is None else sent_schema(self.form, self.nonce is not None)


class Completion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a transport brings back and the ledger keeps. `refusal` is the provider's own refusal.

    Its figures are checked whoever made it, an old ledger too: those that cannot be are absent.

    reasoning: what the model thought, where the endpoint tells it apart from what it says. latency_s: None
    for a call of a batch, which nobody timed. discount: the share of the model's price that such a call did
    not cost. cost_usd: where the endpoint itself told it.
    """

    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    latency_s: float | None = 0.0
    discount: float = 0.0
    logprobs: tuple[Token, ...] | None = None
    cost_usd: float | None = None

    def __post_init__(self) -> None:
        checked = {
            "usage": checked_usage(self.usage),
            "latency_s": figure_of(self.latency_s),
            "cost_usd": figure_of(self.cost_usd),
            "discount": self.discount if 0 <= self.discount <= 1 else 0.0,
        }
        for name, value in checked.items():
            if value is not getattr(self, name):
                msgspec.structs.force_setattr(self, name, value)


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A usable answer to a prompt.

    value: the validated reply, of type `prompt.reply` (None for free text); the answers to a questionnaire,
    a tuple of OptionChances. usage, latency_s and
    cost_usd are of all the calls that it took; cost_usd is None where the price is unknown, latency_s where
    a batch made a call. logprobs: the tokens of `text`; None where the prompt did not ask for them or the
    endpoint has none. kept: whether it is of an earlier command, and may be asked for anew (Prompt.renew) by
    who finds it of no use.
    """

    text: str
    value: Any
    usage: Usage
    latency_s: float | None
    cost_usd: float | None
    logprobs: tuple[Token, ...] | None = None
    kept: bool = False


Ask = Callable[[Prompt], Awaitable[Reply]]


def sampled(ask: Ask, sampling: Sampling) -> Ask:
    """Return an Ask that draws replies so; a prompt that asks for a temperature itself keeps its own."""
    declared = {name: value for name, value in msgspec.structs.asdict(sampling).items() if value is not None}
    if not declared:
        return ask

    async def draw(prompt: Prompt) -> Reply:
        own = {} if prompt.temperature is None else {"temperature": prompt.temperature}
        return await ask(msgspec.structs.replace(prompt, **declared | own))

    return draw


OnText = Callable[[str], None]
Stream = Callable[[Prompt, OnText], Awaitable[Reply]]
"""As Ask, and the function hears the pieces of the text as they come; put together they are `Reply.text`."""
