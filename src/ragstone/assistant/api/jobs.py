"""Work on the documents that takes longer than a request: one job at a time, the others wait in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from ragstone.assistant.api.history import new_id
from ragstone.assistant.api.problems import Refused
from ragstone.assistant.knowledge.entry import Advance, Stage
from ragstone.errors import RagstoneError

logger = logging.getLogger("ragstone.serve")

MOST_WAITING = 20
MOST_KEPT = 200

Work = Callable[[Advance], Awaitable[list[str]]]
"""Does a job; returns what went wrong with single documents."""


class Job(msgspec.Struct, kw_only=True):
    """How far a job is: `done` of `total` in its stage, which are files or the passages of the file at hand.

    errors: what went wrong, a line for each file; the one reason where all of it `failed`.
    """

    id: str
    what: str
    state: Literal["waiting", "running", "done", "failed"] = "waiting"
    stage: Stage | None = None
    done: int = 0
    total: int | None = None
    errors: list[str] = []


class Jobs:
    """The jobs of this process, the last 200 of them; a restart forgets them."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()

    def start(self, what: str, work: Work, finish: Callable[[], None] = lambda: None) -> Job:
        """Return a new job, which runs when those before it are done. Raises Refused where too many wait.

        finish: is called when the job is over, also if it never ran.
        """
        if len(self._tasks) >= MOST_WAITING:
            raise Refused(
                429, f"{MOST_WAITING} jobs wait already: ask again when one is done", Retry_After="30"
            )
        job = Job(id=new_id("job"), what=what)
        self._jobs[job.id] = job
        task = asyncio.create_task(self._run(job, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: finish())
        for old in list(self._jobs)[:-MOST_KEPT]:
            del self._jobs[old]
        return job

    def get(self, job_id: str) -> Job | None:
        """Return a job, as far as it is."""
        return self._jobs.get(job_id)

    async def close(self) -> None:
        """Cancel what waits and what runs."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, job: Job, work: Work) -> None:
        def advance(stage: Stage, done: int, total: int) -> None:  # called in the build's thread
            job.stage, job.done, job.total = stage, done, total

        async with self._turn:
            job.state = "running"
            task = asyncio.ensure_future(work(advance))
            try:
                await asyncio.wait({task})
            finally:
                task.cancel()
            mistake = task.exception()
            if mistake is None:
                job.errors, job.state = task.result(), "done"
                return
            told = str(mistake) if isinstance(mistake, RagstoneError) else "the server's own log says why"
            if not isinstance(mistake, RagstoneError):
                logger.error("%s failed", job.what, exc_info=mistake)
            job.errors, job.state = [told], "failed"
