"""Runs that go on while a page is open or not: each in a thread of its own, which nobody waits for."""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Iterator
from typing import Literal

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.engine.progress import Advance, State
from ragstone.kernel.engine.session import Session, SessionOptions, open_session
from ragstone.kernel.errors import ConfigError, RagstoneError
from ragstone.kernel.llm import Caps, parse_caps

Life = Literal["running", "done", "failed", "stopped"]
UNFORESEEN = (
    "An unexpected error ended the run; the server's log has its traceback. Finished calls are in the ledger."
)
Ended = Callable[[Life, str | None], None]
"""Is told how a job ended, and why it failed."""


def caps_of_form(text: str) -> Caps:
    """Return the caps of a form's field "Spend at most", none for an empty one.

    Raises ConfigError in the words of the form.
    """
    try:
        return parse_caps(text.strip() or None)
    except ConfigError as mistake:
        raise ConfigError(str(mistake).replace("--budget", "Spend at most")) from None


class JobState(msgspec.Struct, kw_only=True):
    """How far a job is. calls: made so far. words: why it failed. number: of the draft, or of the look."""

    what: str
    who: str
    life: Life = "running"
    number: int
    stage: str = ""
    done: int = 0
    total: int | None = None
    calls: int = 0
    spent_usd: float | None = 0.0
    words: str | None = None


class JudgeRun:
    """One run, in a thread. number: of the draft that it is of; of a look it is known at the end."""

    def __init__(self, what: str, who: str, number: int) -> None:
        self._state = JobState(what=what, who=who, number=number)
        self._spent: Callable[[], State] = State
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self._thread: threading.Thread | None = None

    def state(self) -> JobState:
        """Return how far it is."""
        spent = self._spent()
        return msgspec.structs.replace(self._state, calls=spent.made, spent_usd=spent.spent_usd)

    def start(
        self,
        settings: Settings,
        caps: Caps,
        work: Callable[[Session], Awaitable[int]],
        ended: Ended = lambda _life, _words: None,
    ) -> None:
        """Begin. work: gets a session, and gives the number under which what it found is kept.

        ended: is called in the job's thread when it is over, whichever way.
        """

        async def within_session() -> None:
            self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
            if self._stopped:
                raise asyncio.CancelledError
            async with open_session(settings, SessionOptions(caps, progress=self._progress)) as session:
                self._spent = session.state
                self._state.number = await work(session)

        def run() -> None:
            life: Life = "failed"
            problem: str | None = UNFORESEEN
            try:
                asyncio.run(within_session())
                life, problem = "done", None
            except (asyncio.CancelledError, KeyboardInterrupt):
                life, problem = "stopped", None
            except RagstoneError as mistake:
                problem = str(mistake)
            finally:
                self._state.words = problem
                try:
                    ended(life, problem)
                finally:
                    self._state.life = life  # last: who sees that it is over finds what it left

        self._thread = threading.Thread(target=run, name=f"ragstone-{self._state.what}", daemon=True)
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

    @contextlib.contextmanager
    def _progress(self, stage: str, total: int | None, _state: Callable[[], State]) -> Iterator[Advance]:
        now = self._state
        now.stage, now.total, now.done = stage, total, 0

        def advance() -> None:
            now.done += 1

        yield advance


class JudgeRuns:
    """The jobs of a workbench, one for each judge; the last one of each is remembered."""

    def __init__(self) -> None:
        self._jobs: dict[str, JudgeRun] = {}
        self._lock = threading.Lock()

    def of(self, judge: str) -> JudgeRun | None:
        """Return the last job of a judge, None where there was none since the server started."""
        return self._jobs.get(judge)

    def running(self, judge: str) -> bool:
        """Return whether a job of this judge goes on."""
        job = self._jobs.get(judge)
        return job is not None and job.state().life == "running"

    def check_free(self, judge: str) -> None:
        """Raise ConfigError while a job of this judge goes on."""
        if self.running(judge):
            raise ConfigError(
                f"a run of {judge} is under way, started by {self._jobs[judge].state().who}. Wait for it "
                "or stop it, then run again: your text is kept on this page."
            )

    def begin(self, judge: str, job: JudgeRun) -> None:
        """Take a job as that of a judge. Raises ConfigError as check_free does."""
        with self._lock:
            self.check_free(judge)
            self._jobs[judge] = job

    def close(self) -> None:
        """Stop all jobs, and wait a moment for what they have in flight."""
        for judge, job in self._jobs.items():
            if self.running(judge):
                job.stop()
        for job in self._jobs.values():
            job.wait(6.0)
