"""Spans after the conventions of OpenInference, as Phoenix exports them (its client 3.5, conventions 0.1).

Three shapes: the data frame of `get_spans_dataframe` (columns `context.trace_id`, `attributes.input.value`),
the spans of `get_spans` and Phoenix's REST interface (objects with `context` and `attributes`), and OTLP JSON
(`resourceSpans`), which any collector of OpenTelemetry writes.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.tables.columns import as_list
from ragstone.tables.interchange.traces import Kind, TraceStep, answers_of
from ragstone.tables.interchange.values import (
    amount_in,
    answer_in,
    context_in,
    count_in,
    decoded,
    fields_in,
    notes_in,
    objects_in,
    question_in,
    seconds_at,
)

_KINDS: Mapping[str, Kind] = {
    "LLM": "model",
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "EMBEDDING": "embedding",
}
_DOCUMENTS = {"retriever": ("retrieval", "documents"), "reranker": ("reranker", "output_documents")}


def read_openinference(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each trace, see traces.answers_of; what is no object as it is."""
    steps: list[TraceStep] = []
    for number, raw in rows:
        if isinstance(raw, dict):
            steps += [_step(number, span) for span in _spans(raw)]
        else:
            yield number, raw
    yield from answers_of(steps, where)


def _spans(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield spans in one shape: the fields of Phoenix, with `trace_id` and `attributes` in objects."""
    if "resourceSpans" in raw or "scopeSpans" in raw:
        yield from _otlp(raw)
        return
    ids = fields_in(raw.get("context"))
    flat = {name[11:]: value for name, value in raw.items() if name.startswith("attributes.")}
    given = fields_in(decoded(raw.get("attributes")))
    yield {
        **raw,
        "trace_id": ids.get("trace_id", raw.get("context.trace_id")),
        "span_id": ids.get("span_id", raw.get("context.span_id")),
        "attributes": nested({**given, **flat}),
    }


def _otlp(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in objects_in(raw.get("resourceSpans")) or [raw]:
        for scope in objects_in(resource.get("scopeSpans")):
            for span in objects_in(scope.get("spans")):
                status = fields_in(span.get("status"))
                events = [_attributes(event.get("attributes")) for event in objects_in(span.get("events"))]
                thrown = (event.get("exception.message") for event in events)
                yield {
                    "trace_id": span.get("traceId"),
                    "span_id": span.get("spanId"),
                    "parent_id": span.get("parentSpanId") or None,
                    "start_time": span.get("startTimeUnixNano"),
                    "end_time": span.get("endTimeUnixNano"),
                    "status_code": "ERROR" if str(status.get("code")) in ("2", "STATUS_CODE_ERROR") else "OK",
                    "status_message": status.get("message") or next((text for text in thrown if text), None),
                    "attributes": nested(_attributes(span.get("attributes"))),
                }


def _attributes(listed: object) -> dict[str, Any]:
    """Return the attributes of OTLP, which are a list of keys and typed values."""
    return {str(one["key"]): _value(one.get("value")) for one in objects_in(listed) if "key" in one}


def _value(typed: object) -> Any:
    fields = fields_in(typed)
    if "arrayValue" in fields:
        return [_value(one) for one in objects_in(fields_in(fields["arrayValue"]).get("values"))]
    if "kvlistValue" in fields:
        return _attributes(fields_in(fields["kvlistValue"]).get("values"))
    return next(iter(fields.values()), None)


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Return attributes as objects in objects: `a.b.0.c` is c of the first of the list b of a.

    Of a name that is both a value and the beginning of others, what comes first stays.
    """
    tree: dict[str, Any] = {}
    for name, value in flat.items():
        if value is None or value != value:
            continue
        *parts, last = str(name).split(".")
        here = tree
        for part in parts:
            deeper = here.setdefault(part, {})
            here = deeper if isinstance(deeper, dict) else {}
        here.setdefault(last, nested(value) if isinstance(value, Mapping) else value)
    return {name: _listed(value) for name, value in tree.items()}


def _listed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    inside = {name: _listed(one) for name, one in value.items()}
    if inside and all(name.isdigit() for name in inside):
        return [inside[name] for name in sorted(inside, key=int)]
    return inside


def _at(attributes: Mapping[str, Any], *path: str) -> Any:
    here: Any = attributes
    for part in path:
        here = here.get(part) if isinstance(here, Mapping) else None
    return here


def _step(number: int, span: Mapping[str, Any]) -> TraceStep:
    attributes = span["attributes"]
    kind = _KINDS.get(
        str(_at(attributes, "openinference", "span", "kind") or span.get("span_kind") or "").upper(), "other"
    )
    begun, ended = seconds_at(span.get("start_time")), seconds_at(span.get("end_time"))
    failed = str(span.get("status_code")).upper().endswith("ERROR")
    model = _at(attributes, "llm", "model_name")
    return TraceStep(
        number=number,
        trace=_id(span.get("trace_id")),
        id=_id(span.get("span_id")),
        parent=_id(span.get("parent_id")),
        kind=kind,
        asked=_said(attributes, "input", question_in),
        answered=_said(attributes, "output", answer_in),
        contexts=_documents(attributes, kind),
        started=begun,
        latency_s=None if begun is None or ended is None else max(0.0, round(ended - begun, 6)),
        tokens=_tokens(_at(attributes, "llm", "token_count")),
        cost_usd=amount_in(_at(attributes, "llm", "cost", "total")),
        model=model if isinstance(model, str) else None,
        error=str(span.get("status_message") or "the span failed, and does not say why") if failed else None,
        notes=_notes(attributes),
    )


def _notes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata and the tags that a span was given, and the version of its prompt."""
    version = _at(attributes, "llm", "prompt_template", "version")
    given = {"prompt_version": version} if isinstance(version, str | int | float) else {}
    return {**notes_in(_at(attributes, "tag", "tags")), **notes_in(attributes.get("metadata")), **given}


def _id(value: object) -> str | None:
    return str(value) if value else None


def _said(attributes: Mapping[str, Any], side: str, read: Any) -> str | None:
    """Return what a span was asked or answered: the messages of a model's call, else the side's value."""
    messages = _at(attributes, "llm", f"{side}_messages")
    if messages is not None:
        plain = [_message(one) for one in as_list(messages)]
        found: str | None = read(plain)
        if found:
            return found
    value = _at(attributes, side, "value")
    return None if value is None else read(value)


def _message(given: object) -> object:
    """Return a message without the prefix that OpenInference gives its fields."""
    if not isinstance(given, Mapping):
        return given
    inner = given.get("message", given)
    if not isinstance(inner, Mapping):
        return given
    return {str(name).removeprefix("message."): value for name, value in inner.items()}


def _documents(attributes: Mapping[str, Any], kind: Kind) -> list[dict[str, Any]] | None:
    if kind not in _DOCUMENTS:
        return None
    listed = _at(attributes, *_DOCUMENTS[kind])
    return [] if listed is None else [one for item in as_list(listed) if (one := context_in(item))]


def _tokens(counts: object) -> tuple[int, int, int] | None:
    if not isinstance(counts, Mapping):
        return None
    given, made = count_in(counts, ["prompt"]), count_in(counts, ["completion"])
    details = counts.get("prompt_details")
    cached = count_in(details, ["cache_read"]) if isinstance(details, Mapping) else None
    return None if given is None and made is None else (given or 0, made or 0, cached or 0)
