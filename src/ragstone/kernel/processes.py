"""Processes of Python beside this one, which answer over pipes; and how many cores there are for them.

They are plain ones. A pool of the standard library would read the user's main module again in each of them,
which a script without `if __name__ == "__main__"` does not survive, and would lose all that is in flight when
one process dies. None is forked, so threads and open connections of this process do no harm.
"""

import contextlib
import math
import os
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

_READY = b"ready"
_LENGTH_BYTES = 8
# There is a process for each core already: threads of NumPy's in each of them would wait for one another.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
_LOOK_S = 0.1  # how often it is looked whether a reply is given up


def answer_messages(answer: Callable[[bytes], bytes]) -> None:
    """Answer the messages of the process that started this one, until there are no more."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the replies
    with contextlib.suppress(EOFError, BrokenPipeError):  # it is gone
        _send(replies, _READY)
        while True:
            _send(replies, answer(_receive(sys.stdin.buffer)))


class HelperProcess:
    """A process that runs Python code which calls `answer_messages`; started again after it has died.

    Not for several threads at once, but for `end`.
    """

    def __init__(self, code: str, folder: str | None = None) -> None:
        """folder: where it runs, if not here."""
        self._code, self._folder = code, folder
        self._process: subprocess.Popen[bytes] | None = None
        self._ended = False

    @property
    def running(self) -> bool:
        """Whether there is a process."""
        return self._process is not None

    def start(self) -> bool:
        """Start the process, if it does not run; return whether it does."""
        # A program that was frozen is its own executable: there is no interpreter to start.
        can_start = bool(sys.executable) and not getattr(sys, "frozen", False)
        if self._process is None and not self._ended and can_start:
            # Ctrl-C reaches all processes, and the first one ends this one, while it imports too.
            quiet = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
            code = f"{quiet}\nimport sys; sys.path[:] = {sys.path!r}\n{self._code}"
            alone = {**os.environ, **dict.fromkeys(_THREADS, "1")}
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", code],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=alone,
                    cwd=self._folder,
                )
            except OSError:  # no memory, or too many processes
                return False
            if self._ended or self._ask(None, lambda: self._ended) != _READY:
                self.rest()
        return self._process is not None

    def ask(self, message: bytes, given_up: Callable[[], bool] = lambda: False) -> bytes | None:
        """Return the reply to a message; None if the process has died, or is given up, which kills it."""
        return self._ask(message, given_up)

    def _ask(self, message: bytes | None, given_up: Callable[[], bool]) -> bytes | None:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            return None
        try:
            if message is not None:
                _send(process.stdin, message)
            while not _speaks(process.stdout):
                if given_up():
                    process.kill()
                    return None
            return _receive(process.stdout)
        except (OSError, EOFError):
            return None

    def rest(self, wait_s: float = 0) -> int:
        """End the process until it is started again; return its exit code, 0 where there was none."""
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


def _send(pipe: IO[bytes], message: bytes) -> None:
    """Write a message. Raises BrokenPipeError where nobody reads any more."""
    pipe.write(len(message).to_bytes(_LENGTH_BYTES, "big"))
    pipe.write(message)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes:
    """Return the next message. Raises EOFError where there is none or only a part of one."""
    length = pipe.read(_LENGTH_BYTES)
    message = pipe.read(int.from_bytes(length, "big"))
    if len(length) < _LENGTH_BYTES or len(message) < int.from_bytes(length, "big"):
        raise EOFError
    return message


def _speaks(pipe: IO[bytes]) -> bool:
    """Wait some time for a reply, or for the end of who gives it; return whether there is one."""
    if not hasattr(select, "poll"):  # Windows: its end is waited for
        return True
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(1000 * _LOOK_S))


def death(code: int) -> str:
    """Return how a process ended, in words."""
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def n_cores(root: Path = Path("/")) -> int:
    """Return how many cores this process may use: by its affinity, and by the quota of its control groups.

    A part of a core counts as one. root: where /proc and /sys are.
    """
    counted = getattr(os, "process_cpu_count", None)  # Python 3.13, which heeds -X cpu_count
    if counted is not None:
        cores = counted() or 1
    elif hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    return max(1, min([cores, *map(math.ceil, _quotas(root))]))


def _quotas(root: Path) -> list[float]:
    """Return the cores that control groups allow, of both versions, the groups around them included."""
    quotas = []
    with contextlib.suppress(OSError, ValueError):
        for line in (root / "proc/self/cgroup").read_text().splitlines():
            _number, controllers, group = line.split(":", 2)
            if controllers and "cpu" not in controllers.split(","):
                continue
            top = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
            for folder in (top / group.lstrip("/"), *(top / group.lstrip("/")).parents):
                quotas += _quota(folder)
                if folder == top:
                    break
    return quotas


def _quota(folder: Path) -> list[float]:
    with contextlib.suppress(OSError, ValueError):
        if (both := folder / "cpu.max").is_file():
            most, period = both.read_text().split()
        else:
            most, period = ((folder / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return [float(most) / float(period)] if most.strip() not in ("max", "-1") else []
    return []
