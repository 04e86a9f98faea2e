"""Lines of stored spans -> the tree of a trace with its times.

A file holds lines of OTLP JSON. Nothing of it is left out: a span without its parent, one that is its own
ancestor and one without a time have their places, and the tree says so.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.watch.otlp import OtlpAttribute, OtlpSpan, OtlpValue
from ragstone.features.watch.otlp_decoding import decode_stored
from ragstone.kernel.errors import DataError, explaining, plural
from ragstone.kernel.tables.interchange.values import seconds_at

_MARKS = (b'"resourceSpans"', b'"resourceLogs"')  # events stand among the spans that were sent
_ERROR = (2, "STATUS_CODE_ERROR")
_INPUTS = (
    "input.value",
    "tool.parameters",
    "gen_ai.tool.call.arguments",
    "gen_ai.input.messages",
    "gen_ai.prompt",
)
_OUTPUTS = ("output.value", "gen_ai.tool.call.result", "gen_ai.output.messages", "gen_ai.completion")
_KINDS = ("openinference.span.kind", "gen_ai.operation.name")


class TraceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A trace as a whole. started: seconds since 1970. service: of its top span, or of the first."""

    id: str
    name: str
    service: str
    started: float | None
    duration_s: float | None
    n_spans: int
    n_errors: int


class SpanRow(msgspec.Struct, frozen=True, kw_only=True):
    """A span in the tree of its trace, by its depth. begins, ends: shares of the time of the trace.

    kind: of OpenInference or of OpenTelemetry's conventions. self_s: seconds in which no child of it went on.
    error: why it failed. fields: all attributes.
    """

    id: str
    name: str
    depth: int
    service: str
    kind: str
    duration_s: float | None
    self_s: float | None
    begins: float | None
    ends: float | None
    given: str
    result: str
    error: str
    fields: list[tuple[str, str]]


class TraceTree(msgspec.Struct, frozen=True, kw_only=True):
    """The spans of a trace, each behind its parent. notes: what is wrong with it, a sentence each."""

    summary: TraceSummary
    rows: list[SpanRow]
    notes: list[str]


class _Stored(msgspec.Struct, frozen=True):
    span: OtlpSpan
    service: str
    began: float | None
    ended: float | None

    @property
    def seconds(self) -> float | None:
        return None if self.began is None or self.ended is None else max(0.0, self.ended - self.began)


def is_trace_file(path: Path) -> bool:
    """Return whether a file begins with spans or events of OTLP. Raises DataError where it cannot be read."""
    with explaining(f"{path}: cannot be read"), path.open("rb") as file:
        head = file.read(4096)
        return any(mark in head for mark in _MARKS)


def trace_files(sources: Iterable[Path]) -> list[Path]:
    """Return the files of these folders and files that hold traces, the newest first; often none."""
    files = [
        path
        for source in sources
        for path in (source.glob("*.jsonl") if source.is_dir() else [source])
        if path.is_file()
    ]
    return sorted(files, key=lambda path: (path.stat().st_mtime, path.name), reverse=True)


def find_trace(lines: Iterable[bytes], trace_id: str) -> TraceTree | None:
    """Return a trace, of lines that may hold spans of it and of others; None where none does."""
    wanted = trace_id.lower()
    spans = [stored for line in lines for stored in _spans_in(line) if stored.span.trace_id.lower() == wanted]
    return _tree(spans) if spans else None


def _spans_in(line: bytes) -> Iterator[_Stored]:
    """Yield the spans of a line; none of what is no OTLP."""
    try:
        batch, _ = decode_stored(line)
    except DataError:
        return
    for resource in batch.resource_spans:
        named = dict(_fields(resource.resource.attributes)) if resource.resource else {}
        for scope in resource.scope_spans:
            for span in scope.spans:
                began, ended = seconds_at(span.start_time_unix_nano), seconds_at(span.end_time_unix_nano)
                yield _Stored(span, named.get("service.name", ""), began, ended)


def _summary(spans: Sequence[_Stored]) -> TraceSummary:
    ids = {stored.span.span_id for stored in spans}
    tops = [stored for stored in spans if stored.span.parent_span_id not in ids] or spans
    top = min(tops, key=_order)
    began = [stored.began for stored in spans if stored.began is not None]
    ended = [stored.ended for stored in spans if stored.ended is not None]
    return TraceSummary(
        id=top.span.trace_id,
        name=top.span.name,
        service=top.service,
        started=min(began, default=None),
        duration_s=max(0.0, max(ended) - min(began)) if began and ended else None,
        n_spans=len(ids),
        n_errors=sum(
            _failed(stored.span) for stored in {stored.span.span_id: stored for stored in spans}.values()
        ),
    )


def _order(stored: _Stored) -> tuple[bool, float, str]:
    return stored.began is None, stored.began or 0.0, stored.span.span_id


def _tree(stored: Sequence[_Stored]) -> TraceTree:
    spans = {item.span.span_id: item for item in sorted(stored, key=_order)}
    children: dict[str, list[str]] = defaultdict(list)
    for name, item in spans.items():
        children[item.span.parent_span_id if item.span.parent_span_id in spans else ""].append(name)
    rows: list[SpanRow] = []
    summary = _summary(list(spans.values()))
    seen: set[str] = set()
    _add(children[""], spans, children, summary, seen, rows)
    looped = [name for name in spans if name not in seen]
    for name in looped:
        _add([name], spans, children, summary, seen, rows)
    return TraceTree(summary=summary, rows=rows, notes=_notes(stored, spans, len(looped)))


def _add(
    names: Sequence[str],
    spans: Mapping[str, _Stored],
    children: Mapping[str, Sequence[str]],
    summary: TraceSummary,
    seen: set[str],
    rows: list[SpanRow],
) -> None:
    """Add the rows of spans and of all below them, none of which was seen before."""
    waiting = [(name, 0) for name in reversed(names)]
    while waiting:
        name, depth = waiting.pop()
        if name not in seen:
            seen.add(name)
            below = [spans[child] for child in children.get(name, ()) if child != name]
            rows.append(_row(spans[name], depth, summary, below))
            waiting += [(child, depth + 1) for child in reversed(children.get(name, ()))]


def _notes(stored: Sequence[_Stored], spans: Mapping[str, _Stored], n_looped: int) -> list[str]:
    values = list(spans.values())
    counts = {
        "{} sent more than once: the last of each is shown.": sum(
            n > 1 for n in Counter(item.span.span_id for item in stored).values()
        ),
        "{} with a parent that is not here: shown at the top.": sum(
            bool(item.span.parent_span_id) and item.span.parent_span_id not in spans for item in values
        ),
        "{} in a circle of parents: shown at the top, from the first on.": n_looped,
        "{} without a beginning or an end: shown without a bar.": sum(
            item.seconds is None for item in values
        ),
        "{} with an end before the beginning: shown without a length.": sum(
            item.seconds is not None and (item.ended or 0) < (item.began or 0) for item in values
        ),
    }
    notes = [sentence.format(plural(n, "span")) for sentence, n in counts.items() if n]
    if all(item.span.parent_span_id for item in values) and not notes:
        notes.append("No span is the top of the trace.")
    return notes


def _self_seconds(stored: _Stored, children: Iterable[_Stored]) -> float | None:
    """Return how long a span took without what its children cover of it; they may overlap, and outlast it."""
    if stored.began is None or stored.ended is None:
        return None
    covered, reached = 0.0, stored.began
    times = [
        (each.began, each.ended) for each in children if each.began is not None and each.ended is not None
    ]
    for began, ended in sorted(times):
        begins, ends = max(began, reached), min(ended, stored.ended)
        if ends > begins:
            covered += ends - begins
            reached = ends
    return max(0.0, stored.ended - stored.began - covered)


def _row(stored: _Stored, depth: int, summary: TraceSummary, children: Sequence[_Stored]) -> SpanRow:
    span, begins, ends = stored.span, None, None
    if stored.began is not None and stored.ended is not None and summary.started is not None:
        whole = summary.duration_s or 1.0
        begins = min(1.0, (stored.began - summary.started) / whole)
        ends = min(1.0, max(begins, (stored.ended - summary.started) / whole))
    return SpanRow(
        id=span.span_id,
        name=span.name,
        depth=depth,
        service=stored.service,
        kind=_first(stored, _KINDS),
        duration_s=stored.seconds,
        self_s=_self_seconds(stored, children),
        begins=begins,
        ends=ends,
        given=_first(stored, _INPUTS),
        result=_first(stored, _OUTPUTS),
        error=_error(span),
        fields=list(_fields(span.attributes)),
    )


def _failed(span: OtlpSpan) -> bool:
    return span.status is not None and span.status.code in _ERROR


def _error(span: OtlpSpan) -> str:
    """Return why a span failed: what its status says, else its exception."""
    if not _failed(span):
        return ""
    thrown = (dict(_fields(event.attributes)).get("exception.message", "") for event in span.events)
    message = span.status.message if span.status else ""
    return message or next(filter(None, thrown), "the span failed, and does not say why")


def _first(stored: _Stored, names: Sequence[str]) -> str:
    values = {field.key: field.value for field in stored.span.attributes if field.key in names}
    return next((text for name in names if name in values and (text := _text(values[name]))), "")


def _fields(attributes: Iterable[OtlpAttribute]) -> Iterator[tuple[str, str]]:
    for field in attributes:
        yield field.key, _text(field.value)


def _text(value: OtlpValue | None) -> str:
    """Return a value as it is read: a text as it is, anything else in JSON."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else "" if plain is None else msgspec.json.encode(plain).decode()


def _plain(value: OtlpValue | None) -> object:
    if value is None:
        return None
    if value.array_value is not None:
        return [_plain(item) for item in value.array_value.values]
    if value.kvlist_value is not None:
        return {item.key: _plain(item.value) for item in value.kvlist_value.values}
    simple = (value.string_value, value.bool_value, value.int_value, value.double_value)
    return next((item for item in simple if item is not None), None)
