"""Judgements -> a collector while they are made: from a thread of its own, which nobody ever waits for."""

import asyncio
import queue
import threading
import time

import msgspec

from ragstone.features.export._collector import CollectorClient, endpoint_of, open_collector
from ragstone.features.export.otlp import EvaluationEvent, event_of, span_place
from ragstone.features.export.sending import BATCH
from ragstone.kernel.errors import DataError
from ragstone.kernel.privacy.masking import OwnWords
from ragstone.kernel.records import Judgement

MOST_WAITING = 10_000  # events
MOST_CHARACTERS = 50_000_000  # of their texts
LINGER_S = 1.0  # how long a request waits for more events
LAST_S = 5.0  # how long the end waits for those that are left


class EventCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What became of events. lost: were not sent, as nobody took them in time; why: what was said last.

    rejected: of those that were sent, that the collector did not take.
    """

    url: str
    sent: int = 0
    lost: int = 0
    rejected: int = 0
    why: str = ""


class EventStream:
    """Sends the events of judgements to a collector. Close it at the end."""

    def __init__(self, url: str, own: OwnWords | None = None) -> None:
        """Begin. own: words that are masked besides, see own_words. Raises ConfigError, see endpoint_of."""
        self._endpoint, self._own = endpoint_of(url), own
        self._waiting: queue.Queue[EvaluationEvent | None] = queue.Queue()
        self._lock = threading.Lock()
        self._n_open = self._n_characters = 0
        self._counts = EventCounts(url=self._endpoint.name)
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._send_all()), name="ragstone events", daemon=True
        )
        self._thread.start()

    def offer(self, row: Judgement, version: str, name: str, trace: str, span: str) -> None:
        """Have a judgement sent, if there is room; returns at once.

        version: of its evaluator. name: of the exchange; trace, span: where it was traced, in hexadecimal
        digits; what is no such id is left out.
        """
        event = event_of(
            row,
            version=version,
            own=self._own,
            place=span_place(trace, span),
            question_id=name,
            time_ns=time.time_ns(),
        )
        with self._lock:
            size = event.n_characters
            if self._n_open >= MOST_WAITING or self._n_characters + size > MOST_CHARACTERS:
                self._count(lost=1)
                return
            self._n_open += 1
            self._n_characters += size
        self._waiting.put(event)

    def counts(self) -> EventCounts:
        """Return what has become of the events so far."""
        with self._lock:
            return self._counts

    def close(self) -> EventCounts:
        """Wait a moment for what is left; what is not sent then is lost. Return what became of all."""
        self._waiting.put(None)
        self._thread.join(LAST_S)
        with self._lock:
            self._count(lost=self._n_open)
            self._n_open = 0
            return self._counts

    def _count(self, *, sent: int = 0, lost: int = 0, rejected: int = 0, why: str = "") -> None:
        known = self._counts
        self._counts = EventCounts(
            url=known.url,
            sent=known.sent + sent,
            lost=known.lost + lost,
            rejected=known.rejected + rejected,
            why=why or known.why,
        )

    async def _send_all(self) -> None:
        async with open_collector(self._endpoint) as collector:
            more = True
            while more:
                events, more = await asyncio.to_thread(self._next)
                if events:
                    await self._send(collector, events)

    async def _send(self, collector: CollectorClient, events: list[EvaluationEvent]) -> None:
        sent = lost = rejected = 0
        try:
            reply = await collector.send(events)
            sent, rejected, why = len(events), reply.rejected, reply.message
        except DataError as mistake:
            lost, why = len(events), str(mistake)
        with self._lock:
            if self._n_open:  # else the end has counted them as lost
                self._count(sent=sent, lost=lost, rejected=rejected, why=why)
                self._n_open -= len(events)
                self._n_characters -= sum(event.n_characters for event in events)

    def _next(self) -> tuple[list[EvaluationEvent], bool]:
        """Wait for events; return those that come within a moment, and whether there may be more."""
        events: list[EvaluationEvent] = []
        until = None
        while len(events) < BATCH:
            try:
                event = self._waiting.get(
                    timeout=None if until is None else max(0.0, until - time.monotonic())
                )
            except queue.Empty:
                break
            if event is None:
                return events, False
            events.append(event)
            until = until or time.monotonic() + LINGER_S
        return events, True
