"""Many files -> their documents, read by several processes side by side, in order.

The processes are plain ones that run worker.py and speak over pipes, one file at a time. A pool of the
standard library would read the user's main module again in each of them, which a script without
`if __name__ == "__main__"` does not survive, and would lose every file in flight when one process dies.
"""

import contextlib
import os
import pickle
import queue
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from ragstone.corpus.file import File, Skipped
from ragstone.corpus.options import IngestOptions
from ragstone.corpus.reading import read_file
from ragstone.corpus.sources import Entry, Found
from ragstone.corpus.worker import READY, receive, send
from ragstone.records import Document

# Seconds that files take on one core, by and large: for each, and for each byte of it.
FILE_S, BYTE_S = 1e-3, 1e-7
ENOUGH_S = 6.0  # a process is ready after 1.5 s: imports, and what tells languages
_LAST_BREATH_S = 5
_RUN = "from ragstone.corpus.worker import main; main()"
BEFORE = ""  # what a process runs first; a test of crashes needs it
# There is a process for each core already: threads of NumPy's in each of them would wait for one another.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# What a file of a stranger may take; one that takes more is a bomb, or as good as one.
GUARDED_CPU_S, GUARDED_BYTES = 60, 2_000_000_000
_GUARD = """
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, ({cpu_s}, {cpu_s}))
    resource.setrlimit(resource.RLIMIT_DATA, ({n_bytes}, {n_bytes}))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, OSError, ValueError):
    pass  # not every system has limits
"""
AHEAD = 4  # files in flight for each process, so that a slow one does not stop the others

Given = list[Document | Skipped]


def read_guarded(
    file: File, options: IngestOptions, *, cpu_s: int = GUARDED_CPU_S, n_bytes: int = GUARDED_BYTES
) -> Given:
    """Return what a file gives, read in a process of its own: skipped where that takes too much, or crashes.

    cpu_s: seconds of computing; n_bytes: memory. Not every system has these limits. Raises MissingExtra.
    """
    worker = ReadingProcess(options, _GUARD.format(cpu_s=cpu_s, n_bytes=n_bytes))
    try:
        given = worker.read(file)
    finally:
        worker.end()
        worker.close()
    if worker.n_died:
        reason = (
            f"it takes more than {cpu_s} s or {n_bytes / 1e9:.0f} GB to read, or crashes the reader: "
            "split it, or save it anew with another program"
        )
        return [Skipped(str(file.path), reason)]
    return given


def n_processes(files: Sequence[Found], options: IngestOptions) -> int:
    """Return how many processes read the files: as chosen, else one for each core if it is worth it."""
    if options.processes is not None:
        return max(options.processes, 1)
    if FILE_S * len(files) + BYTE_S * sum(map(_n_bytes, files)) < ENOUGH_S:
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(files))


def _n_bytes(found: Found) -> int:
    if isinstance(found, Skipped):
        return 0
    try:
        return found.n_bytes if isinstance(found, Entry) else found.path.stat().st_size
    except OSError:
        return 0


def read_in_processes(
    files: Iterable[File | Skipped], options: IngestOptions, processes: int
) -> Generator[tuple[str, Given], None, None]:
    """Yield each file's path and what it gives, in order, as if one process had read them.

    A file whose process dies (a crash in a C library, no memory) is skipped with that reason, and the rest
    goes on in a new one. Raises MissingExtra.
    """
    idle: queue.SimpleQueue[ReadingProcess] = queue.SimpleQueue()
    workers = [ReadingProcess(options) for _ in range(processes)]
    for worker in workers:
        idle.put(worker)

    def work(file: File) -> Given:
        worker = idle.get()
        try:
            return worker.read(file)
        finally:
            idle.put(worker)

    waiting: deque[tuple[str, Given | Future[Given]]] = deque()
    threads = ThreadPoolExecutor(processes)
    try:
        for file in files:
            if isinstance(file, Skipped):
                waiting.append((file.path, [file]))
            else:
                waiting.append((str(file.path), threads.submit(work, file)))
            if len(waiting) >= AHEAD * processes:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        for worker in workers:
            worker.end()
        threads.shutdown()
        for worker in workers:
            worker.close()


def _result(one: tuple[str, Given | Future[Given]]) -> tuple[str, Given]:
    place, given = one
    return place, given.result() if isinstance(given, Future) else given


class ReadingProcess:
    """A process that reads files, one at a time; it starts with the first one, and anew after it has died."""

    def __init__(self, options: IngestOptions, guard: str = "", folder: str | None = None) -> None:
        """folder: that paths are seen from, if not from here."""
        self.n_died = 0
        self._options = options
        self._guard = guard
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def read(self, file: File) -> Given:
        """Return what a file gives. Raises MissingExtra."""
        if self._process is None and not self._start():
            return read_file(file, self._options)
        reply = self._ask(pickle.dumps((file, self._options), protocol=5))
        if reply is None:
            self.n_died += 1
            return [Skipped(str(file.path), f"the process that read it died ({self._stop()})")]
        given: Given | None = pickle.loads(reply)  # noqa: S301 - from our own process
        # What was raised there is raised here too, by reading the file again.
        return read_file(file, self._options) if given is None else given

    def _start(self) -> bool:
        """Start the process; return whether it is ready."""
        code = f"import sys; sys.path[:] = {sys.path!r}\n{self._guard}\n{BEFORE}\n{_RUN}"
        command = [sys.executable, "-c", code]
        alone = {**os.environ, **dict.fromkeys(_THREADS, "1")}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=alone, cwd=self._folder
        )
        if self._ended or self._ask(None) != READY:
            self._stop()
        return self._process is not None

    def _ask(self, message: bytes | None) -> bytes | None:
        """Return the next reply of the process, None if it has died."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            if message is not None:
                send(process.stdin, message)
            return receive(process.stdout)
        except (OSError, EOFError):
            return None

    def _stop(self) -> str:
        """Wait for the process, which has died or is to; return how it ended, in words."""
        process, self._process = self._process, None
        if process is None:
            return "it was not there"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_LAST_BREATH_S)
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()  # closes the pipes
        return (
            f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        )

    def end(self) -> None:
        """Kill the process, whatever it does, and start none any more."""
        self._ended = True
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Take leave of the process, after `end`."""
        self._stop()
