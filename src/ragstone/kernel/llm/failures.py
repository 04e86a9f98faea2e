"""The errors of calls that bring no usable reply, by what a run does about them."""

from collections.abc import Callable
from typing import Any

from ragstone.kernel.errors import ModelError, harmless
from ragstone.kernel.records import Status, Usage


class NoProbabilities(ModelError):
    """The model gives no probabilities of tokens, and the prompt asks for them: no call to it can succeed."""


class CallFailed(ModelError):
    """One call ended without a usable reply: the row gets `status`, and the run goes on.

    raw: what the model said, if it said something that could not be used. kept: whether all that it said is
    of an earlier command, see Reply. retry_after_s: how long the
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
        kept: bool = False,
    ) -> None:
        super().__init__(harmless(message))
        self.kept = kept
        self.status: Status = status
        self.raw = raw
        self.usage = usage
        self.retryable = retryable
        self.retry_after_s = retry_after_s

    def __reduce__(self) -> tuple[Callable[..., "CallFailed"], tuple[object, ...]]:
        return _sent, (type(self), str(self), self.__dict__)  # from one process to another

    def charged(self, usage: Usage | None, raw: str | None = None) -> "CallFailed":
        """Return the same failure of a conversation that took `usage` before; raw: in place of its own."""
        return _sent(type(self), str(self), self.__dict__ | {"usage": usage, "raw": raw or self.raw})


class Unreachable(CallFailed):
    """Nobody there, or somebody who does not speak the protocol: fatal if it is so from the first call on."""

    def __init__(self, message: str) -> None:
        super().__init__("error", message, retryable=True)


class AppFailed(CallFailed):
    """An application under test failed at this question: a finding about it, and no reason to stop asking."""


class BadRequest(Exception):
    """HTTP 400, 413 or 422 with the provider's words; raw: the same before the key was hidden in them."""

    def __init__(self, words: str, *, raw: str = "") -> None:
        super().__init__(words)
        self.raw = raw or words


# Exceptions are rebuilt by their `args`, which here are the message alone: status and usage would be lost.
def _sent(kind: type[CallFailed], message: str, stated: dict[str, Any]) -> CallFailed:
    failure = kind.__new__(kind, message)  # without __init__, which kinds have with other parameters
    failure.__dict__.update(stated)
    return failure
