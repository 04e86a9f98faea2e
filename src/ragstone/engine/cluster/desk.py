"""The desk of a run: what all workers share, and the messages by which they share it. It knows no Ray.

It owns the budget, the limits of each endpoint, the turns of calls in flight and the ledger's file. What a
worker waits for is put into its box, and goes with the reply to its next message: each has one open at all
times, which also says that it lives.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Container, Coroutine

from ragstone.engine.cluster.blocks import HELD_S, Blocks
from ragstone.engine.cluster.claims import Claims
from ragstone.engine.cluster.endpoint import EndpointDesk
from ragstone.engine.cluster.messages import (
    Asks,
    AskTurn,
    Broken,
    Counted,
    Failed,
    Find,
    FindAnswer,
    Flush,
    Granted,
    Halt,
    Met,
    Paused,
    Put,
    Refused,
    Release,
    Reserve,
    Settle,
    ToDesk,
    ToWorker,
    Wants,
    Went,
    Wrong,
    read_to_desk,
    write,
)
from ragstone.errors import DataError
from ragstone.llm import AnyLedger
from ragstone.llm.account import sum_usd
from ragstone.llm.budget import Budget, Caps, Spent
from ragstone.llm.prompt import CallFailed
from ragstone.records import Status

POLL_S = 1.0  # how long a worker's open message is held when there is nothing to say
LEASE_S = 30.0  # after so long without a word, a worker is taken for dead, and what it held is the others'


class _Worker:
    """What the desk knows of one worker."""

    def __init__(self, place: str, now: float) -> None:
        self.place = place
        self.node = ""
        self.seen = now
        self.box: list[ToWorker] = []
        self.filled = asyncio.Event()
        self.reserved: dict[int, int] = {}  # its number -> that of the budget

    def tell(self, message: ToWorker) -> None:
        """Put a message into its box."""
        self.box.append(message)
        self.filled.set()

    def empty(self) -> list[ToWorker]:
        """Return what is in the box."""
        told, self.box = self.box, []
        self.filled.clear()
        return told


class Desk:
    """Lives on one event loop. ledger: None where each worker has one of its own, of a database."""

    def __init__(
        self, ledger: AnyLedger | None, caps: Caps, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.budget = Budget(caps)
        self.met: dict[str, Met] = {}
        self.blocks: Blocks[list[object]] = Blocks()
        self.n_messages = self.n_exchanges = 0
        self._ledger = ledger
        self._clock = clock
        self._claims = Claims()
        self._endpoints: dict[str, EndpointDesk] = {}
        self._workers: dict[str, _Worker] = {}
        self._past: set[str] = set()
        self._counted: dict[str, Spent] = {}
        self._before = Spent()
        self._halted = False
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, spent: Spent) -> None:
        """Go on from what the run has spent so far."""
        self.budget.take_over(spent)
        self._before, self._counted, self._halted = spent, {}, False
        self.blocks = Blocks()
        self._past |= self._workers.keys()  # those of the stage before ended with it
        for name in list(self._workers):
            self._leave(name)

    def join(self, worker: str, place: str, node: str = "") -> None:
        """Take in a worker. One that was at the same place before is dead: Ray has started it anew."""
        for name, one in list(self._workers.items()):
            if one.place == place and name != worker:
                self._leave(name)
        self._worker(worker).place = place
        self._worker(worker).node = node

    def living(self, nodes: Container[str]) -> int:
        """Return how many workers there are. Those on other nodes than these, which are there, are gone."""
        for name, one in list(self._workers.items()):
            if one.node and one.node not in nodes:
                self._leave(name)
        self._expire()
        return len(self._workers)

    async def take(self, worker: str) -> tuple[int, list[object]] | None:
        """See Blocks.take; for a worker that is known, for one that is gone would keep its block."""
        if worker in self._workers:
            return await self.blocks.take(worker)
        await asyncio.sleep(HELD_S)
        return None

    async def exchange(self, worker: str, payload: bytes, wait: bool = False) -> bytes:
        """Take the messages of a worker in, and return what there is for it.

        wait: hold the reply until there is something, POLL_S at the longest.
        """
        if worker in self._past:
            await asyncio.sleep(POLL_S)
            return write([])
        self.n_exchanges += 1
        known = self._worker(worker)
        known.seen = self._clock()
        self._expire()
        messages = read_to_desk(payload)
        self.n_messages += len(messages)
        storing = []
        for message in messages:
            if isinstance(message, Find):
                await self._find(worker, message)
            elif isinstance(message, Put):
                storing.append(self._put(worker, message))
            else:
                self._take(worker, message)
        if storing:
            await asyncio.gather(*storing)
        elif wait and not known.box:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(known.filled.wait(), POLL_S)
        return write(known.empty())

    def halt(self) -> None:
        """Let no worker begin another call."""
        self._halted = True
        self.blocks.end()
        self._tell(None, Halt())

    def spent(self) -> Spent:
        """Return what all have counted, and what those before them had."""
        own, told = self._before, list(self._counted.values())
        failed: dict[Status, int] = dict(own.failed)
        for one in told:
            for status, n in one.failed.items():
                failed[status] = failed.get(status, 0) + n
        budget = self.budget.spent()
        return Spent(
            made=budget.made,
            in_flight=budget.in_flight,
            tokens_most=budget.tokens_most,
            usd_most=budget.usd_most,
            from_ledger=own.from_ledger + sum(one.from_ledger for one in told),
            retries=own.retries + sum(one.retries for one in told),
            late=own.late + sum(one.late for one in told),
            failed=failed,
            usage=sum((one.usage for one in told), own.usage),
            usd=sum_usd(one.usd for one in (own, *told)),
            reasoning_usd=sum_usd(one.reasoning_usd for one in (own, *told)),
            cut_off=sum((one.cut_off for one in told), own.cut_off),
            cut_off_usd=sum_usd(one.cut_off_usd for one in (own, *told)),
        )

    def close(self) -> None:
        """Write what is waiting."""
        if self._ledger is not None:
            self._ledger.close()

    def _worker(self, name: str) -> _Worker:
        if name not in self._workers:
            self._workers[name] = _Worker(name, self._clock())
            if self._halted:
                self._workers[name].tell(Halt())
        return self._workers[name]

    def _tell(self, worker: str | None, message: ToWorker) -> None:
        named = self._workers.values() if worker is None else [self._workers[worker]]
        for one in named:
            one.tell(message)

    def _expire(self) -> None:
        """Let those go who have not been heard of for so long."""
        now = self._clock()
        for name, one in list(self._workers.items()):
            if now - one.seen > LEASE_S:
                self._leave(name)

    def _leave(self, name: str) -> None:
        """Give the others what a dead worker had; what it may have paid for counts as the most it can be."""
        gone = self._workers.pop(name)
        self.blocks.leave(name)
        for reservation in gone.reserved.values():
            self.budget.settle_unknown(reservation)
        for endpoint in self._endpoints.values():
            endpoint.leave(name)
        for _key, (worker, n) in self._claims.leave(name):
            self._tell(worker, FindAnswer(n))

    def _take(self, worker: str, message: ToDesk) -> None:
        """Do what a message says."""
        match message:
            case Release():
                following = self._claims.release(message.key, worker)
                if following is not None:
                    self._tell(following[0], FindAnswer(following[1]))
            case Reserve():
                self._reserve(worker, message)
            case AskTurn():
                self._soon(self._turn(worker, message))
            case Settle():
                reservation = self._workers[worker].reserved.pop(message.number, None)
                if reservation is not None:
                    self.budget.settle_used(reservation, message.tokens, message.usd)
            case Counted() | Met() | Flush():
                self._note(worker, message)
            case Asks() | Wants() | Went() | Refused() | Paused() | Failed() | Broken():
                self._of_endpoint(worker, message)
            case _:
                raise ValueError(f"no message for here: {message!r}")

    def _note(self, worker: str, message: Counted | Met | Flush) -> None:
        match message:
            case Counted():
                self._counted[worker] = message.spent
            case Met():
                self.met[message.model] = message
            case Flush():
                self._answer(worker, Granted(message.n))

    def _of_endpoint(
        self, worker: str, message: Asks | Wants | Went | Refused | Paused | Failed | Broken
    ) -> None:
        if isinstance(message, Asks):
            if message.endpoint not in self._endpoints:
                self._endpoints[message.endpoint] = EndpointDesk(message, self._tell)
            self._endpoints[message.endpoint].join(worker)
            return
        endpoint = self._endpoints[message.endpoint]
        match message:
            case Wants():
                endpoint.wants(worker, message)
            case Went():
                endpoint.went(message.accepted)
            case Refused():
                endpoint.refused()
            case Paused():
                endpoint.pause(message.seconds)
            case Failed():
                endpoint.failed(message)
            case Broken():
                endpoint.broken(message)

    def _soon(self, work: Coroutine[None, None, None]) -> None:
        """Begin what may have to wait for others; the answer goes into the box."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _find(self, worker: str, asked: Find) -> None:
        if self._ledger is None:
            raise ValueError("this desk has no ledger: its workers have one of their own")
        if asked.claim:
            if self._claims.owner(asked.key) not in (None, worker):
                self._claims.wait(asked.key, (worker, asked.n))
                return
            self._claims.take(asked.key, worker)
        try:
            completion = await self._ledger.find(asked.key, saved=asked.saved, since=asked.since)
        except DataError as mistake:
            self._answer(worker, Wrong(asked.n, "DataError", str(mistake)))
            return
        if completion is not None and asked.claim:
            for waiting, n in self._claims.land(asked.key):
                self._answer(waiting, FindAnswer(n, completion))
        self._answer(worker, FindAnswer(asked.n, completion))

    async def _put(self, worker: str, kept: Put) -> None:
        if self._ledger is None:
            raise ValueError("this desk has no ledger: its workers have one of their own")
        try:
            await self._ledger.put(kept.key, kept.model, kept.completion, renewed=kept.renewed)
        except DataError as mistake:
            self._answer(worker, Wrong(kept.n, "DataError", str(mistake)))
            return
        self._answer(worker, FindAnswer(kept.n))
        for waiting, n in self._claims.land(kept.key):
            self._answer(waiting, FindAnswer(n, kept.completion))

    def _reserve(self, worker: str, asked: Reserve) -> None:
        try:
            reservation = self.budget.reserve_most_now(asked.tokens, asked.usd)
        except CallFailed:  # calls in flight stand in the way, perhaps: then it waits for them
            self._soon(self._reserve_later(worker, asked))
            return
        self._grant(worker, asked, reservation)

    async def _reserve_later(self, worker: str, asked: Reserve) -> None:
        try:
            reservation = await self.budget.reserve_most(asked.tokens, asked.usd)
        except CallFailed as failure:
            self._answer(worker, Wrong(asked.n, "CallFailed", str(failure), failure.status))
            return
        self._grant(worker, asked, reservation)

    def _grant(self, worker: str, asked: Reserve, reservation: int) -> None:
        if worker not in self._workers:  # it died while it waited
            self.budget.settle_used(reservation, 0, 0.0)
            return
        self._workers[worker].reserved[asked.number] = reservation
        self._answer(worker, Granted(asked.n))

    async def _turn(self, worker: str, asked: AskTurn) -> None:
        await self._endpoints[asked.endpoint].pace[asked.of].wait(asked.units)
        self._answer(worker, Granted(asked.n))

    def _answer(self, worker: str, message: FindAnswer | Granted | Wrong) -> None:
        if message.n and worker in self._workers:
            self._workers[worker].tell(message)
