"""A thread with a connection to PostgreSQL, which does together what many callers ask for at once."""

import asyncio
import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from ragstone.errors import ConfigError, DataError
from ragstone.llm.ledger import HITS_S
from ragstone.llm.postgres_database import Database, connect, explain, passing

if TYPE_CHECKING:
    from ragstone.llm.postgres_database import Connection

PATIENCE_S = 30.0  # how long a server may be away: it is restarted, or another takes over
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
MOST = 1_000  # jobs that are done together

Job = TypeVar("Job")
Out = TypeVar("Out")


class _Entry(NamedTuple, Generic[Job, Out]):
    """A job, and who waits for what comes of it."""

    job: Job
    loop: asyncio.AbstractEventLoop
    done: "asyncio.Future[Out]"


class Lane(Generic[Job, Out]):
    """Jobs of any event loop, done in the order they came; as many together as have gathered meanwhile.

    work: does jobs on a connection and returns what came of each. It is called again with the same jobs when
    the connection was lost, and every few seconds without any. rescue: is handed jobs that could not be
    done, and returns what became of them, a sentence for the user.
    """

    def __init__(
        self,
        database: Database,
        work: Callable[["Connection", list[Job]], Sequence[Out]],
        rescue: Callable[[list[Job]], str] = lambda _jobs: "",
    ) -> None:
        """Connect. Raises DataError when that fails, saying what to do."""
        import psycopg

        self._database = database
        self._work = work
        self._rescue = rescue
        self._connection: Connection | None
        try:
            self._connection = connect(database)
        except psycopg.Error as mistake:
            raise DataError(explain(database, mistake)) from None
        self._away_since: float | None = None
        self._closed = False
        self._waiting: queue.SimpleQueue[_Entry[Job, Out] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ragstone-postgres", daemon=True)
        self._thread.start()

    def post(self, job: Job) -> "asyncio.Future[Out]":
        """Return what will come of a job; cancelling that does not take the job back. Raises DataError."""
        if self._closed:
            raise DataError(f"{self._database}: the ledger is closed. Open it again to ask more.")
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Out] = loop.create_future()
        self._waiting.put(_Entry(job, loop, done))
        return done

    def close(self) -> None:
        """Do what is waiting, and close the connection. A second time it does nothing."""
        if self._closed:
            return
        self._closed = True
        self._waiting.put(None)
        self._thread.join()
        self._drop()

    def _run(self) -> None:
        for batch in self._batches():
            outs: Sequence[Out] = ()
            mistake: DataError | None = None
            try:
                outs = self._do([entry.job for entry in batch])
            except DataError as wrong:
                mistake = wrong
            for loop in {entry.loop for entry in batch}:
                mine = [n for n, entry in enumerate(batch) if entry.loop is loop]
                told = [(batch[n].done, None if mistake else outs[n]) for n in mine]
                with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(_tell, told, mistake)

    def _do(self, jobs: list[Job]) -> Sequence[Out]:
        """Do jobs, on a new connection if need be. Raises DataError when that cannot be."""
        import psycopg

        pause_s = FIRST_PAUSE_S
        while True:
            try:
                if self._connection is None:
                    self._connection = connect(self._database)
                outs = self._work(self._connection, jobs)
            except psycopg.Error as mistake:
                self._drop()
                if not (passing(mistake) and jobs and self._patient()):
                    raise DataError(self._given_up(jobs, explain(self._database, mistake))) from None
            except (DataError, ConfigError) as mistake:  # tables of a newer format since the last connection
                raise DataError(self._given_up(jobs, str(mistake))) from None
            else:
                self._away_since = None
                return outs
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)

    def _patient(self) -> bool:
        """Return whether the server has not been away for too long; what comes later is tried once."""
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since < PATIENCE_S

    def _given_up(self, jobs: list[Job], words: str) -> str:
        rescued = self._rescue(jobs) if jobs else ""
        return f"{words} {rescued}".rstrip()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _batches(self) -> Iterator[list[_Entry[Job, Out]]]:
        """Yield all that waits, each time that something does; none after HITS_S; the rest at a None."""
        going = True
        while going:
            batch: list[_Entry[Job, Out]] = []
            with contextlib.suppress(queue.Empty):
                entry = self._waiting.get(timeout=HITS_S)
                while entry is not None:
                    batch.append(entry)
                    if len(batch) == MOST:
                        break
                    entry = self._waiting.get_nowait()
                going = entry is not None
            yield batch


def _tell(told: list[tuple["asyncio.Future[Out]", Out | None]], mistake: DataError | None) -> None:
    """Wake those who wait; the cancelled are gone."""
    for done, out in told:
        if done.done():
            continue
        if mistake is None:
            done.set_result(out)  # type: ignore[arg-type]  # None only beside a mistake, or where Out is None
        else:
            done.set_exception(mistake)
            done.exception()  # nobody may be waiting; that is no error
