"""Spans and events that an application sends -> files of OTLP JSON lines: masked, then on disk, then
acknowledged.

A request is a line. The files are what `watch` and `judge` read as traces.
"""

import asyncio
import contextlib
import os
import signal
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragstone.features.watch._log_records import decode_logs
from ragstone.features.watch.otlp import OtlpAttribute, OtlpEvent, OtlpLink, OtlpSpan, OtlpValue, texts_in
from ragstone.features.watch.otlp_decoding import Encoding, decode_spans
from ragstone.kernel.config.serving import OtlpSection
from ragstone.kernel.errors import DataError, checks_arguments, explaining, plural
from ragstone.kernel.llm import load_secret
from ragstone.kernel.persistence.appending import Appender
from ragstone.kernel.persistence.journal import append_line
from ragstone.kernel.privacy.masking import OwnWords, own_words
from ragstone.kernel.privacy.values import digest_of, mask_fields
from ragstone.kernel.tables.interchange.openinference import WHO

TRACES = "traces"
FILE_BYTES = 8_000_000  # `watch --follow` reads a file that has changed anew as a whole, in 0.5 s
LAST_WORDS = 8  # of a text that is cut: half an address would not be known as one


class SpanReceipt(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a request.

    spans, events: were taken. rejected: were not, and sending them again does not help. message: why, and
    what was cut; empty where all is as it was sent.
    """

    spans: int
    rejected: int = 0
    message: str = ""
    events: int = 0


class _MaskedBatch(msgspec.Struct, frozen=True):
    line: bytes
    receipt: SpanReceipt


Signal = Literal["traces", "logs"]


_PEOPLE: dict[str, Literal["conversation", "user"]] = {
    ".".join(path): "user" if name == "user_id" else "conversation"
    for name, paths in WHO.items()
    for path in paths
}


def mask_spans(
    body: bytes, encoding: Encoding, section: OtlpSection, own: OwnWords | None, secret: bytes
) -> _MaskedBatch:
    """Return the line of a request, masked and within its limits, and what is told of it.

    Who asked, and in which conversation, is a digest under the secret: others stay others, and are unknown.

    Raises DataError for what is no OTLP, MissingExtra for protobuf without its package.
    """
    batch, refused = decode_spans(body, encoding)
    scopes = [scope for resource in batch.resource_spans for scope in resource.scope_spans]
    n_over = _limit([scope.spans for scope in scopes], section.max_spans)
    cut: Counter[str] = Counter()
    traces: dict[str, list[_Place]] = defaultdict(list)
    for resource in batch.resource_spans:
        # What a program tells of itself is masked alone: it goes with spans of many traces.
        sources = [resource.resource, *(each.scope for each in resource.scope_spans)]
        for source in sources:
            if source is not None:
                traces[""] += _texts(source.attributes, secret)
        for scope in resource.scope_spans:
            for span in scope.spans:
                traces[span.trace_id] += _places(span, secret)
    _mask_places(traces.values(), section, own, cut)
    n_spans = sum(len(scope.spans) for each in batch.resource_spans for scope in each.scope_spans)
    message = _message("span", refused, n_over, cut, section)
    receipt = SpanReceipt(spans=n_spans, rejected=len(refused) + n_over, message=message)
    return _MaskedBatch(msgspec.json.encode(batch) if n_spans else b"", receipt)


def mask_events(
    body: bytes, encoding: Encoding, section: OtlpSection, own: OwnWords | None, secret: bytes
) -> _MaskedBatch:
    """Return the line of a request with log events, as mask_spans does; those of one trace masked together.

    Records that are no events of generative AI are not taken, and counted as rejected.
    """
    decoded = decode_logs(body, encoding)
    scopes = [scope for resource in decoded.batch.resource_logs for scope in resource.scope_logs]
    n_over = _limit([scope.log_records for scope in scopes], section.max_spans)
    cut: Counter[str] = Counter()
    traces: dict[object, list[_Place]] = defaultdict(list)
    sources = [*(each.resource for each in decoded.batch.resource_logs), *(scope.scope for scope in scopes)]
    for source in sources:
        if source is not None:
            traces[""] += _texts(source.attributes, secret)
    records = [record for scope in scopes for record in scope.log_records]
    for record in records:
        places = traces[record.trace_id or id(record)]
        places += _texts(record.attributes, secret)
        places += _texts([OtlpAttribute("body", record.body)], secret)
        places.append(("", record.severity_text, partial(setattr, record, "severity_text")))
        places.append(("", record.event_name, partial(setattr, record, "event_name")))
    _mask_places(traces.values(), section, own, cut)
    rejected = len(decoded.refused) + n_over + decoded.n_other
    message = _message("log record", decoded.refused, n_over, cut, section, decoded.n_other)
    receipt = SpanReceipt(spans=0, events=len(records), rejected=rejected, message=message)
    return _MaskedBatch(msgspec.json.encode(decoded.batch) if records else b"", receipt)


def _mask_places(
    traces: Iterable[Sequence["_Place"]], section: OtlpSection, own: OwnWords | None, cut: Counter[str]
) -> None:
    """Put masked texts, within their limit, in the places of each trace; count what was cut."""
    for places in traces:
        texts = [(name, _cut(name, text, section.max_attribute_kb * 1000, cut)) for name, text, _ in places]
        for (*_, put), text in zip(places, mask_fields(texts, own), strict=True):
            put(text)


_Place = tuple[str, str, Callable[[str], None]]
"""Under which name a text stands, the text, and what puts another in its place."""


def _texts(attributes: Sequence[OtlpAttribute], secret: bytes) -> Iterator[_Place]:
    """Yield where texts stand in attributes, and put digests in place of those that say who asked."""
    for field in attributes:
        if field.key in _PEOPLE and field.value is not None:
            plain = field.value.string_value if field.value.int_value is None else str(field.value.int_value)
            if plain != "":
                plain = msgspec.json.encode(field.value).decode() if plain is None else plain
                field.value = OtlpValue(string_value=digest_of(secret, plain, _PEOPLE[field.key]))
        else:
            for name, value in texts_in([field]):
                yield name, value.string_value or "", partial(setattr, value, "string_value")


def _places(span: OtlpSpan, secret: bytes) -> list[_Place]:
    """Return where texts stand in a span: all of it but its ids, its numbers and the names of attributes."""
    places = [*_texts(span.attributes, secret)]
    places.append(("", span.name, partial(setattr, span, "name")))
    if span.status is not None:
        places.append(("", span.status.message, partial(setattr, span.status, "message")))
    places += [("", event.name, partial(setattr, event, "name")) for event in span.events]
    more: list[OtlpEvent | OtlpLink] = [*span.events, *span.links]
    for part in more:
        places += _texts(part.attributes, secret)
    return places


def _limit(lists: Iterable[list[Any]], most: int) -> int:
    """Take away what is beyond so many in all lists together; return how many those were."""
    left, n_over = most, 0
    for listed in lists:
        n_over += len(listed[left:])
        del listed[left:]
        left -= len(listed)
    return n_over


def _cut(name: str, text: str, most: int, cut: Counter[str]) -> str:
    """Return a text, its beginning alone where it is too long."""
    if len(text) <= most:
        return text
    cut[name or "name"] += 1
    return f"{text[:most].rsplit(None, LAST_WORDS)[0]} [cut: {len(text):,} characters]"


def _message(
    noun: str, refused: Sequence[str], n_over: int, cut: Counter[str], section: OtlpSection, n_other: int = 0
) -> str:
    sentences = []
    if refused:
        sentences.append(f"{plural(len(refused), noun)} not accepted: {refused[0]}.")
    if n_other:
        sentences.append(f"{plural(n_other, noun)} not accepted: only events named gen_ai.… are kept here.")
    if n_over:
        sentences.append(
            f"{plural(n_over, noun)} not accepted: a request holds at most {section.max_spans:,}. Send "
            "smaller batches, or raise max_spans in [serve.otlp]."
        )
    if cut:
        names = ", ".join(list(cut)[:3])
        sentences.append(
            f"{plural(cut.total(), 'text')} cut to {section.max_attribute_kb:,} kB ({names}); raise "
            "max_attribute_kb in [serve.otlp] to keep more."
        )
    return " ".join(sentences)


_MASKED = {"traces": mask_spans, "logs": mask_events}
MOST_PROCESSES = 4
BUSY_REQUESTS = 256


class TraceCollector:
    """Takes requests of OTLP and writes their spans to `traces-*.jsonl` in a folder.

    Processes of its own decode and mask, for that takes longer than all else. problem: why nothing can be
    written, and what to do; None from the next request on that can.
    """

    def __init__(self, folder: Path, section: OtlpSection, secret: bytes) -> None:
        """Open the folder. secret: see mask_spans. Raises ConfigError for a wrong expression in `mask`."""
        self.folder, self.section, self._secret = folder, section, secret
        self._own = own_words(section.mask)
        self._appender = Appender(folder, TRACES, FILE_BYTES, daily=True)
        self._pool: ProcessPoolExecutor | None = None
        self._n_waiting = self._n_bytes = 0

    @property
    def problem(self) -> str | None:
        """Return why the folder cannot be written to."""
        return self._appender.problem

    @contextlib.contextmanager
    def room(self) -> Iterator[Callable[[int], bool]]:
        """Give what counts the bytes of one request, until the block ends: False where they are too many.

        All requests under way together may have twice the bytes of the largest.
        """
        most = 2 * self.section.max_request_mb * 1_000_000
        n_own = 0

        def add(n_bytes: int) -> bool:
            nonlocal n_own
            n_own += n_bytes
            self._n_bytes += n_bytes
            return self._n_bytes <= most and self._n_waiting <= BUSY_REQUESTS

        self._n_waiting += 1
        try:
            yield add
        finally:
            self._n_waiting -= 1
            self._n_bytes -= n_own

    async def take(self, body: bytes, encoding: Encoding, signal: Signal = "traces") -> SpanReceipt:
        """Write the spans or events of a request, masked; returns when they are on disk.

        Raises DataError for what is no OTLP, MissingExtra for protobuf without its package, OSError where
        nothing can be written, see `problem`.
        """
        if self._pool is None:
            n = min(MOST_PROCESSES, os.cpu_count() or 1)
            self._pool = ProcessPoolExecutor(n, get_context("spawn"), initializer=_end_with_parent)
        pool = self._pool
        try:
            masked = await asyncio.get_running_loop().run_in_executor(
                pool, _MASKED[signal], body, encoding, self.section, self._own, self._secret
            )
        except BrokenProcessPool:
            if self._pool is pool:  # somebody has killed a process: the next request begins others
                self._pool = None
            raise OSError("the process that masks spans was stopped") from None
        if masked.line:
            try:
                await self._appender.append(lambda: masked.line, datetime.now(UTC))
            except DataError as mistake:
                raise OSError(str(mistake)) from None
        return masked.receipt

    def close(self) -> None:
        """Write what waits, and close the file."""
        if self._pool is not None:
            self._pool.shutdown()
        self._appender.close()


def _end_with_parent() -> None:
    """Have this process end when the one that began it does, killed or not; Ctrl-C is the other's to hear."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


@checks_arguments
def store_spans(
    body: bytes,
    folder: Path | str = ".ragstone/traces",
    *,
    encoding: Encoding = "protobuf",
    signal: Literal["traces", "logs"] = "traces",
    mask: Sequence[str] = (),
) -> SpanReceipt:
    """Write the spans of a request of OTLP to a folder, masked, as `ragstone serve --otlp` does.

    signal: `logs` for a request with log events, of which those of generative AI are kept. mask: words that
    are masked besides personal data. Returns when they are on disk. Raises DataError for what is no OTLP and
    for a folder that cannot be written to, MissingExtra for protobuf without its package, ConfigError where
    `.ragstone`, which holds the key of digests, cannot be written to.
    """
    secret = load_secret(Path(".ragstone"))
    masked = _MASKED[signal](body, encoding, OtlpSection(), own_words(mask), secret)
    if masked.line:
        path = Path(folder) / f"{TRACES}-{datetime.now(UTC):%Y%m%d}.jsonl"
        with explaining(f"{path}: cannot be written", "Free some disk space, or check whose folder it is."):
            append_line(path, masked.line, mode=0o640)
    return masked.receipt
