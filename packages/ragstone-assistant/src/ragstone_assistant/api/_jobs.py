"""Work on the documents that takes longer than a request: one job at a time, the others wait in order."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.serve.requests import RefusedRequest
from ragstone_assistant.api._history import new_id
from ragstone_assistant.knowledge.entry import Advance, Stage

logger = logging.getLogger("ragstone.serve")

MOST_WAITING = 20
MOST_KEPT = 200

Work = Callable[[Advance], Awaitable[list[str]]]
"""Does a job; returns what went wrong with single documents."""


class Job(msgspec.Struct, kw_only=True):
    """How far a job is: `done` of `total` in its stage, which are files or the passages of the file at hand.

    errors: what went wrong, a line for each file; the one reason where all of it `failed`. stopped: by
    somebody, before it was done.
    """

    id: str
    what: str
    state: Literal["waiting", "running", "done", "failed", "stopped"] = "waiting"
    stage: Stage | None = None
    done: int = 0
    total: int | None = None
    errors: list[str] = []


class DocumentJobs:
    """The jobs of this process, the last 200 of them; a restart forgets them."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()

    def check_room(self) -> None:
        """Check that one more may wait. Raises RefusedRequest."""
        if len(self._tasks) >= MOST_WAITING:
            raise RefusedRequest(
                429, f"{MOST_WAITING} jobs are waiting already: try again when one is done", Retry_After="30"
            )

    def start(self, what: str, work: Work, finish: Callable[[], None] = lambda: None) -> Job:
        """Return a new job, which runs when those before it are done.

        Raises RefusedRequest where too many wait.

            finish: is called when the job is over, also if it never ran or there is none.
        """
        try:
            self.check_room()
        except RefusedRequest:
            finish()
            raise
        job = Job(id=new_id("job"), what=what)
        self._jobs[job.id] = job
        task = asyncio.create_task(self._run(job, work))
        self._tasks[job.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(job.id))
        task.add_done_callback(lambda _: finish())
        for old in list(self._jobs)[:-MOST_KEPT]:
            del self._jobs[old]
        return job

    def get(self, job_id: str) -> Job | None:
        """Return a job, as far as it is."""
        return self._jobs.get(job_id)

    async def stop(self, job_id: str) -> Job | None:
        """Stop a job, if it waits or runs; return it once it has come to its end, None if there is none."""
        job, task = self._jobs.get(job_id), self._tasks.get(job_id)
        if job is not None and task is not None:
            if not task.cancelling():
                task.cancel()
            await asyncio.wait({task})
            if job.state == "waiting":
                job.state = "stopped"
        return job

    async def close(self) -> None:
        """Cancel what waits and what runs."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, job: Job, work: Work) -> None:
        def advance(stage: Stage, done: int, total: int) -> None:  # called in the build's thread
            job.stage, job.done, job.total = stage, done, total

        async with self._turn:
            job.state = "running"
            task = asyncio.ensure_future(work(advance))
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                task.cancel()
                await asyncio.wait({task})
            _conclude(job, task)


def _conclude(job: Job, task: asyncio.Task[list[str]]) -> None:
    """Note how the work of a job has ended."""
    if task.cancelled():
        job.state = "stopped"
        return
    mistake = task.exception()
    if mistake is None:
        job.errors, job.state = task.result(), "done"
        return
    problem = str(mistake) if isinstance(mistake, RagstoneError) else "the server's own log says why"
    if not isinstance(mistake, RagstoneError):
        logger.error("%s failed", job.what, exc_info=mistake)
    job.errors, job.state = [problem], "failed"
