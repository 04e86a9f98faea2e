"""A worker's channel to the coordinator: what is said within a few milliseconds goes as one message of Ray.

It lives on a thread and a loop of its own, so that it is heard while the worker computes; its methods may be
called from any loop.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable
from typing import TypeVar, TypeVarTuple, cast

from ragstone.kernel.engine.cluster._coordinator import Call, Coordinator
from ragstone.kernel.errors import ModelError

# A message of Ray costs some 0.5 ms at each end, so that what many rows say goes together. The wait is short
# beside a call to a model, and a worker has many rows under way.
LINGER_S = 0.012
URGENT_S = 0.002
URGENT = {  # a call to a model waits for these
    method.__name__
    for method in (Coordinator.lease, Coordinator.reserve, Coordinator.permit, Coordinator.release)
}
QUIET_S = 1.0  # how often a worker that has nothing to say says that it lives

Exchange = Callable[[list[Call]], Awaitable[list[object]]]
"""Calls -> their answers. Raises ModelError where the coordinator is gone."""

Arguments = TypeVarTuple("Arguments")
Out = TypeVar("Out")
Said = list[tuple[Call, "asyncio.Future[object] | None"]]


class Channel:
    """Open it with `start`. lost: is called once, when the coordinator is gone."""

    def __init__(self, exchange: Exchange, lost: Callable[[], None]) -> None:
        self._exchange = exchange
        self._lost = lost
        self._gone: ModelError | None = None
        self._lock = threading.Lock()
        self._said: Said = []
        self._woken, self._urgent = asyncio.Event(), asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="ragstone-channel", daemon=True)

    def start(self) -> None:
        """Begin to speak."""
        self._thread.start()

    def tell(
        self, method: Callable[[Coordinator, str, *Arguments], Awaitable[object]], *arguments: *Arguments
    ) -> None:
        """Call a method of the coordinator; nobody waits for that."""
        self._say((method.__name__, arguments), None)

    async def ask(
        self, method: Callable[[Coordinator, str, *Arguments], Awaitable[Out]], *arguments: *Arguments
    ) -> Out:
        """Return what a method of the coordinator returns, and raise what it raises.

        Raises ModelError where the coordinator is gone.
        """
        answer: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        self._say((method.__name__, arguments), answer)
        return cast(Out, await answer)

    def close(self) -> None:
        """Say nothing more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _say(self, call: Call, answer: "asyncio.Future[object] | None") -> None:
        with self._lock:
            gone, first = self._gone, not self._said
            if gone is None:
                self._said.append((call, answer))
        if gone is not None and answer is not None:
            answer.set_exception(ModelError(str(gone)))
        elif first and gone is None:
            self._loop.call_soon_threadsafe(self._woken.set)
        if call[0] in URGENT and not self._urgent.is_set():
            self._loop.call_soon_threadsafe(self._urgent.set)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.create_task(self._speak())
        self._loop.run_forever()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _speak(self) -> None:
        """Send what was said, some milliseconds after its first word."""
        sending: set[asyncio.Task[None]] = set()
        while self._gone is None:
            # Not asyncio.wait_for: before Python 3.12 it can lose the cancellation that ends this.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(QUIET_S):
                    await self._woken.wait()
                async with asyncio.timeout(LINGER_S):
                    await self._urgent.wait()
                await asyncio.sleep(URGENT_S)
            self._woken.clear()
            self._urgent.clear()
            with self._lock:
                messages, self._said = self._said, []
            task = asyncio.create_task(self._send(messages))
            sending.add(task)
            task.add_done_callback(sending.discard)

    async def _send(self, messages: Said) -> None:
        try:
            answers = await self._exchange([call for call, _answer in messages])
        except ModelError as gone:
            with self._lock:
                first, self._gone = self._gone is None, gone
                messages, self._said = messages + self._said, []
            answers = [gone] * len(messages)
            if first:
                self._lost()
        except Exception as mistake:
            if not any(waiting for _call, waiting in messages):
                raise
            answers = [mistake] * len(messages)  # whoever waits must hear of it, or waits for ever
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[object], object]]] = {}
        for (_call, waiting), answer in zip(messages, answers, strict=True):
            if waiting is not None:
                by_loop.setdefault(waiting.get_loop(), []).append((waiting, answer))
        for loop, answered in by_loop.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_answer, answered)


def _answer(answered: list[tuple["asyncio.Future[object]", object]]) -> None:
    for waiting, answer in answered:
        if waiting.done():
            continue
        if isinstance(answer, Exception):
            waiting.set_exception(answer)
        else:
            waiting.set_result(answer)
