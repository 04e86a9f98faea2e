"""Runs that go on while a page is open or not: each in a thread of its own, which nobody waits for."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Literal

import msgspec

from ragstone.config import Settings
from ragstone.engine.progress import Advance, State
from ragstone.engine.session import Session, open_session
from ragstone.errors import ConfigError, RagstoneError
from ragstone.llm import Caps

Life = Literal["running", "done", "failed", "stopped"]
UNFORESEEN = (
    "An unforeseen error ended the run; the server's log has its traceback. Finished calls are in the ledger."
)


Ended = Callable[[Life, str | None], None]
"""Is told how a job ended, and why it failed."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """How far a job is. calls: made so far. words: why it failed. number: of the draft, or of the look."""

    what: str
    who: str
    life: Life
    number: int
    stage: str = ""
    done: int = 0
    total: int | None = None
    calls: int = 0
    spent_usd: float | None = 0.0
    words: str | None = None


class Job:
    """One run. work: gets a session, and gives the number under which what it found is kept."""

    def __init__(self, what: str, who: str, number: int) -> None:
        self.what, self.who, self.number = what, who, number
        self.life: Life = "running"
        self.words: str | None = None
        self._stage, self._done = "", 0
        self._total: int | None = None
        self._state: Callable[[], State] = State
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None

    def told(self) -> Told:
        """Return how far it is."""
        state = self._state()
        return Told(
            what=self.what,
            who=self.who,
            life=self.life,
            number=self.number,
            stage=self._stage,
            done=self._done,
            total=self._total,
            calls=state.made,
            spent_usd=state.spent_usd,
            words=self.words,
        )

    def start(
        self,
        settings: Settings,
        caps: Caps,
        work: Callable[[Session], Awaitable[int]],
        ended: Ended,
    ) -> None:
        """Begin. ended: is called in the job's thread when it is over, whichever way."""
        self._thread = threading.Thread(
            target=self._run, args=(settings, caps, work, ended), name=f"ragstone-{self.what}", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Make no more calls; those in flight come home. A second time it does nothing."""
        self._stopped = True
        if self._loop is not None and self._task is not None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: it is over
                self._loop.call_soon_threadsafe(self._task.cancel)

    def wait(self, seconds: float) -> None:
        """Return when it is over, or after so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(
        self,
        settings: Settings,
        caps: Caps,
        work: Callable[[Session], Awaitable[int]],
        ended: Ended,
    ) -> None:
        life: Life = "failed"
        words: str | None = UNFORESEEN
        try:
            asyncio.run(self._work(settings, caps, work))
            life, words = "done", None
        except (asyncio.CancelledError, KeyboardInterrupt):
            life, words = "stopped", None
        except RagstoneError as mistake:
            words = str(mistake)
        finally:
            self.words = words
            ended(life, words)
            self.life = life  # last: who sees that it is over finds what it left

    async def _work(self, settings: Settings, caps: Caps, work: Callable[[Session], Awaitable[int]]) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stopped:
            raise asyncio.CancelledError
        async with open_session(settings, caps=caps, progress=self._progress) as session:
            self._state = session.state
            self.number = await work(session)

    @contextlib.contextmanager
    def _progress(self, stage: str, total: int | None, _state: Callable[[], State]) -> Iterator[Advance]:
        self._stage, self._total, self._done = stage, total, 0

        def advance() -> None:
            self._done += 1

        yield advance


class Jobs:
    """The jobs of a workbench, one for each judge; the last one of each is remembered."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def of(self, judge: str) -> Job | None:
        """Return the last job of a judge, None where there was none since the server started."""
        return self._jobs.get(judge)

    def check_free(self, judge: str) -> None:
        """Raise ConfigError while a job of this judge goes on."""
        job = self._jobs.get(judge)
        if job is not None and job.life == "running":
            raise ConfigError(
                f"a run of {judge} goes on, started by {job.who}. Wait for it, or stop it, then run again: "
                "your text is kept on this page."
            )

    def begin(self, judge: str, job: Job) -> None:
        """Take a job as that of a judge. Raises ConfigError as check_free does."""
        with self._lock:
            self.check_free(judge)
            self._jobs[judge] = job

    def close(self) -> None:
        """Stop all jobs, and wait a moment for what they have in flight."""
        for job in self._jobs.values():
            if job.life == "running":
                job.stop()
        for job in self._jobs.values():
            job.wait(6.0)
