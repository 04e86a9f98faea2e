"""Calls to one endpoint, of whatever sort: as many at once as it bears, retried, paced, within the budget."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Protocol, TypeVar

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.budget import Budget
from ragstone.kernel.llm.failures import BadRequest, CallFailed
from ragstone.kernel.llm.limits import RUN, RetryPolicy, backoff_s, own_limits
from ragstone.kernel.llm.transport import BrokenOff, Rephrase
from ragstone.kernel.records import Usage

UNUSED = Usage(calls=0)


class CostedReply(Protocol):
    """What a call brings back: among other things, what it used."""

    @property
    def usage(self) -> Usage:
        """The tokens."""
        ...

    @property
    def cost_usd(self) -> float | None:
        """What the endpoint says that it cost; None where it does not."""
        ...


AnsweredT = TypeVar("AnsweredT", bound=CostedReply)
OnFailure = Callable[[CallFailed], None]
"""Is told of an attempt that shows the endpoint in trouble."""


class _Attempt:
    """One attempt. reply: what it brought back; None while it has not."""

    reply: CostedReply | None = None


class Caller:
    """Makes the calls to one endpoint, from one event loop."""

    def __init__(
        self,
        concurrency: int,
        settings: ModelSettings,
        budget: Budget,
        price: Price | None,
        retry_policy: RetryPolicy = RUN,
        *,
        endpoint: str = "",
    ) -> None:
        """Make a caller; endpoint: its name, by which workers of one cluster share its limits."""
        self.price = price
        self._budget = budget
        self._draw = random.Random(0)
        self._retry_policy = retry_policy
        shared = budget.shared
        if shared is None or not endpoint or endpoint.startswith("llamacpp/"):  # a model in this process
            limits = own_limits(concurrency, settings, retry_policy, self._draw)
        else:
            limits = shared.limits(endpoint, concurrency, settings)
        self.slots, self._circuit = limits.slots, limits.circuit
        self._calls, self._tokens = limits.calls, limits.tokens

    def stop(self) -> None:
        """Make no more calls: who needs one is told so (ModelError). Those in flight come home."""
        self._circuit.stop()

    async def call(
        self, send: Callable[[], Awaitable[AnsweredT]], most: Usage, on_failure: OnFailure | None = None
    ) -> AnsweredT:
        """Return what `send` brings back, after as many attempts as it takes; `most`: what it can use.

        Raises CallFailed for this call, ModelError when no call can succeed. A BadRequest is for the sender
        to understand, and passes.
        """
        self._budget.check_time()
        n_failed = 0
        trying = self._circuit.tries_again()
        while True:
            try:
                async with self._attempt(most, trying=trying) as attempt:
                    answered = await send()
                    attempt.reply = answered
            except Rephrase:
                continue
            except CallFailed as failure:
                if failure.status == "over_budget":
                    raise
                if on_failure is not None and failure.retryable:
                    on_failure(failure)
                self._circuit.attempt_failed(failure)
                n_failed += 1
                if not failure.retryable or n_failed >= self._attempts(failure):
                    self._circuit.call_lost(failure)
                    raise
                self._budget.retried()
                # Never exactly as long as the others who failed with it.
                if failure.retry_after_s is not None:
                    pause_s = failure.retry_after_s + backoff_s(0, self._draw)
                else:
                    pause_s = min(backoff_s(n_failed - 1, self._draw), self._retry_policy.longest_wait_s)
                await asyncio.sleep(pause_s)
            else:
                self._circuit.answered()
                return answered

    def _attempts(self, failure: CallFailed) -> int:
        """Return how many attempts a call has that fails in this way."""
        retry_policy = self._retry_policy
        if (failure.retry_after_s or 0.0) > retry_policy.longest_wait_s:
            return 0
        if failure.status == "timeout":
            return retry_policy.timeouts
        return retry_policy.attempts if self._circuit.has_answered else retry_policy.unproven

    @contextlib.asynccontextmanager
    async def _attempt(self, most: Usage, *, trying: bool) -> AsyncIterator[_Attempt]:
        """Make one attempt within the block, when it is its turn; the budget pays for its reply.

        trying: also where the circuit is open, to test it.
        """
        async with self.slots:
            self._check(trying)
            reservation = await self._budget.reserve(most, self.price)
            attempt = _Attempt()
            used: Usage | None = UNUSED
            try:
                await self._calls.wait()
                if self._tokens.limited:
                    await self._tokens.wait((most.input + most.output) / 4)  # likely; never more than `most`
                self._check(trying)
                used = None  # once it is sent, nobody knows until the endpoint says
                yield attempt
            except CallFailed as failure:
                if failure.status != "timeout" and not isinstance(failure, BrokenOff):
                    used = UNUSED
                if failure.status == "rate_limited":
                    self.slots.refused()
                    if self.slots.refused_in_a_row > 1:  # a single one says nothing about the others
                        self._calls.pause(
                            min(failure.retry_after_s or 0.0, self._retry_policy.longest_wait_s)
                        )
                raise
            except BadRequest:
                used = UNUSED
                raise
            except ModelError as failure:
                used = UNUSED
                self._circuit.open(ModelError(str(failure)))
                raise
            finally:
                reply = attempt.reply
                cost_usd = None if reply is None else reply.cost_usd
                self._budget.settle(reservation, used if reply is None else reply.usage, self.price, cost_usd)
            self.slots.accepted()

    def _check(self, trying: bool) -> None:
        if not trying:
            self._circuit.check()
