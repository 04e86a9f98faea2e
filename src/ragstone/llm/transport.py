"""What every transport gives: one function that makes one call, once."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from ragstone.config import Price
from ragstone.errors import ModelError
from ragstone.llm.dialect import Dialect
from ragstone.llm.prompt import CallFailed, Completion, OnText, Prompt

Send = Callable[[Prompt], Awaitable[Completion]]
Where = Callable[..., str]
"""Keys of a model's table in ragstone.toml -> where they stand, `ragstone.toml:12`."""

StreamSend = Callable[[Prompt, OnText], Awaitable[Completion]]


class Unreachable(CallFailed):
    """Nobody there, or somebody who does not speak the protocol: fatal if it is so from the first call on."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message, retryable=True)


class BrokenOff(CallFailed):
    """A reply that ended in the middle, after some of it was passed on: to ask again would say it twice."""

    def __init__(self, failure: ModelError, said: str) -> None:
        status = failure.status if isinstance(failure, CallFailed) else "error"
        super().__init__(status, f"{failure} (after {len(said)} characters of the reply)", raw=said)


class AppFailed(CallFailed):
    """An application under test failed at this question: a finding about it, and no reason to stop asking."""


class Rephrase(CallFailed):
    """The endpoint wants such requests in another form, which the transport now knows: send it again."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message, retryable=True)


class BadRequest(Exception):
    """HTTP 400, 413 or 422 with the provider's words; raw: the same before the key was hidden in them."""

    def __init__(self, words: str, *, raw: str = "") -> None:
        super().__init__(words)
        self.raw = raw or words


class Wire(msgspec.Struct, frozen=True, kw_only=True):
    """How an endpoint of the OpenAI protocol is spoken to, for what is more than one call: see batch_api.py.

    name: its address, fit to be shown. encode: a call -> the body of its request. decode: HTTP status and
    body of a reply, and how many logprobs were asked for -> what `send` returns and raises. exchange:
    method, path below base_url, and a body or a file to upload -> HTTP status and body.
    """

    name: str
    encode: Callable[[Prompt], bytes]
    decode: Callable[[int, bytes, int | None], Completion]
    exchange: Callable[[str, str, bytes | Path | None], Awaitable[tuple[int, bytes]]]


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be asked.

    identity: what the ledger knows the model by. send: makes one call without retrying; raises CallFailed
    for this call, ModelError when no call can succeed. stream: does the same for free text, whose pieces it
    passes on as they come; what it passed on is, put together, the completion's text, or the beginning of it
    where an error ends it. None for a transport that cannot. price: what the transport knows of it. wire:
    None for a transport that has no batch API. dialect: gives what has been learnt of how it is asked, up to
    now; None for a transport that learns nothing of that kind.
    """

    identity: str
    send: Send
    concurrency: int
    price: Price | None
    stream: StreamSend | None = None
    wire: Wire | None = None
    dialect: Callable[[], Dialect] | None = None
