"""Many files -> their documents, read by several processes side by side, in order.

A process reads one file at a time: one that never ends, or crashes a library, costs itself.
"""

import math
import pickle
import queue
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from ragstone.kernel.corpus.file import PASSAGE, IngestOptions, ReadingLimits, Skipped, limits_of, too_many
from ragstone.kernel.corpus.reading import PACKED, read_file
from ragstone.kernel.corpus.sources import ArchiveEntry, Found
from ragstone.kernel.errors import MissingExtra
from ragstone.kernel.files.file import File
from ragstone.kernel.processes import HelperProcess, answer_messages, death, n_cores
from ragstone.kernel.records import Document
from ragstone.kernel.tables.storage import url_of


def main() -> None:
    """Answer requests until there are no more: a file, options, limits -> what it gives, or what it
    lacks to read it."""

    def answer(message: bytes) -> bytes:
        file, options, limits = pickle.loads(message)  # noqa: S301 - from the process that started this
        _restrain(limits)
        return pickle.dumps(_read(file, options, limits.passages), protocol=5)

    answer_messages(answer)


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


# Seconds that files take on one core, by and large: for each, and for each byte of it.
FILE_S, BYTE_S = 1e-3, 1e-7
ENOUGH_S = 6.0  # a process is ready after 1.5 s: imports, and what tells languages
_LAST_BREATH_S = 5
_RUN = "from ragstone.kernel.corpus.parallel import main; main()"
BEFORE = ""  # what a process runs first; a test of crashes needs it
_OUT_OF_TIME = -getattr(signal, "SIGXCPU", 0)
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
    return min(n_cores(), len(files))


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
        stand_back = f"import os; hasattr(os, 'nice') and os.nice({nice})\n" if nice else ""
        self._helper = HelperProcess(f"{stand_back}{BEFORE}\n{_RUN}", folder)

    def read(
        self, file: File, limits: ReadingLimits | None = None, stop: threading.Event | None = None
    ) -> Given:
        """Return what a file gives; skipped where that takes too much, or crashes, or there is no process.

        limits: by default as long as the file is. stop: when it is set, the file is skipped. Raises
        MissingExtra, and ImportError where a module of Ragstone itself is not there.
        """
        if not self._helper.start():
            return [Skipped(str(file.path), "no process can be started to read it")]
        if limits is None:
            n_bytes = len(file.content) if file.content is not None else _n_bytes(file)
            if url_of(file.path) and file.content is None:
                n_bytes = self._options.max_file_mb * 1_000_000
            limits = limits_of(n_bytes, self._passages)
        request = pickle.dumps((file, self._options, limits), protocol=5)
        late = time.monotonic() + CLOCK_TIMES * limits.cpu_s
        reply = self._helper.ask(
            request, lambda: time.monotonic() > late or (stop is not None and stop.is_set())
        )
        if reply is None:
            in_time = time.monotonic() <= late
            return [Skipped(str(file.path), self._why_dead(limits.cpu_s, in_time=in_time))]
        rows: Given | MissingExtra | ImportError = pickle.loads(reply)  # noqa: S301 - from our own process
        if isinstance(rows, MissingExtra | ImportError):
            raise rows
        return rows

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._helper.running

    def start(self) -> bool:
        """Start the process, if it does not run; return whether it does."""
        return self._helper.start()

    def _why_dead(self, cpu_s: int, *, in_time: bool) -> str:
        code = self._helper.rest(_LAST_BREATH_S)
        if not in_time or code == _OUT_OF_TIME:
            return f"it takes more than {cpu_s} s to read: split it, or save it again with another program"
        return (
            f"the process that read it died ({death(code)}): split it, or save it again with another program"
        )

    def rest(self) -> None:
        """End the process until there is another file."""
        self._helper.rest()

    def end(self) -> None:
        """Kill the process, whatever it does, and start none any more."""
        self._helper.end()

    def close(self) -> None:
        """Take leave of the process, after `end`."""
        self._helper.rest(_LAST_BREATH_S)
