"""Calls that a model of one's own answers many at a time: collected, answered together, kept in the ledger.

As with a provider's batches (batch.py), a stage is run to hear its calls; those that the ledger lacks are put
off, and answered in one go; then the stage is run again, until none is left. Ledger, budget and prompts are
those of any other call.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

import msgspec

from ragstone.kernel.config import Price
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm._batch import PUT_OFF, UNUSED, Renewals
from ragstone.kernel.llm.budget import Budget, most_tokens
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Completion, Prompt
from ragstone.kernel.llm.response_store import AnyLedger


class AnsweredCall(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the call at a place of those that were asked: a completion, or why there is none."""

    place: int
    completion: Completion | None = None
    error: str = ""


Process = Callable[[Sequence[Prompt]], Iterable[AnsweredCall]]
"""Answers prompts, in any order; it may wait, and is run in a thread. Raises ModelError."""


class Rounds:
    """The calls of one model that are answered in rounds; a door that has one completes calls by it."""

    def __init__(
        self,
        identity: str,
        process: Process,
        ledger: AnyLedger,
        budget: Budget,
        *,
        price: Price | None,
        offline: bool,
    ) -> None:
        self.collecting = False
        self._identity, self._process = identity, process
        self._ledger, self._budget, self._price, self._offline = ledger, budget, price, offline
        self._waiting: dict[bytes, tuple[Prompt, int]] = {}
        self._failures: dict[bytes, CallFailed] = {}
        self._fresh: set[bytes] = set()  # answered for this command, and not yet used
        self._renewals = Renewals()

    async def load(self) -> None:
        """Nothing is on its way from an earlier command."""

    async def complete(self, key: bytes, prompt: Prompt, *, renew: bool) -> tuple[Completion, bool]:
        """Return the completion that the ledger has, and whether this command has made it; see Batches."""
        fresh = key in self._fresh
        completion = await self._ledger.find(key, saved=not (fresh or self.collecting))
        if completion is None or (renew and self._renewals.is_stale(key, collecting=self.collecting)):
            raise self._put_off(key, prompt) if self.collecting else self._lacking(key)
        if self.collecting:
            return completion, self._renewals.has_answered(key)
        if fresh:
            self._fresh.discard(key)
        else:
            self._budget.from_ledger += 1
        self._budget.count(completion, self._price)
        return completion, self._renewals.has_answered(key)

    async def round(self) -> bool:
        """Answer what was put off; return whether there was any. Raises ModelError."""
        waiting, self._waiting = self._waiting, {}
        if not waiting:
            return False
        keys = list(waiting)
        answered = await asyncio.to_thread(
            lambda: list(self._process([prompt for prompt, _number in waiting.values()]))
        )
        for call in answered:
            key = keys[call.place]
            _prompt, number = waiting.pop(key)
            if call.completion is None:
                self._failures[key] = CallFailed("error", call.error)
                self._budget.settle(number, UNUSED, self._price)
                continue
            await self._ledger.put(
                key, self._identity, call.completion, renewed=self._renewals.is_awaited(key)
            )
            self._renewals.answered(key)
            self._budget.settle(number, call.completion.usage, self._price)
            self._fresh.add(key)
        for key, (_prompt, number) in waiting.items():
            self._budget.settle(number, UNUSED, self._price)
            self._failures[key] = CallFailed("error", f"{self._identity} gave no reply to this call")
        return True

    def close(self) -> None:
        """Forget what was put off."""
        self._waiting = {}

    def _put_off(self, key: bytes, prompt: Prompt) -> CallFailed:
        failure = self._failures.get(key)
        if failure is None and self._offline:
            failure = CallFailed("error", "offline, and the ledger lacks this call")
        if failure is None and key not in self._waiting:
            try:
                self._budget.check_time()
                number = self._budget.reserve_now(most_tokens(prompt), self._price)
            except CallFailed as over:
                failure = over
            else:
                self._waiting[key] = prompt, number
        if failure is not None:
            self._failures[key] = failure
            return CallFailed(failure.status, str(failure))
        return CallFailed("error", PUT_OFF)

    def _lacking(self, key: bytes) -> ModelError:
        failure = self._failures.get(key)
        if failure is not None:
            return CallFailed(failure.status, str(failure))
        return ModelError(
            f"{self._identity} answers many calls at a time, for judge, answer and run. For this command "
            "serve it with `vllm serve`, and name it openai/MODEL with its base_url; or take llamacpp/..."
        )
