"""Many files -> their documents, read by several processes side by side, in order.

The processes are plain ones that run `main` here and speak over pipes, one file at a time. A pool of the
standard library would read the user's main module again in each of them, which a script without
`if __name__ == "__main__"` does not survive, and would lose every file in flight when one process dies.
"""

import contextlib
import math
import os
import pickle
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO

from ragstone.kernel.corpus.file import PASSAGE, IngestOptions, ReadingLimits, Skipped, limits_of, too_many
from ragstone.kernel.corpus.reading import PACKED, read_file
from ragstone.kernel.corpus.sources import ArchiveEntry, Found
from ragstone.kernel.errors import MissingExtra
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document
from ragstone.kernel.tables.storage import url_of

READY = b"ready"
_LENGTH_BYTES = 8


def main() -> None:
    """Answer requests until there are no more: a file, options, limits -> what it gives, or what it
    lacks to read it."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the replies
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the first one ends this one
    send(replies, READY)
    while True:
        try:
            file, options, limits = pickle.loads(receive(sys.stdin.buffer))  # noqa: S301 - from the process that started this
        except EOFError:
            return
        _restrain(limits)
        send(replies, pickle.dumps(_read(file, options, limits.passages), protocol=5))


def _read(
    file: File, options: IngestOptions, most: int | None
) -> list[Document | Skipped] | MissingExtra | ImportError:
    """Return what a file gives, unless that is so much that it would hold up who asked."""
    try:
        rows = read_file(file, options)
    except (MissingExtra, ImportError) as mistake:  # no fault of the file
        return mistake
    n_passages = sum(math.ceil(len(row.text) / PASSAGE) for row in rows if isinstance(row, Document))
    if most is not None and n_passages > most:
        return [Skipped(str(file.path), too_many(n_passages, most))]
    return rows


def _restrain(limits: ReadingLimits) -> None:
    """Let the next file take so much: beyond its time this process is killed, beyond its memory is none."""
    try:
        import resource
    except ImportError:  # Windows: the process that started this looks at the clock
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu_s = math.ceil(used.ru_utime + used.ru_stime) + limits.cpu_s
    wanted = ((resource.RLIMIT_CPU, cpu_s), (resource.RLIMIT_DATA, limits.n_bytes), (resource.RLIMIT_CORE, 0))
    for kind, most in wanted:
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def send(pipe: IO[bytes], message: bytes) -> None:
    """Write a message. Raises BrokenPipeError where nobody reads any more."""
    pipe.write(len(message).to_bytes(_LENGTH_BYTES, "big"))
    pipe.write(message)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """Return the next message. Raises EOFError where there is none or only a part of one."""
    length = pipe.read(_LENGTH_BYTES)
    message = pipe.read(int.from_bytes(length, "big"))
    if len(length) < _LENGTH_BYTES or len(message) < int.from_bytes(length, "big"):
        raise EOFError
    return message


# Seconds that files take on one core, by and large: for each, and for each byte of it.
FILE_S, BYTE_S = 1e-3, 1e-7
ENOUGH_S = 6.0  # a process is ready after 1.5 s: imports, and what tells languages
_LAST_BREATH_S = 5
_RUN = "from ragstone.kernel.corpus.parallel import main; main()"
BEFORE = ""  # what a process runs first; a test of crashes needs it
# There is a process for each core already: threads of NumPy's in each of them would wait for one another.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0)
LOOK_S = 0.1  # how often it is looked whether a reading takes too long, or is to be stopped
CLOCK_TIMES = 3  # seconds by the clock that a file may take for each of computing
AHEAD = 4  # files in flight for each process, so that a slow one does not stop the others

Given = list[Document | Skipped]


def n_processes(files: Sequence[Found], options: IngestOptions) -> int:
    """Return how many processes read the files beside this one: as chosen, else one for each core.

    0 where there is little to read, of kinds that nothing but readers of ours reads, in linear time.
    """
    few = FILE_S * len(files) + BYTE_S * sum(map(_n_bytes, files)) < ENOUGH_S
    if options.processes == 1 or (options.processes is None and few):
        # A library that reads a packed file may crash, or never end.
        inner = (
            source.file if isinstance(source, ArchiveEntry) else source
            for source in files
            if not isinstance(source, Skipped)
        )
        return int(any(file.path.suffix.lower() in PACKED for file in inner))
    if options.processes is not None:
        return options.processes
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, len(files))


def _n_bytes(source: Found) -> int:
    if isinstance(source, Skipped):
        return 0
    try:
        return source.n_bytes if isinstance(source, ArchiveEntry) else source.path.stat().st_size
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
            return worker.read(file) if worker.start() else read_file(file, options)
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


def _result(pair: tuple[str, Given | Future[Given]]) -> tuple[str, Given]:
    location, rows = pair
    return location, rows.result() if isinstance(rows, Future) else rows


class ReadingProcess:
    """A process that reads files, one at a time; it starts with the first one, and anew after it has died.

    Each file has limits: one that never ends, or crashes a library, costs itself. Not for several threads at
    once, but for `end`.
    """

    def __init__(
        self,
        options: IngestOptions,
        folder: str | None = None,
        *,
        nice: int = 0,
        passages: int | None = None,
    ) -> None:
        """folder: that paths are seen from, if not from here. nice: how far it stands back for others.
        passages: that a file may give."""
        self._passages = passages
        self._options = options
        self._folder = folder
        self._before = f"import os; hasattr(os, 'nice') and os.nice({nice})\n{BEFORE}" if nice else BEFORE
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    def read(
        self, file: File, limits: ReadingLimits | None = None, stop: threading.Event | None = None
    ) -> Given:
        """Return what a file gives; skipped where that takes too much, or crashes, or there is no process.

        limits: by default as long as the file is. stop: when it is set, the file is skipped. Raises
        MissingExtra, and ImportError where a module of Ragstone itself is not there.
        """
        if not self.start():
            return [Skipped(str(file.path), "no process can be started to read it")]
        if limits is None:
            n_bytes = len(file.content) if file.content is not None else _n_bytes(file)
            if url_of(file.path) and file.content is None:
                n_bytes = self._options.max_file_mb * 1_000_000
            limits = limits_of(n_bytes, self._passages)
        request = pickle.dumps((file, self._options, limits), protocol=5)
        late = time.monotonic() + CLOCK_TIMES * limits.cpu_s
        reply = self._ask(request, lambda: time.monotonic() > late or (stop is not None and stop.is_set()))
        if reply is None:
            in_time = time.monotonic() <= late
            return [Skipped(str(file.path), self._why_dead(limits.cpu_s, in_time=in_time))]
        rows: Given | MissingExtra | ImportError = pickle.loads(reply)  # noqa: S301 - from our own process
        if isinstance(rows, MissingExtra | ImportError):
            raise rows
        return rows

    def start(self) -> bool:
        """Start the process, if it does not run; return whether it does."""
        if self._process is None and not self._ended:
            code = f"import sys; sys.path[:] = {sys.path!r}\n{self._before}\n{_RUN}"
            command = [sys.executable, "-c", code]
            alone = {**os.environ, **dict.fromkeys(_THREADS, "1")}
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=alone, cwd=self._folder
            )
            if self._ended or self._ask(None, lambda: self._ended) != READY:
                self.rest()
        return self._process is not None

    def _ask(self, message: bytes | None, given_up: Callable[[], bool]) -> bytes | None:
        """Return the next reply of the process; None if it has died, or is given up, which kills it."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            if message is not None:
                send(process.stdin, message)
            while not _speaks(process.stdout):
                if given_up():
                    process.kill()
                    return None
            return receive(process.stdout)
        except (OSError, EOFError):
            return None

    def _why_dead(self, cpu_s: int, *, in_time: bool) -> str:
        code = self.rest(_LAST_BREATH_S)
        if not in_time or code == _OUT_OF_TIME:
            return f"it takes more than {cpu_s} s to read: split it, or save it again with another program"
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"the process that read it died ({how}): split it, or save it again with another program"

    def rest(self, wait_s: float = 0) -> int:
        """End the process until there is another file; return its exit code, 0 where there was none."""
        process, self._process = self._process, None
        if process is None:
            return 0
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(wait_s)
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.communicate()  # closes the pipes
        return process.returncode

    def end(self) -> None:
        """Kill the process, whatever it does, and start none any more."""
        self._ended = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> None:
        """Take leave of the process, after `end`."""
        self.rest(_LAST_BREATH_S)


def _speaks(pipe: IO[bytes]) -> bool:
    """Wait some time for a reply, or for the end of who gives it; return whether there is one."""
    if not hasattr(select, "poll"):  # Windows: its end is waited for
        return True
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(1000 * LOOK_S))
