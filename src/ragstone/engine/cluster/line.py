"""A worker's line to the desk: what is said within a few milliseconds goes as one message of Ray.

It lives on a thread and a loop of its own, so that it is heard while the worker computes; its methods may be
called from any loop.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable

from ragstone.engine.cluster.messages import (
    FindAnswer,
    Flush,
    Granted,
    Halt,
    ToDesk,
    ToWorker,
    Wrong,
    read_to_worker,
    write,
)
from ragstone.errors import DataError, ModelError
from ragstone.llm.prompt import CallFailed

# A message of Ray costs some 0.5 ms at each end, so that what many rows say goes together. The wait is short
# beside a call to a model, and a worker has many rows under way.
LINGER_S = 0.012
HURRY_S = 0.002  # where a slot or an endpoint waits

Send = Callable[[bytes, bool], Awaitable[bytes]]
"""Messages, and whether to hold the reply until there is something -> the reply."""

Waiting = tuple[asyncio.AbstractEventLoop, "asyncio.Future[FindAnswer | Granted]"]


class Channel:
    """Open it with `start`. heard: is called with each message that answers no question."""

    def __init__(self, send: Send, heard: Callable[[ToWorker], None]) -> None:
        self._send = send
        self._heard = heard
        self._lock = threading.Lock()
        self._waiting: dict[int, Waiting] = {}
        self._said: list[ToDesk] = []
        self._n = 0
        self._lost: str | None = None
        self._hurried = False
        self._loop = asyncio.new_event_loop()
        self._woken = asyncio.Event()
        self._hurry = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="ragstone-line", daemon=True)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin to speak."""
        self._thread.start()

    def tell(self, message: ToDesk, hurry: bool = False) -> None:
        """Say something that nobody waits for; hurry: at once, with what is said by then."""
        with self._lock:
            first = not self._said
            self._said.append(message)
            wake = first or (hurry and not self._hurried)
            self._hurried |= hurry
        if wake:
            self._loop.call_soon_threadsafe(self._wake, hurry)

    async def ask(self, question: Callable[[int], ToDesk], hurry: bool = False) -> FindAnswer | Granted:
        """Return the answer to a question, which is made with its number.

        Raises what the desk says is wrong, and ModelError where the desk is gone.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[FindAnswer | Granted] = loop.create_future()
        with self._lock:
            if self._lost is not None:
                raise ModelError(self._lost)
            self._n += 1
            n = self._n
            self._waiting[n] = (loop, answer)
        self.tell(question(n), hurry)
        return await answer

    async def flush(self) -> None:
        """Return when all that was said has been heard."""
        await self.ask(Flush, hurry=True)

    def close(self) -> None:
        """Say nothing more."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._tasks = [self._loop.create_task(self._speak()), self._loop.create_task(self._listen())]
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*asyncio.all_tasks(self._loop), return_exceptions=True))
        self._loop.close()

    def _wake(self, hurry: bool) -> None:
        self._woken.set()
        if hurry:
            self._hurry.set()

    async def _speak(self) -> None:
        """Send what was said, some milliseconds after its first word."""
        sending: set[asyncio.Task[None]] = set()
        while self._lost is None:
            await self._woken.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), LINGER_S)
                await asyncio.sleep(HURRY_S)
            with self._lock:
                said, self._said, self._hurried = self._said, [], False
                self._woken.clear()
                self._hurry.clear()
            if said:
                task = asyncio.create_task(self._exchange(said, wait=False))
                sending.add(task)
                task.add_done_callback(sending.discard)

    async def _listen(self) -> None:
        """Keep one message open, by which the desk says what nobody asked for, and what took it long."""
        while self._lost is None:
            await self._exchange([], wait=True)

    async def _exchange(self, said: list[ToDesk], *, wait: bool) -> None:
        try:
            reply = await self._send(write(said), wait)
        except ModelError as gone:
            self._end(str(gone))
            return
        answers: dict[
            asyncio.AbstractEventLoop, list[tuple[asyncio.Future[FindAnswer | Granted], ToWorker]]
        ] = {}
        for message in read_to_worker(reply):
            if isinstance(message, FindAnswer | Granted | Wrong):
                with self._lock:
                    waiting = self._waiting.pop(message.n, None)
                if waiting is not None:
                    answers.setdefault(waiting[0], []).append((waiting[1], message))
            else:
                self._heard(message)
        for loop, told in answers.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_answer, told)

    def _end(self, why: str) -> None:
        with self._lock:
            self._lost = why
            waiting, self._waiting = list(self._waiting.values()), {}
        self._heard(Halt())  # what is answered from now on could not be kept
        wrong: ToWorker = Wrong(0, "ModelError", why)
        for loop, answer in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_answer, [(answer, wrong)])


def _answer(told: list[tuple["asyncio.Future[FindAnswer | Granted]", ToWorker]]) -> None:
    for answer, message in told:
        if answer.done():
            continue
        match message:
            case Wrong(kind="CallFailed"):
                answer.set_exception(CallFailed(message.status, message.text))
            case Wrong(kind="DataError"):
                answer.set_exception(DataError(message.text))
            case Wrong():
                answer.set_exception(ModelError(message.text))
            case FindAnswer() | Granted():
                answer.set_result(message)
            case _:
                raise ValueError(f"no answer: {message!r}")
