"""What is asked of a model and what comes back: plain values."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from ragstone.errors import ModelError
from ragstone.llm.logprobs import MOST_TOP, Token
from ragstone.records import Status, Usage


class Message(msgspec.Struct, frozen=True):
    """One message of a chat."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """One call to a model.

    reply: the type that the reply must have (a msgspec Struct or a pydantic model); None for free text.
    nonce: if given, the reply must carry it in a field `nonce`, so that a text which the model merely
    quotes can never be taken for its verdict. sample: number of the draw, when one prompt is asked
    several times at a temperature above 0. top_logprobs: if given, how many of the likeliest tokens the
    reply lists for each of its places, 0 to 20; ValueError for more. version: of the application that is
    asked, where somebody gave it one: another one makes another call of it.
    """

    messages: tuple[Message, ...]
    reply: type | None = None
    nonce: str | None = None
    max_tokens: int = 1024
    temperature: float = 0.0
    sample: int = 0
    top_logprobs: int | None = None
    version: str = ""

    def __post_init__(self) -> None:
        if self.top_logprobs is not None and not 0 <= self.top_logprobs <= MOST_TOP:
            raise ValueError(f"top_logprobs {self.top_logprobs}: endpoints list 0 to {MOST_TOP} of them")


class Completion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a transport brings back and the ledger keeps. `refusal` is the provider's own refusal.

    latency_s: None for a call of a batch, which nobody timed. discount: the share of the model's price
    that such a call did not cost. cost_usd: where the endpoint itself told it.
    """

    text: str
    finish_reason: str | None = None
    refusal: str | None = None
    usage: Usage = msgspec.field(default_factory=Usage)
    latency_s: float | None = 0.0
    discount: float = 0.0
    logprobs: tuple[Token, ...] | None = None
    cost_usd: float | None = None


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A usable answer to a prompt.

    value: the validated reply, of type `prompt.reply` (None for free text). usage, latency_s and
    cost_usd are of all the calls that it took; cost_usd is None where the price is unknown, latency_s where
    a batch made a call. logprobs: the tokens of `text`; None where the prompt did not ask for them or the
    endpoint has none.
    """

    text: str
    value: Any
    usage: Usage
    latency_s: float | None
    cost_usd: float | None
    logprobs: tuple[Token, ...] | None = None


Ask = Callable[[Prompt], Awaitable[Reply]]

OnText = Callable[[str], None]
Stream = Callable[[Prompt, OnText], Awaitable[Reply]]
"""As Ask, and the function hears the pieces of the text as they come; put together they are `Reply.text`."""


class CallFailed(ModelError):
    """One call ended without a usable reply: the row gets `status`, and the run goes on.

    raw: what the model said, if it said something that could not be used. retry_after_s: how long the
    endpoint asked to be left alone. retryable: whether the same call may go through later.
    """

    def __init__(
        self,
        status: Status,
        message: str,
        *,
        raw: str | None = None,
        usage: Usage | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status: Status = status
        self.raw = raw
        self.usage = usage
        self.retryable = retryable
        self.retry_after_s = retry_after_s
