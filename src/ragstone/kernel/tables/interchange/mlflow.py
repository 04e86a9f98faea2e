"""Traces of MLflow (3.17) and the assessments on them -> rows of an answer sheet, and verdicts.

Read are `Trace.to_json`, rows of `search_traces` (JSON, CSV, Parquet) with their columns `trace`, `spans` and
`assessments`, and assessments in rows of their own (`Assessment.to_dictionary`).
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.tables.columns import as_list
from ragstone.kernel.tables.interchange._messages import answered_in, asked_in, calls_of, messages_of
from ragstone.kernel.tables.interchange.assessments import Assessment
from ragstone.kernel.tables.interchange.placing import AnsweredSpans, SpanVerdict
from ragstone.kernel.tables.interchange.trace_steps import Kind, TraceStep
from ragstone.kernel.tables.interchange.traces import answers_of, tool_call
from ragstone.kernel.tables.interchange.values import (
    contexts_in,
    count_in,
    decoded,
    fields_in,
    id_in,
    notes_in,
    objects_in,
    scalar_in,
    seconds_at,
    seconds_between,
)

Numbered = tuple[int, Any]

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("LLM", "CHAT_MODEL"), "model"),
    "RETRIEVER": "retriever",
    "RERANKER": "reranker",
    "EMBEDDING": "embedding",
    "TOOL": "tool",
}
_ID_BYTES = (8, 16)


def read_mlflow(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield an answer for each trace, see traces.answers_of; what is no object as it is."""
    steps: list[TraceStep] = []
    for number, raw in rows:
        if isinstance(raw, dict):
            steps += _steps(number, raw)
        else:
            yield number, raw
    yield from answers_of(steps, where)


def read_assessments(rows: Iterable[Numbered], _where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each feedback on a trace. An expectation is a reference, and no verdict."""
    steps: list[TraceStep] = []
    verdicts: list[SpanVerdict] = []
    for number, raw in rows:
        if "assessment_name" in raw:
            verdicts += _verdict(number, raw, None)
            continue
        steps += _steps(number, raw)
        info = _info(raw)
        listed = objects_in(as_list(decoded(raw.get("assessments", info.get("assessments")) or [])))
        for one in listed:
            verdicts += _verdict(number, one, id_in(info.get("trace_id", info.get("request_id"))))
    for assessment in AnsweredSpans(steps).placed(verdicts):
        yield assessment.number, assessment


def _info(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what is known of a trace as a whole, from itself or from a row of a table."""
    inside = fields_in(decoded(raw.get("trace")))
    return fields_in(raw.get("info")) or {**raw, **fields_in(inside.get("info"))}


def _steps(number: int, raw: Mapping[str, Any]) -> Iterator[TraceStep]:
    """Yield the spans of a trace; where it comes without them, the trace itself."""
    info = _info(raw)
    trace = id_in(info.get("trace_id", info.get("request_id")))
    data = fields_in(raw.get("data")) or fields_in(fields_in(decoded(raw.get("trace"))).get("data"))
    spans = objects_in(decoded(data.get("spans", raw.get("spans"))))
    if not spans:
        given = info.get("request", data.get("request", info.get("request_preview")))
        made = info.get("response", data.get("response", info.get("response_preview")))
        yield TraceStep(
            number=number,
            trace=trace,
            kind="trace",
            asked=asked_in(given, messages_of(given)),
            answered=answered_in(made, messages_of(made)),
            started=seconds_at(info.get("request_time")),
        )
        return
    for span in spans:
        yield _step(number, span, trace)


def _step(number: int, span: Mapping[str, Any], trace: str | None) -> TraceStep:
    attributes = {name: decoded(value) for name, value in fields_in(span.get("attributes")).items()}
    kind = _KINDS.get(str(attributes.get("mlflow.spanType")), "other")
    given, made = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    begun = seconds_at(span.get("start_time_unix_nano", span.get("start_time")))
    seconds = seconds_between(begun, seconds_at(span.get("end_time_unix_nano", span.get("end_time"))))
    status = fields_in(span.get("status"))
    failed = "ERROR" in str(status.get("code", span.get("status_code"))).upper()
    error = (id_in(status.get("message")) or "the span failed, and does not say why") if failed else None
    sent, replies = ([] if kind == "tool" else messages_of(side) for side in (given, made))
    usage = fields_in(attributes.get("mlflow.chat.tokenUsage"))
    n_in, n_out = count_in(usage, ["input_tokens"]), count_in(usage, ["output_tokens"])
    is_tool = kind == "tool"
    call = {"tool": span.get("name"), "id": None, "arguments": given, "result": made}
    return TraceStep(
        number=number,
        trace=trace,
        id=_hex(span.get("span_id")),
        parent=_hex(span.get("parent_span_id", span.get("parent_id"))),
        name=id_in(span.get("name")),
        kind=kind,
        asked=None if is_tool else asked_in(given, sent),
        answered=None if is_tool else answered_in(made, replies),
        call=tool_call(call, error=error, seconds=seconds) if is_tool else None,
        calls=calls_of(sent if kind == "model" else replies),
        chosen=calls_of(replies) if kind == "model" else (),
        contexts=(contexts_in(made) or []) if kind == "retriever" else None,
        started=begun,
        latency_s=seconds,
        tokens=(n_in or 0, n_out or 0, 0) if kind == "model" and (n_in or n_out) else None,
        model=model if isinstance(model := attributes.get("mlflow.llm.model"), str) else None,
        error=error,
    )


def _hex(value: object) -> str | None:
    """Return the id of a span, which a trace in JSON has in Base64, as the interface shows it."""
    name = id_in(value)
    if name is None or not name.endswith("="):
        return name
    try:
        raw = base64.b64decode(name, validate=True)
    except (binascii.Error, ValueError):
        return name
    return raw.hex() if len(raw) in _ID_BYTES else name


def _verdict(number: int, raw: Mapping[str, Any], trace: str | None) -> Iterator[SpanVerdict]:
    feedback = raw.get("feedback")
    if not isinstance(feedback, Mapping):
        if "expectation" in raw:
            return
        feedback = raw
    source = fields_in(raw.get("source"))
    kind, by = str(source.get("source_type")).upper(), id_in(source.get("source_id"))
    by = None if by == "default" else by
    error = fields_in(feedback.get("error", raw.get("error")))
    code = id_in(error.get("error_code"))
    metadata = fields_in(decoded(raw.get("metadata")))
    is_model = by is not None and ":/" in by
    is_person = kind == "HUMAN"
    model = NO_MODEL if kind == "CODE" else by if is_model else None
    yield SpanVerdict(
        trace=id_in(raw.get("trace_id")) or trace,
        span=_hex(raw.get("span_id")),
        assessment=Assessment(
            number=number,
            tool="MLflow",
            name=id_in(raw.get("assessment_name", raw.get("name"))) or "feedback",
            value=scalar_in(feedback.get("value")),
            rationale=id_in(raw.get("rationale")),
            error=id_in(error.get("error_message")) or code,
            error_type=code,
            by="person" if is_person else "evaluator",
            annotator=by if is_person else None,
            source=None if is_person or is_model else by,
            model=None if is_person else model,
            at=seconds_at(raw.get("last_update_time") or raw.get("create_time")),
            id=id_in(raw.get("assessment_id")),
            notes={
                **notes_in(metadata),
                "source_type": kind,
                **({} if raw.get("valid", True) else {"valid": False}),
            },
        ),
    )
