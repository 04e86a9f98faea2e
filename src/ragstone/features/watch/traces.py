"""Stored spans -> the traces that they are of: the newest, and the tree of one with its times.

A file holds lines of OTLP JSON. Nothing of it is left out: a span without its parent, one that is its own
ancestor and one without a time have their places, and the tree says so.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from ragstone.features.watch.otlp import OtlpAttribute, OtlpSpan, OtlpValue, decode_stored
from ragstone.kernel.errors import DataError, explaining, plural
from ragstone.kernel.tables.interchange.values import question_in, seconds_at

_MARK = b'"resourceSpans"'
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
    """A trace in a list. started: seconds since 1970. asked: what stood in its top span, or in the first."""

    id: str
    name: str
    service: str
    started: float | None
    duration_s: float | None
    n_spans: int
    n_errors: int
    asked: str


class SpanRow(msgspec.Struct, frozen=True, kw_only=True):
    """A span in the tree of its trace, by its depth. begins, ends: shares of the time of the trace.

    kind: of OpenInference or of OpenTelemetry's conventions. error: why it failed. fields: all attributes.
    """

    id: str
    name: str
    depth: int
    service: str
    kind: str
    duration_s: float | None
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
    """Return whether a file begins with spans in OTLP JSON. Raises DataError where it cannot be read."""
    with explaining(f"{path}: cannot be read"), path.open("rb") as file:
        return _MARK in file.read(4096)


def trace_files(sources: Iterable[Path]) -> list[Path]:
    """Return the files of these folders and files that hold traces, the newest first; often none."""
    found = [
        path
        for source in sources
        for path in (source.glob("*.jsonl") if source.is_dir() else [source])
        if path.is_file()
    ]
    return sorted(found, key=lambda path: (path.stat().st_mtime, path.name), reverse=True)


def newest_traces(files: Sequence[Path], first: int, n: int) -> tuple[list[TraceSummary], bool]:
    """Return n traces behind the first ones, the newest first, and whether there are more.

    As many files are read as hold them. A trace whose spans stand in two files is told by the newer one's.
    Raises DataError for a file that cannot be read.
    """
    found: dict[str, TraceSummary] = {}
    for path in files:
        with explaining(f"{path}: cannot be read"):
            status = path.stat()
            for one in _summaries(path, status.st_size, status.st_mtime_ns):
                found.setdefault(one.id, one)
        if len(found) > first + n:
            break
    return list(found.values())[first : first + n], len(found) > first + n


@lru_cache(maxsize=8)
def _summaries(path: Path, _size: int, _changed: int) -> list[TraceSummary]:
    traces: dict[str, list[_Stored]] = defaultdict(list)
    for one in _spans_in(path):
        traces[one.span.trace_id].append(one)
    made = [_summary(spans) for spans in traces.values()]
    return sorted(made, key=lambda one: -(one.started or 0.0))


def find_trace(files: Sequence[Path], trace_id: str) -> TraceTree | None:
    """Return a trace, from the files that hold spans of it; None where none does. Raises DataError."""
    wanted = trace_id.lower()
    spans: list[_Stored] = []
    for path in files:
        here = [one for one in _spans_in(path, wanted.encode()) if one.span.trace_id.lower() == wanted]
        if spans and not here:
            break  # spans of one trace come within minutes, so files that are older have none
        spans += here
    return _tree(spans) if spans else None


def _spans_in(path: Path, needle: bytes = b"") -> Iterator[_Stored]:
    """Yield the spans of the lines that hold something; what is no OTLP is passed over."""
    with explaining(f"{path}: cannot be read"):
        content = path.read_bytes()
    lines = content.splitlines() if content.lstrip()[:1] == b"{" and content.find(b"\n{") > 0 else [content]
    for line in lines:
        if needle and needle not in line.lower():
            continue
        try:
            batch, _ = decode_stored(line)
        except DataError:
            continue
        for resource in batch.resource_spans:
            named = dict(_fields(resource.resource.attributes)) if resource.resource else {}
            for scope in resource.scope_spans:
                for span in scope.spans:
                    began, ended = seconds_at(span.start_time_unix_nano), seconds_at(span.end_time_unix_nano)
                    yield _Stored(span, named.get("service.name", ""), began, ended)


def _summary(spans: Sequence[_Stored]) -> TraceSummary:
    ids = {one.span.span_id for one in spans}
    tops = [one for one in spans if one.span.parent_span_id not in ids] or spans
    top = min(tops, key=_order)
    asked = next((text for one in (top, *sorted(spans, key=_order)) if (text := _first(one, _INPUTS))), "")
    began = [one.began for one in spans if one.began is not None]
    ended = [one.ended for one in spans if one.ended is not None]
    return TraceSummary(
        id=top.span.trace_id,
        name=top.span.name,
        service=top.service,
        started=min(began, default=None),
        duration_s=max(0.0, max(ended) - min(began)) if began and ended else None,
        n_spans=len(ids),
        n_errors=sum(_failed(one.span) for one in {one.span.span_id: one for one in spans}.values()),
        asked=question_in(asked) or asked,
    )


def _order(one: _Stored) -> tuple[bool, float, str]:
    return one.began is None, one.began or 0.0, one.span.span_id


def _tree(stored: Sequence[_Stored]) -> TraceTree:
    spans = {one.span.span_id: one for one in sorted(stored, key=_order)}
    children: dict[str, list[str]] = defaultdict(list)
    for name, one in spans.items():
        children[one.span.parent_span_id if one.span.parent_span_id in spans else ""].append(name)
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
            rows.append(_row(spans[name], depth, summary))
            waiting += [(child, depth + 1) for child in reversed(children.get(name, ()))]


def _notes(stored: Sequence[_Stored], spans: Mapping[str, _Stored], n_looped: int) -> list[str]:
    values = list(spans.values())
    counts = {
        "{} sent more than once: the last of each is shown.": sum(
            n > 1 for n in Counter(one.span.span_id for one in stored).values()
        ),
        "{} with a parent that is not here: shown at the top.": sum(
            bool(one.span.parent_span_id) and one.span.parent_span_id not in spans for one in values
        ),
        "{} in a circle of parents: shown at the top, from the first on.": n_looped,
        "{} without a beginning or an end: shown without a bar.": sum(one.seconds is None for one in values),
        "{} with an end before the beginning: shown without a length.": sum(
            one.seconds is not None and (one.ended or 0) < (one.began or 0) for one in values
        ),
    }
    notes = [words.format(plural(n, "span")) for words, n in counts.items() if n]
    if all(one.span.parent_span_id for one in values) and not notes:
        notes.append("No span is the top of the trace.")
    return notes


def _row(one: _Stored, depth: int, summary: TraceSummary) -> SpanRow:
    span, begins, ends = one.span, None, None
    if one.began is not None and one.ended is not None and summary.started is not None:
        whole = summary.duration_s or 1.0
        begins = min(1.0, (one.began - summary.started) / whole)
        ends = min(1.0, max(begins, (one.ended - summary.started) / whole))
    return SpanRow(
        id=span.span_id,
        name=span.name,
        depth=depth,
        service=one.service,
        kind=_first(one, _KINDS),
        duration_s=one.seconds,
        begins=begins,
        ends=ends,
        given=_first(one, _INPUTS),
        result=_first(one, _OUTPUTS),
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
    said = span.status.message if span.status else ""
    return said or next(filter(None, thrown), "the span failed, and does not say why")


def _first(one: _Stored, names: Sequence[str]) -> str:
    found = {field.key: field.value for field in one.span.attributes if field.key in names}
    return next((text for name in names if name in found and (text := _text(found[name]))), "")


def _fields(attributes: Iterable[OtlpAttribute]) -> Iterator[tuple[str, str]]:
    for one in attributes:
        yield one.key, _text(one.value)


def _text(value: OtlpValue | None) -> str:
    """Return a value as it is read: a text as it is, anything else in JSON."""
    plain = _plain(value)
    return plain if isinstance(plain, str) else "" if plain is None else msgspec.json.encode(plain).decode()


def _plain(value: OtlpValue | None) -> object:
    if value is None:
        return None
    if value.array_value is not None:
        return [_plain(one) for one in value.array_value.values]
    if value.kvlist_value is not None:
        return {one.key: _plain(one.value) for one in value.kvlist_value.values}
    simple = (value.string_value, value.bool_value, value.int_value, value.double_value)
    return next((one for one in simple if one is not None), None)
