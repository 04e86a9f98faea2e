"""The events of a file of judgements -> a collector, with a note of how far it has acknowledged them."""

import asyncio
import hashlib
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.export._collector import CollectorEndpoint, open_collector
from ragstone.features.export.otlp import EvaluationEvent
from ragstone.kernel.engine.progress import Progress, State
from ragstone.kernel.errors import DataError, Stopped, plural
from ragstone.kernel.persistence.journal import replace_whole
from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import read_rows

BATCH = 512  # events of a request
BATCH_CHARACTERS = 2_000_000  # of their texts; collectors take requests of 20 MB
NOTED_S = 0.5  # how often it is noted how far the sending is


class SentEvents(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the judgements of a source.

    sent: the collector was given them now; before: in an earlier call. rejected: of all these, that it did
    not take, and `message` is why; they are not sent again, as the protocol wants. cut: texts of which only
    the beginning was sent now.
    """

    url: str
    sent: int = 0
    before: int = 0
    rejected: int = 0
    message: str = ""
    cut: int = 0


class _ExportState(msgspec.Struct, frozen=True, kw_only=True):
    """How far a source was sent: so many rows, and the digest of these, by which they are known again."""

    url: str = ""
    source: str = ""
    rows: int = 0
    digest: str = ""
    rejected: int = 0
    message: str = ""


class EventExport:
    """Sends the judgements of a file to an endpoint, and notes how far it is."""

    def __init__(
        self,
        file: Path,
        endpoint: CollectorEndpoint,
        notes: Path,
        event: Callable[[Judgement], EvaluationEvent],
    ) -> None:
        self._file, self._endpoint, self._notes, self._event = file, endpoint, notes, event
        self._digest = hashlib.blake2b(digest_size=16)
        self._noted_at = 0.0
        self._done = _ExportState(url=endpoint.name, source=str(file))
        self._n_cut = 0

    async def send(self, anew: bool, progress: Progress) -> SentEvents:
        """Send what was not sent before. Raises DataError and Stopped with what was sent until then."""
        before, total = self._check(_ExportState() if anew else self._noted())
        self._done = before
        try:
            with progress("send events", total - before.rows, State) as advance:
                async with open_collector(self._endpoint) as collector:
                    for events, digest in self._batches(before.rows):
                        reply = await collector.send(events)
                        self._done = msgspec.structs.replace(
                            self._done,
                            rows=self._done.rows + len(events),
                            digest=digest,
                            rejected=self._done.rejected + reply.rejected,
                            message=self._done.message or reply.message,
                        )
                        self._note(NOTED_S)
                        for _ in events:
                            advance()
        except asyncio.CancelledError:
            raise Stopped(f"stopped. {self._told(total)}") from None
        except DataError as mistake:
            raise DataError(f"{mistake} {self._told(total)}") from None
        finally:
            self._note(0.0)
        return SentEvents(
            url=self._endpoint.name,
            sent=self._done.rows - before.rows,
            before=before.rows,
            rejected=self._done.rejected,
            message=self._done.message,
            cut=self._n_cut,
        )

    def _noted(self) -> _ExportState:
        """Return how far it was sent before. Raises DataError where that cannot be read."""
        try:
            return msgspec.json.decode(self._notes.read_bytes(), type=_ExportState)
        except FileNotFoundError:
            return _ExportState()
        except (msgspec.DecodeError, UnicodeDecodeError) as mistake:
            raise DataError(
                f"{self._notes}: cannot be read ({mistake}), so it is unknown which events were sent. "
                "--force sends all of them again."
            ) from None

    def _told(self, total: int) -> str:
        if not self._done.rows:
            return "No event was sent."
        return (
            f"{self._done.rows:,} of {plural(total, 'event')} had been sent, and this is recorded: run the "
            "same command again to send the rest."
        )

    def _check(self, noted: _ExportState) -> tuple[_ExportState, int]:
        """Return how far the rows were sent before, and how many there are. Raises DataError."""
        digest, total, before = hashlib.blake2b(digest_size=16), 0, _ExportState()
        for total, row in enumerate(read_rows(self._file, Judgement), 1):
            digest.update(msgspec.json.encode(row))
            if total == noted.rows and digest.hexdigest() == noted.digest:
                before, self._digest = noted, digest.copy()
        return msgspec.structs.replace(before, url=self._done.url, source=self._done.source), total

    def _batches(self, first: int) -> Iterator[tuple[list[EvaluationEvent], str]]:
        """Yield events of the rows from a number on, with the digest of all rows up to them."""
        events: list[EvaluationEvent] = []
        n_characters = 0
        for row in islice(read_rows(self._file, Judgement), first, None):
            self._digest.update(msgspec.json.encode(row))
            event = self._event(row)
            events.append(event)
            self._n_cut += event.n_cut
            n_characters += event.n_characters
            if len(events) == BATCH or n_characters > BATCH_CHARACTERS:
                yield events, self._digest.hexdigest()
                events, n_characters = [], 0
        if events:
            yield events, self._digest.hexdigest()

    def _note(self, every_s: float) -> None:
        if self._done.digest and time.monotonic() >= self._noted_at + every_s:
            replace_whole(self._notes, msgspec.json.encode(self._done))
            self._noted_at = time.monotonic()
