"""progress.json of a run folder: how far a run is, for whoever looks at the folder while it goes on.

It is there while the run goes on, stays when the run is stopped or fails, and is gone when the run is
finished: a finished folder holds nothing that says when it was made.
"""

import contextlib
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.kernel.engine.progress import Advance, Progress, State
from ragstone.kernel.errors import Stopped

LOG = logging.getLogger(__name__)

FILE = "progress.json"
EVERY_S = 1.0
SILENT_S = 60.0
"""Seconds without a sign of life after which a run is taken for dead, though its process may exist."""

Life = Literal["going on", "stopped", "failed", "dead"]


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. done, total: rows of the stage, total None where it is not known; made, in_flight,
    retries, spent_usd: see State. started, stage_started, updated: seconds since 1970. ended: how it ended,
    None while it goes on; words: why.
    """

    stage: str
    done: int
    total: int | None
    made: int
    in_flight: int
    retries: int
    spent_usd: float | None
    started: float
    stage_started: float
    updated: float
    pid: int
    host: str
    ended: Literal["stopped", "failed"] | None = None
    words: str = ""

    def life(self, now: float) -> Life:
        """Return whether the run goes on at that time, or how it ended; dead: killed, or silent."""
        if self.ended:
            return self.ended
        if self.host == socket.gethostname() and not _exists(self.pid):
            return "dead"
        return "dead" if now - self.updated > SILENT_S else "going on"

    def rate(self) -> float | None:
        """Return rows a second of this stage; None before there is one."""
        seconds = self.updated - self.stage_started
        return self.done / seconds if self.done and seconds > 0 else None

    def remaining_s(self) -> float | None:
        """Return the seconds that the stage still takes at its rate; None where nobody can tell."""
        rate = self.rate()
        return (self.total - self.done) / rate if rate and self.total is not None else None


def read_progress(folder: Path) -> RunProgress | None:
    """Return what a run folder tells; None without the file, or where it holds something else."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=RunProgress)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


@contextlib.contextmanager
def progress_on_disk(
    folder: Path, progress: Progress, clock: Callable[[], float] = time.time
) -> Iterator[Progress]:
    """Give a progress that tells the folder as well, each second while the block runs.

    After the block the file is gone; after an error it says how the run ended. A disk that cannot be written
    to stops nothing: the rows' own writing tells of it. clock: seconds since 1970.
    """
    teller = _Teller(folder / FILE, clock)
    teller.begin()
    try:
        yield partial(teller.stage, progress)
    except BaseException as mistake:
        failed = isinstance(mistake, Exception) and not isinstance(mistake, Stopped)
        teller.end("failed" if failed else "stopped", mistake)
        raise
    teller.remove()


class _Teller:
    """Writes the file from a thread of its own, so that a hung endpoint is still a sign of life."""

    def __init__(self, path: Path, clock: Callable[[], float]) -> None:
        self._path, self._clock = path, clock
        self._started = self._stage_started = clock()
        self._stage, self._done = "getting ready", 0
        self._total: int | None = None
        self._state: Callable[[], State] = State
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._each_second, daemon=True, name="progress")

    def begin(self) -> None:
        self._put()
        self._thread.start()

    @contextlib.contextmanager
    def stage(
        self, progress: Progress, stage: str, total: int | None, state: Callable[[], State] = State
    ) -> Iterator[Advance]:
        """Count the rows of a stage, and hand them on."""
        self._stage, self._done, self._total, self._state = stage, 0, total, state
        self._stage_started = self._clock()
        with progress(stage, total, state) as advance:

            def count() -> None:
                self._done += 1
                advance()

            yield count

    def _each_second(self) -> None:
        while not self._over.wait(EVERY_S):
            try:
                self._put()
            except Exception as mistake:  # noqa: BLE001 - the next one may go well, and the run goes on anyway
                LOG.warning("%s: this second's progress was not written (%s)", self._path, mistake)

    def _put(self, ended: Literal["stopped", "failed"] | None = None, reason: str = "") -> None:
        state = self._state()
        progress = RunProgress(
            stage=self._stage,
            done=self._done,
            total=self._total,
            made=state.made,
            in_flight=0 if ended else state.in_flight,
            retries=state.retries,
            spent_usd=state.spent_usd,
            started=self._started,
            stage_started=self._stage_started,
            updated=self._clock(),
            pid=os.getpid(),
            host=socket.gethostname(),
            ended=ended,
            words=reason,
        )
        unfinished = self._path.with_name(f".{FILE}.partial")
        with contextlib.suppress(OSError):
            unfinished.write_bytes(msgspec.json.encode(progress))
            unfinished.replace(self._path)

    def _quiet(self) -> None:
        self._over.set()
        self._thread.join()

    def end(self, how: Literal["stopped", "failed"], mistake: BaseException) -> None:
        self._quiet()
        self._put(how, str(mistake))

    def remove(self) -> None:
        self._quiet()
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)


def _exists(pid: int) -> bool:
    if os.name == "nt":  # there a signal 0 would end the process: its silence alone tells
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
