"""What every transport gives: one function that makes one call, once."""

from collections.abc import Awaitable, Callable

import msgspec

from ragstone.config import Price
from ragstone.llm.prompt import CallFailed, Completion, Prompt

Send = Callable[[Prompt], Awaitable[Completion]]


class Unreachable(CallFailed):
    """Nobody there, or somebody who does not speak the protocol: fatal if it is so from the first call on."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message, retryable=True)


class Rephrase(CallFailed):
    """The endpoint wants such requests in another form, which the transport now knows: send it again."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message, retryable=True)


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model that can be asked.

    identity: what the ledger knows the model by. send: makes one call without retrying; raises CallFailed
    for this call, ModelError when no call can succeed. price: what the transport knows of it.
    """

    identity: str
    send: Send
    concurrency: int
    price: Price | None
