"""The log of a review: `NAME.review.jsonl` beside the questions. A decision is added, and never changed."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from ragstone.dataset.reviewing.decision import Decision
from ragstone.errors import DataError

if sys.platform != "win32":
    import fcntl

ENDING = ".review.jsonl"
SHOWN = 10


def log_path(questions: Path) -> Path:
    """Return where the log stands: of `questions.jsonl` it is `questions.review.jsonl`."""
    return questions.with_name(questions.stem + ENDING)


def read_decisions(path: Path) -> list[Decision]:
    """Return the decisions of a log, in order; none where it is missing.

    A last line that was never finished, for the machine stopped, is no decision: nobody was told that it was
    kept. Raises DataError for lines that are no decisions, by their numbers.
    """
    content = path.read_bytes() if path.exists() else b""
    return _decoded(content, path)


class Log:
    """A log that is open for more decisions, of this process and of others.

    decisions: all that were read, in order.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.decisions: list[Decision] = []
        self._read_to = 0

    def catch_up(self) -> list[Decision]:
        """Return the decisions that others have added since. Raises DataError as read_decisions does."""
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(self._read_to)
                content = file.read()
        except FileNotFoundError:
            size, content = 0, b""
        except OSError as mistake:
            raise DataError(
                f"{self.path} cannot be read ({mistake.strerror}). Let this user read it."
            ) from None
        if size < self._read_to:
            raise DataError(f"{self.path} is shorter than it was: it was replaced. Open the review anew.")
        whole = content[: content.rfind(b"\n") + 1]
        new = _decoded(whole, self.path)
        self._read_to += len(whole)
        self.decisions += new
        return new

    def add(self, check: Callable[[list[Decision]], Decision | None]) -> Decision | None:
        """Add the decision that `check` returns, and return it when it is on the disk.

        check: is given what others have added in the meantime, while nobody else can add, and may raise; for
        None nothing is added. Raises DataError where the file cannot be written.
        """
        try:
            with _locked(self.path) as file:
                decision = check(self.catch_up())
                if decision is None:
                    return None
                os.ftruncate(file, self._read_to)  # a line that was never finished
                _write(file, msgspec.json.encode(decision) + b"\n")
        except OSError as mistake:
            raise DataError(
                f"{self.path}: the decision could not be kept ({mistake.strerror}). Make room, or make the "
                "folder writable, then decide again."
            ) from None
        self.catch_up()
        return decision


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Give the file, which no other process adds to until the block ends."""
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _write(file: int, line: bytes) -> None:
    """Write a whole line to the disk, or nothing of it."""
    before = os.fstat(file).st_size
    try:
        written = 0
        while written < len(line):
            written += os.write(file, line[written:])
        os.fsync(file)
    except OSError:
        with contextlib.suppress(OSError):
            os.ftruncate(file, before)
        raise


def _decoded(content: bytes, path: Path) -> list[Decision]:
    decisions, problems = [], []
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].splitlines(), 1):
        if not line.strip():
            continue
        try:
            decisions.append(msgspec.json.decode(line, type=Decision))
        except (msgspec.DecodeError, ValueError) as mistake:
            problems.append(f"{path}:{number}: {mistake}")
    if problems:
        raise DataError("\n".join(problems[:SHOWN]))
    return decisions
