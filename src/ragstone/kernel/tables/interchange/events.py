"""Verdicts in traces: events of OpenTelemetry, `EVALUATOR` spans of OpenInference, annotations of Phoenix.

`gen_ai.evaluation.result` after the conventions for generative AI 0.1, as a record of a log (OTLP JSON, or as
the Python SDK 1.45 prints it) or as an event of a span, with what pydantic_evals 2.62 and Azure AI evaluation
1.18 add to it. `EVALUATOR` spans as phoenix-evals 3.9 and the Phoenix client 3.5 write them; annotations of
spans and traces as that client returns them, rows or data frame; columns `eval.NAME.score` beside spans.
Spans in the same file tell which answer a verdict is on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.tables.interchange.assessments import Assessment, answered_in
from ragstone.kernel.tables.interchange.openinference import (
    EVALUATION,
    log_events_in,
    spans_in,
    step_in,
)
from ragstone.kernel.tables.interchange.placing import AnsweredSpans, SpanVerdict
from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.values import (
    decoded,
    fields_in,
    id_in,
    number_in,
    scalar_in,
    seconds_at,
    written,
)

Numbered = tuple[int, Any]
Span = Mapping[str, Any]

_EVENT = "gen_ai.evaluation."
_NAME = f"{_EVENT}name"
_KNOWN = {
    _NAME,
    *(f"{_EVENT}{name}" for name in ("score.value", "score.label", "explanation")),
    *(f"{_EVENT}evaluator.{name}" for name in ("source", "version")),
    *("error.type", "internal_properties", "event.name", "gen_ai.response.id"),
}
_LEFT_OUT = {"microsoft.custom_event.name", "http.client_ip"}
_KINDS: Mapping[str, str | None] = {"CODE": NO_MODEL, "HEURISTIC": NO_MODEL}


def read_events(rows: Iterable[Numbered], _where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each verdict; what is no object, or too deep, as an error."""
    steps: list[TraceStep] = []
    verdicts: list[SpanVerdict] = []
    evaluators: list[tuple[int, dict[str, Any]]] = []
    for number, raw in rows:
        try:
            if "annotator_kind" in raw:
                verdicts.append(_annotation(number, raw))
                continue
            if raw.keys() & {"resourceLogs", "scopeLogs", "event_name"}:
                verdicts += _records(number, raw)
            for span in spans_in(raw) if "event_name" not in raw else ():
                if span.keys() & {"evaluation", "problem"}:  # made of an evaluation, which is read whole here
                    continue
                steps.append(step_in(number, span))
                verdicts += _on_span(number, span)
                kind = _attribute(span, "openinference.span.kind") or span.get("span_kind")
                if str(kind).upper() == "EVALUATOR":
                    evaluators.append((number, span))
        except RecursionError:
            yield number, ValueError("it has attributes that are nested too deeply.")
    models = _below_evaluators(steps, [span for _, span in evaluators])
    for number, span in evaluators:
        verdicts += _evaluator_span(number, span, models)
    placed = [*AnsweredSpans(steps).placed(verdicts)]
    yield from ((one.number, one) for one in placed if one.row is None)
    ours = sorted((one for one in placed if one.row is not None), key=lambda one: one.at or 0.0)
    yield from ((one.number, _placed_row(one)) for one in ours)


def _on_span(number: int, span: Span) -> list[SpanVerdict]:
    """Return the verdicts that a span holds: in events, and in columns of its row."""
    events = [
        _event(number, attributes, span.get("trace_id"), span.get("span_id"), at)
        for name, attributes, at in span.get("told", ())
        if _is_evaluation(name, attributes)
    ]
    return [*events, *_columns(number, span)]


def _records(number: int, raw: Mapping[str, Any]) -> Iterator[SpanVerdict]:
    """Yield the verdicts of OTLP logs, or of one record as the SDK prints it."""
    if "event_name" in raw:
        attributes = {**fields_in(decoded(raw.get("body"))), **fields_in(raw.get("attributes"))}
        if _is_evaluation(raw.get("event_name"), attributes):
            yield _event(number, attributes, raw.get("trace_id"), raw.get("span_id"), raw.get("timestamp"))
        return
    for event in log_events_in(raw):
        attributes = {**event.body, **event.attributes}
        if _is_evaluation(event.name, attributes):
            yield _event(number, attributes, event.trace, event.span, event.at)


def _is_evaluation(name: object, attributes: Mapping[str, Any]) -> bool:
    return EVALUATION in (name, attributes.get("event.name")) or _NAME in attributes


def _event(
    number: int, attributes: Mapping[str, Any], trace: object, span: object, at: object
) -> SpanVerdict:
    """Return the verdict of one event. internal_properties: where Azure keeps what the conventions lack."""
    more = fields_in(decoded(attributes.get("internal_properties")))
    source = attributes.get(f"{_EVENT}evaluator.source")
    spec = fields_in(decoded(source))
    version = attributes.get(f"{_EVENT}evaluator.version", more.get("gen_ai.evaluator.version"))
    model = fields_in(spec.get("arguments")).get("model")
    explanation = _text(attributes.get(f"{_EVENT}explanation"))
    failed = _text(attributes.get("error.type"))
    low, high = (number_in(more.get(f"{_EVENT}{end}_value")) for end in ("min", "max"))
    response = _text(attributes.get("gen_ai.response.id"))
    notes = {
        name.removeprefix(_EVENT): value
        for name, value in {**attributes, **more}.items()
        if name not in _KNOWN | _LEFT_OUT and isinstance(value, str | int | float | bool)
    }
    return SpanVerdict(
        trace=_hex(trace),
        span=_hex(span),
        assessment=Assessment(
            number=number,
            tool="OpenTelemetry",
            name=_text(attributes.get(_NAME)) or "evaluation",
            value=scalar_in(attributes.get(f"{_EVENT}score.value")),
            label=_text(attributes.get(f"{_EVENT}score.label")),
            rationale=None if failed else explanation,
            error=(explanation or failed) if failed else None,
            error_type=failed,
            version=version if isinstance(version, str | int) else None,
            source=written(source),
            model=model if isinstance(model, str) else None,
            scale=(low, high) if low is not None and high is not None and low < high else None,
            threshold=number_in(more.get(f"{_EVENT}threshold")),
            ids={} if response is None else {"response_id": response},
            at=seconds_at(at),
            notes=notes,
            row=_own_row(attributes, spec) if "ragstone.status" in attributes else None,
        ),
    )


_NOT_DONE = {"timeout", "rate_limited", "over_budget", "app_error", "error"}


def _own_row(attributes: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a judgement that Ragstone sent, as features/export/otlp.py writes them."""
    status = attributes["ragstone.status"]
    ends = [number_in(attributes.get(f"ragstone.score.{end}")) for end in ("min", "max")]
    version = attributes.get(f"{_EVENT}evaluator.version")
    number = number_in(attributes.get("ragstone.prompt_version", version))
    row = {
        "question_id": attributes.get("ragstone.question_id"),
        "system": attributes.get(f"{_EVENT}target"),
        "judge": source.get("name"),
        "metric": attributes.get(_NAME),
        "status": status,
        "score": number_in(attributes.get(f"{_EVENT}score.value")),
        "scale": None if None in ends else ends,
        "label": attributes.get(f"{_EVENT}score.label"),
        "error" if status in _NOT_DONE else "rationale": attributes.get(f"{_EVENT}explanation"),
        "model": fields_in(source.get("arguments")).get("model"),
        "prompt_version": 0 if number is None else int(number),
        "metadata": None if version is None else {"evaluator_version": version},
    }
    return {name: value for name, value in row.items() if value is not None}


def _placed_row(one: Assessment) -> dict[str, Any]:
    """Return a judgement that Ragstone sent; on a span whose answer is here, with its id and system."""
    placed = {"question_id": one.subject, "system": one.system} if one.question else {}
    row = {**(one.row or {}), **{name: value for name, value in placed.items() if value}}
    return row | {"metadata": {**row.get("metadata", {}), **one.ids}}


def _attribute(span: Span, name: str) -> Any:
    """Return an attribute, by its full name or within objects."""
    here: Any = span["attributes"]
    if name in here:
        return here[name]
    for part in name.split("."):
        here = fields_in(here).get(part)
    return here


def _below_evaluators(steps: Sequence[TraceStep], evaluators: Sequence[Span]) -> dict[str, str | None]:
    """Return the spans of evaluators and what is below them -> the model that was asked there."""
    children: dict[str | None, list[TraceStep]] = {}
    for step in steps:
        children.setdefault(step.parent, []).append(step)
    models: dict[str, str | None] = {}
    for span in evaluators:
        top = id_in(span.get("span_id"))
        if top is None or top in models:
            continue
        models[top] = None
        waiting = [top]
        while waiting:
            for step in children.get(waiting.pop(), ()):
                if step.id and step.id not in models:
                    models[step.id] = step.model
                    models[top] = models[top] or step.model
                    waiting.append(step.id)
    return models


def _evaluator_span(number: int, span: Span, models: Mapping[str, str | None]) -> Iterator[SpanVerdict]:
    """Yield the verdicts of a span of an evaluator: one, or those of the list that it gave."""
    given = decoded(_attribute(span, "output.value"))
    results = given if isinstance(given, list) else [given]
    failed = str(span.get("status_code")).upper().endswith("ERROR")
    read = fields_in(decoded(_attribute(span, "input.value")))
    on = answered_in({**fields_in(read.get("input")), **fields_in(read.get("output")), **read})
    on.pop("subject", None)
    parent = id_in(span.get("parent_id"))
    model = models.get(str(span.get("span_id")))
    about = fields_in(decoded(_attribute(span, "metadata")))
    called = str(span.get("name") or "evaluator").removeprefix("Evaluation: ").removesuffix(".evaluate")
    for at, result in enumerate(results, 1):
        fields = fields_in(result)
        own = _text(fields.get("name")) or (called if len(results) == 1 else f"{called}-{at}")
        kind = str(fields.get("kind") or fields.get("annotator_kind")).upper()
        yield SpanVerdict(
            trace=None if parent is None else _hex(span.get("trace_id")),
            span=parent,
            assessment=Assessment(
                number=number,
                tool="OpenInference",
                name=own,
                value=scalar_in(fields.get("score") if fields else result),
                label=_text(fields.get("label")),
                rationale=_text(fields.get("explanation")),
                error=(_text(span.get("status_message")) or "the evaluator's span failed")
                if failed
                else None,
                model=model or _KINDS.get(kind) or id_in(fields_in(fields.get("metadata")).get("model")),
                version=_text(about.get("version")),
                ids={"evaluator_span_id": str(span.get("span_id"))},
                at=seconds_at(span.get("end_time")),
                notes=_scalars(fields_in(fields.get("metadata")))
                | _scalars({"direction": fields.get("direction")}),
                **on,
            ),
        )


def _annotation(number: int, raw: Mapping[str, Any]) -> SpanVerdict:
    """Return an annotation of Phoenix, on a span, a trace or a session; also a row of a data frame."""
    result = fields_in(decoded(raw.get("result")))
    known = {name: result.get(name, raw.get(f"result.{name}", raw.get(name))) for name in _RESULT}
    kind = str(raw.get("annotator_kind")).upper()
    position = raw.get("document_position")
    about = fields_in(decoded(raw.get("metadata")))
    on = ("session_id",) if raw.get("session_id") and not raw.get("span_id") else ()
    return SpanVerdict(
        trace=_hex(raw.get("trace_id", raw.get("context.trace_id"))),
        span=_hex(raw.get("span_id", raw.get("context.span_id"))),
        assessment=Assessment(
            number=number,
            tool="Phoenix",
            name=_text(raw.get("annotation_name")) or _text(raw.get("name")) or "annotation",
            value=scalar_in(known["score"]),
            label=_text(known["label"]),
            rationale=_text(known["explanation"]),
            by="person" if kind == "HUMAN" else "evaluator",
            annotator=(_text(raw.get("user_id")) or _text(raw.get("identifier")))
            if kind == "HUMAN"
            else None,
            source=_text(raw.get("identifier")) if kind != "HUMAN" else None,
            model=_KINDS.get(kind) or id_in(about.get("model")),
            part=None if position is None else f"document-{position}",
            ids={name: str(raw[name]) for name in on},
            subject=str(raw["session_id"]) if on else None,
            at=seconds_at(raw.get("updated_at", raw.get("created_at"))),
            id=_text(raw.get("id")),
            notes=_scalars(about) | {"annotator_kind": kind},
        ),
    )


_RESULT = ("score", "label", "explanation")


def _columns(number: int, span: Span) -> Iterator[SpanVerdict]:
    """Yield the verdicts in columns of a data frame of spans: `eval.NAME.score`, `.label`, `.explanation`."""
    by_name: dict[str, dict[str, Any]] = {}
    for column, value in span.items():
        first, _, rest = column.partition(".")
        name, _, field = rest.rpartition(".")
        if first == "eval" and name and field in _RESULT:
            by_name.setdefault(name, {})[field] = value
    for name, fields in by_name.items():
        if all(value is None or value != value for value in fields.values()):
            continue
        yield SpanVerdict(
            trace=_hex(span.get("trace_id")),
            span=_hex(span.get("span_id")),
            assessment=Assessment(
                number=number,
                tool="Phoenix",
                name=name,
                value=scalar_in(fields.get("score")),
                label=_text(fields.get("label")),
                rationale=_text(fields.get("explanation")),
            ),
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _hex(value: object) -> str | None:
    """Return the id of a span or trace; the SDK prints 0x before it, and zeros where there is none."""
    name = id_in(value)
    name = None if name is None else name.removeprefix("0x")
    return None if name is None or not name.strip("0") else name


def _scalars(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if isinstance(value, str | int | float | bool)}
