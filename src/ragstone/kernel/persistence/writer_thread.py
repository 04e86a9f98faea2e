"""A thread that does the work of many event loops: jobs in the order they came, many of them at once."""

import asyncio
import contextlib
import logging
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeVar

from ragstone.kernel.errors import DataError

LOG = logging.getLogger(__name__)

Job = TypeVar("Job")
Out = TypeVar("Out")


class _Posted(NamedTuple, Generic[Job, Out]):
    """A job, and who waits for what comes of it."""

    job: Job
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[Out]"


class WriterThread(Generic[Job, Out]):
    """Jobs of any event loop, done by one thread, so that those which wait share a commit or a query."""

    def __init__(
        self,
        name: str,
        work: Callable[[list[Job]], Sequence[Out | Exception]],
        *,
        if_closed: str,
        most: int = 1_000,
        idle_s: float | None = None,
    ) -> None:
        """Start the thread.

        work: does some jobs, at most `most`, and returns what came of each; an exception among that is raised
        where its job was posted. What it raises itself, foreseen or not, is raised for each of these jobs,
        and the thread goes on with those that follow. It is also called without a job: after every `idle_s`
        seconds in which none came, and last of all when the thread is closed. if_closed: the error of a job
        that comes later.
        """
        self._work, self._most, self._idle_s, self._if_closed = work, most, idle_s, if_closed
        self._closed = False
        self._waiting: queue.SimpleQueue[list[_Posted[Job, Out]] | None] = queue.SimpleQueue()
        # What was posted in this turn of an event loop: it is handed over, and the thread woken, at its end.
        self._gathered: dict[asyncio.AbstractEventLoop, list[_Posted[Job, Out]]] = {}
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def post(self, job: Job) -> "asyncio.Future[Out]":
        """Return what will come of a job; cancelling that does not take the job back. Raises DataError."""
        if self._closed:
            raise DataError(self._if_closed)
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Out] = loop.create_future()
        if loop not in self._gathered:
            self._gathered[loop] = []
            loop.call_soon(self._hand_over, loop)
        self._gathered[loop].append(_Posted(job, loop, done))
        return done

    def _hand_over(self, loop: asyncio.AbstractEventLoop) -> None:
        if loop in self._gathered:
            self._waiting.put(self._gathered.pop(loop))

    def close(self) -> None:
        """Do what is waiting, and end the thread. A second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        for loop in list(self._gathered):
            self._hand_over(loop)
        self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        for batch in self._batches():
            outs = self._done([posted.job for posted in batch])
            for loop in {posted.loop for posted in batch}:
                outcomes = [
                    (posted.done, out) for posted, out in zip(batch, outs, strict=True) if posted.loop is loop
                ]
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(_tell, outcomes)

    def _done(self, jobs: list[Job]) -> Sequence[Out | Exception]:
        """Return what came of each job: the exception, for all of them, where the work raises one."""
        try:
            outs = self._work(jobs)
        except BaseException as mistake:  # noqa: BLE001 - whoever waits must hear of it, or waits for ever
            if not jobs:
                LOG.warning("%s: %s", self._thread.name, _passed_on(mistake))
            return [_passed_on(mistake)] * len(jobs)
        if len(outs) != len(jobs):
            return [RuntimeError(f"{len(jobs)} jobs came to {len(outs)} ends")] * len(jobs)
        return outs

    def _batches(self) -> Iterator[list[_Posted[Job, Out]]]:
        """Yield all that waits, each time that something does; none after `idle_s`, and none at the end."""
        open_ = True
        while open_:
            batch: list[_Posted[Job, Out]] = []
            with contextlib.suppress(queue.Empty):
                posted = self._waiting.get(timeout=self._idle_s)
                while posted is not None:
                    batch += posted
                    if len(batch) >= self._most:
                        break
                    posted = self._waiting.get_nowait()
                open_ = posted is not None
            for start in range(0, max(1, len(batch)), self._most):
                yield batch[start : start + self._most]
        if batch:
            yield []


def _passed_on(mistake: BaseException) -> Exception:
    """Return an exception that a future takes, and that ends nobody's event loop."""
    if isinstance(mistake, Exception) and not isinstance(mistake, StopIteration | StopAsyncIteration):
        return mistake
    return RuntimeError(f"{type(mistake).__name__}: {mistake}")


def _tell(outcomes: "list[tuple[asyncio.Future[Out], Out | Exception]]") -> None:
    """Wake those who wait; the cancelled are gone."""
    for done, out in outcomes:
        if done.done():
            continue
        if isinstance(out, Exception):
            done.set_exception(out)
            done.exception()  # nobody may be waiting; that is no error
        else:
            done.set_result(out)
