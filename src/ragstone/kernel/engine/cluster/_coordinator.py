"""The coordinator of a run: ledger, budget and limits of endpoints, which all workers share. It knows no Ray.

Workers call its methods by their channels, many in one message. No answer is put off: who must wait asks
again, so that a message never waits for another worker.
"""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from ragstone.kernel.errors import ModelError, RagstoneError
from ragstone.kernel.llm import AnyLedger
from ragstone.kernel.llm.budget import Budget, BudgetCounts, Caps, sum_usd
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.limits import Circuit, Pace, Slots
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import LedgerTurn
from ragstone.kernel.records import Status

SILENT_S = 30.0  # after so long without a word, a worker is taken for dead, and what it held is the others'
HELD_S = 0.05  # how long a reservation waits for those in flight, before its worker asks again

Call = tuple[str, tuple[object, ...]]
"""A method of the coordinator by name, and its arguments after the worker's name."""

Learnt = dict[str, Mapping[str, object]]
"""Models, by their names in the ledger -> fields of what was learnt of them, see llm.learnt."""

Opened = Mapping[str, tuple[str, str | None]]
"""Models that were opened -> their names in the ledger, and the days of their list prices."""


class EndpointUse(NamedTuple):
    """What a worker says of an endpoint, and what happened there since it last did.

    concurrency, calls and tokens a minute: what the endpoint bears. wanted: calls that could be made at once.
    held: those that are allowed or under way. failed: attempts, or (True) calls after all their attempts.
    broken: why no call can succeed.
    """

    endpoint: str
    concurrency: int
    calls_per_minute: int | None
    tokens_per_minute: int | None
    wanted: int
    held: int
    n_accepted: int = 0
    n_refused: int = 0
    pause_s: float = 0.0
    failed: tuple[tuple[CallFailed, bool], ...] = ()
    broken: ModelError | None = None


class Lease(NamedTuple):
    """How a worker may use an endpoint until it asks again.

    slots: calls at once. pause_s: for how long nobody begins a call. why_not: why none is made any more.
    """

    slots: int
    has_answered: bool
    pause_s: float
    why_not: ModelError | None


class SharedEndpoint:
    """The limits of an endpoint, shared out among the workers that ask it."""

    def __init__(self, use: EndpointUse) -> None:
        draw = random.Random(0)
        self.pace = {"calls": Pace(use.calls_per_minute, draw), "tokens": Pace(use.tokens_per_minute, draw)}
        self._pause = Pace(None, draw)
        self._slots = Slots(use.concurrency)
        self._circuit = Circuit()
        self._wanted: dict[str, int] = {}
        self._held: dict[str, int] = {}

    def lease(self, worker: str, use: EndpointUse) -> Lease:
        """Return a worker's lease: its share of the slots, and of those no more than the others have left.

        A share that is lowered counts in full until the worker says that it holds less.
        """
        self._count(use)
        self._wanted[worker] = use.wanted
        allowed = int(self._slots.allowed)
        free = allowed - sum(n for other, n in self._held.items() if other != worker)
        slots = max(0, min(shares(self._wanted, allowed)[worker], free))
        self._held[worker] = max(use.held, slots)
        return Lease(slots, self._circuit.has_answered, self._pause.take(), self._circuit.why)

    def leave(self, worker: str) -> None:
        """Give the others what a worker had that is gone."""
        self._wanted.pop(worker, None)
        self._held.pop(worker, None)

    def _count(self, use: EndpointUse) -> None:
        for _ in range(use.n_accepted):
            self._slots.accepted()
        for _ in range(use.n_refused):
            self._slots.refused()
        if use.pause_s:
            for pace in (self._pause, *self.pace.values()):
                pace.pause(use.pause_s)
        for failure, lost in use.failed:
            with contextlib.suppress(ModelError):  # it is in the circuit now
                (self._circuit.call_lost if lost else self._circuit.attempt_failed)(failure)
        if use.n_accepted:
            self._circuit.answered()
        if use.broken is not None:
            self._circuit.open(use.broken)


class _Worker:
    """What the coordinator knows of one worker. reserved: its number -> that of the budget."""

    def __init__(self) -> None:
        self.seen = 0.0
        self.reserved: dict[int, int] = {}
        self.claimed: set[bytes] = set()


class Coordinator:
    """Lives on one event loop.

    open_ledger: gives the ledger; None where each worker has one of its own, of a database.
    """

    def __init__(
        self,
        open_ledger: Callable[[], AnyLedger] | None,
        caps: Caps,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget = Budget(caps)
        self._ledger = None if open_ledger is None else open_ledger()
        self._clock = clock
        self._endpoints: dict[str, SharedEndpoint] = {}
        self._workers: dict[str, _Worker] = {}
        self._gone: set[str] = set()
        self._before = BudgetCounts()
        self._counted: dict[str, BudgetCounts] = {}
        self._opened: dict[str, tuple[str, str | None]] = {}
        self._learnt: Learnt = {}
        self._n_calls = self._n_messages = 0

    # --- to the driver

    async def begin(self, spent: BudgetCounts) -> None:
        """Begin a stage: go on from what the run has spent so far."""
        self.budget.take_over(spent)
        self._before, self._counted = spent, {}
        for name in list(self._workers):  # those of the stage before ended with it
            await self.leave(name)

    async def leave(self, worker: str) -> None:
        """Give the others what a dead worker had; what it may have paid for counts as the most it can be."""
        self._gone.add(worker)
        known = self._workers.pop(worker, None)
        if known is None:
            return
        for reservation in known.reserved.values():
            self.budget.settle_unknown(reservation)
        for endpoint in self._endpoints.values():
            endpoint.leave(worker)
        for key in known.claimed:
            self._kept().release(key)

    async def look(self) -> tuple[BudgetCounts, Opened, Learnt, list[str]]:
        """Return what the run has spent, what workers opened, and learnt since, and those taken for dead."""
        silent = [name for name, worker in self._workers.items() if self._clock() - worker.seen > SILENT_S]
        for name in silent:
            await self.leave(name)
        learnt, self._learnt = self._learnt, {}
        return self.spent(), self._opened, learnt, silent

    async def counts(self) -> tuple[int, int]:
        """Return the numbers of calls of methods, and of messages that brought them."""
        return self._n_calls, self._n_messages

    async def close(self) -> None:
        """Write what is waiting."""
        if self._ledger is not None:
            self._ledger.close()

    # --- to the workers

    async def exchange(self, worker: str, calls: list[Call]) -> list[object]:
        """Return the answers to a worker's calls, in their order; an error is an answer, too.

        A message without a call says that the worker lives. Raises ModelError for one that is taken for dead.
        """
        if worker in self._gone:
            raise ModelError("this worker was silent for so long that others do its rows")
        self._workers.setdefault(worker, _Worker()).seen = self._clock()
        self._n_calls, self._n_messages = self._n_calls + len(calls), self._n_messages + 1
        return await asyncio.gather(*(self._answer(worker, *call) for call in calls))

    async def find(self, worker: str, key: bytes, saved: bool, since: float) -> Completion | None:  # noqa: ARG002
        """See AnyLedger.find."""
        return await self._kept().find(key, saved=saved, since=since)

    async def turn(self, worker: str, key: bytes, since: float) -> LedgerTurn:
        """See AnyLedger.turn."""
        turn = await self._kept().turn(key, since)
        if turn.mine:
            self._workers[worker].claimed.add(key)
        return turn

    async def put(self, worker: str, key: bytes, model: str, completion: Completion, renewed: bool) -> None:
        """See AnyLedger.put; ends the worker's turn."""
        await self._kept().put(key, model, completion, renewed=renewed)
        await self.release(worker, key)

    async def release(self, worker: str, key: bytes) -> None:
        """See AnyLedger.release."""
        known = self._workers.get(worker)
        if known is not None and key in known.claimed:
            known.claimed.discard(key)
            self._kept().release(key)

    async def reserve(self, worker: str, number: int, tokens: int, usd: float) -> bool:
        """Return whether a call may be made that uses so much at most; False: ask again, some are in flight.

        Raises CallFailed `over_budget` when a cap forbids it.
        """
        try:
            async with asyncio.timeout(HELD_S):
                reservation = await self.budget.reserve_most(tokens, usd)
        except TimeoutError:
            return False
        if worker in self._workers:
            self._workers[worker].reserved[number] = reservation
        else:  # it died while it waited
            self.budget.settle_used(reservation, 0, 0.0)
        return True

    async def settle(self, worker: str, number: int, tokens: int, usd: float) -> None:
        """Take in what a call used."""
        reservation = self._workers[worker].reserved.pop(number, None)
        if reservation is not None:
            self.budget.settle_used(reservation, tokens, usd)

    async def lease(self, worker: str, use: EndpointUse) -> Lease:
        """Return how a worker may use an endpoint; see SharedEndpoint.lease."""
        if use.endpoint not in self._endpoints:
            self._endpoints[use.endpoint] = SharedEndpoint(use)
        return self._endpoints[use.endpoint].lease(worker, use)

    async def permit(
        self,
        worker: str,  # noqa: ARG002 - as every method that a channel calls
        endpoint: str,
        of: Literal["calls", "tokens"],
        units: float,
    ) -> float:
        """Return in how many seconds so many calls, or tokens, of those that a minute has may be spent."""
        return self._endpoints[endpoint].pace[of].take(units)

    async def count(self, worker: str, spent: BudgetCounts, opened: Opened) -> None:
        """Take in all that a worker has counted since it began, and the models that it has opened."""
        self._counted[worker] = spent
        self._opened |= opened

    async def learn(self, worker: str, model: str, fields: Mapping[str, object]) -> None:  # noqa: ARG002
        """Keep what a worker has learnt of a model, until the driver looks."""
        self._learnt[model] = fields

    def spent(self) -> BudgetCounts:
        """Return what all workers have counted, and what those before them had."""
        all_ = (self._before, *self._counted.values())
        failed: dict[Status, int] = {}
        for part in all_:
            for status, n in part.failed.items():
                failed[status] = failed.get(status, 0) + n
        budget = self.budget.spent()  # it has each call once, also of a worker that is gone
        return BudgetCounts(
            made=budget.made,
            in_flight=budget.in_flight,
            tokens_most=budget.tokens_most,
            usd_most=budget.usd_most,
            from_ledger=sum(part.from_ledger for part in all_),
            retries=sum(part.retries for part in all_),
            late=sum(part.late for part in all_),
            failed=failed,
            usage=sum((part.usage for part in all_[1:]), self._before.usage),
            usd=sum_usd(part.usd for part in all_),
            reasoning_usd=sum_usd(part.reasoning_usd for part in all_),
            cut_off=sum((part.cut_off for part in all_[1:]), self._before.cut_off),
            cut_off_usd=sum_usd(part.cut_off_usd for part in all_),
        )

    async def _answer(self, worker: str, name: str, arguments: tuple[object, ...]) -> object:
        try:
            return await getattr(self, name)(worker, *arguments)
        except RagstoneError as mistake:
            return mistake

    def _kept(self) -> AnyLedger:
        if self._ledger is None:
            raise ValueError("this coordinator has no ledger: its workers have one of their own")
        return self._ledger


def shares(wanted: Mapping[str, int], allowed: int) -> dict[str, int]:
    """Return how many of `allowed` each worker gets: none more than it wants, and otherwise alike.

    What does not divide goes to those who come first. Nothing is left while somebody wants more.
    """
    left, granted = allowed, dict.fromkeys(wanted, 0)
    hungry = [name for name, n in wanted.items() if n > 0]
    while left > 0 and hungry:
        each, rest = divmod(left, len(hungry))
        for number, name in enumerate(hungry):
            taken = min(each + (number < rest), wanted[name] - granted[name])
            granted[name] += taken
            left -= taken
        hungry = [name for name in hungry if granted[name] < wanted[name]]
    return granted
