"""Which batches are on their way: `.ragstone/batches.jsonl`, and the calls of each in `.ragstone/batches/`.

A batch is noted before it is submitted, under a tag of ours that it carries at the provider, and its id as
soon as the provider has given it; so a process that is killed at any moment leaves a batch that the next one
finds. The file only grows, and the last line of a tag holds.
"""

import contextlib
import os
import secrets
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ragstone.errors import DataError
from ragstone.tables.journal import Journal, append_line
from ragstone.tables.private import make_folder

MOST_CALLS = 50_000  # the provider's limits for a file
MOST_BYTES = 190_000_000  # of 200 MB
ABANDONED_S = 3_600.0


class Entry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One batch. batch: its id, once the provider has given it. settled: its results are in the ledger."""

    tag: str
    model: str
    batch: str | None = None
    settled: bool = False


class _Body(msgspec.Struct, frozen=True):
    top_logprobs: int | None = None


class _Call(msgspec.Struct, frozen=True):
    custom_id: str
    body: _Body


class BatchJournal:
    """The batches of a project, as its files tell. Raises DataError where these cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "batches.jsonl"
        self.folder = folder / "batches"

    def calls_of(self, tag: str) -> Path:
        """Return the file that holds the calls of a batch, as it is uploaded."""
        return self.folder / f"{tag}.jsonl"

    def unsettled(self, model: str) -> list[Entry]:
        """Return the batches of a model whose results have not been fetched, the oldest first."""
        journal = Journal(self.path, Entry, strict=False)  # a line that a kill cut off never held
        if self.path.is_file():
            with told(self.path):
                journal.append_if(lambda _: None)  # also reads a last line that is whole but for its end
        found = {entry.tag: entry for entry in journal.rows}
        self._sweep({tag for tag, entry in found.items() if entry.batch and not entry.settled})
        return [entry for entry in found.values() if entry.model == model and not entry.settled]

    def note(self, entry: Entry) -> None:
        """Write an entry; it is on the disk when this returns."""
        with told(self.path):
            append_line(self.path, msgspec.json.encode(entry))
        if entry.settled:
            self.calls_of(entry.tag).unlink(missing_ok=True)

    def _sweep(self, needed: set[str]) -> None:
        """Delete what killed processes left behind; a younger file may be another one's that lives."""
        for path in self.folder.glob("*.jsonl"):
            with contextlib.suppress(OSError):
                if path.stem not in needed and time.time() - path.stat().st_mtime > ABANDONED_S:
                    path.unlink()


class Draft:
    """A file of calls that is being written, under a tag of its own."""

    def __init__(self, journal: BatchJournal) -> None:
        self.tag = secrets.token_hex(8)
        self.path = journal.calls_of(self.tag)
        self.n_calls = self.n_bytes = 0
        with told(self.path):
            make_folder(self.path.parent)
            self._file = self.path.open("wb")

    def takes(self, line: bytes) -> bool:
        """Return whether the provider allows another such line in this file."""
        return self.n_calls < MOST_CALLS and self.n_bytes + len(line) <= MOST_BYTES

    def write(self, line: bytes) -> None:
        """Add a call."""
        with told(self.path):
            self._file.write(line)
        self.n_calls += 1
        self.n_bytes += len(line)

    def close(self) -> None:
        """Bring the file to the disk. A second time it does nothing."""
        if not self._file.closed:
            with told(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()


def call_line(key: bytes, endpoint: str, body: bytes) -> bytes:
    """Return a call as a line of the file that is uploaded; its name there is the ledger's key."""
    line = {"custom_id": key.hex(), "method": "POST", "url": endpoint, "body": msgspec.Raw(body)}
    return msgspec.json.encode(line) + b"\n"


def read_calls(path: Path) -> dict[bytes, int | None]:
    """Return the ledger's keys of the calls in a file -> how many logprobs each asks for."""
    decode = msgspec.json.Decoder(_Call).decode
    with path.open("rb") as file:
        calls = map(decode, file)
        return {bytes.fromhex(call.custom_id): call.body.top_logprobs for call in calls}


@contextlib.contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn an error of the disk into one that says what to do."""
    try:
        yield
    except OSError as mistake:
        raise DataError(
            f"{path}: cannot be written ({mistake.strerror}). Make room, or work in a writable folder; what "
            "was submitted goes on at the provider."
        ) from None
