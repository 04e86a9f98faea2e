"""Traces and observations of Langfuse: exports of its tables, of its blob storage, and its API (version 3).

JSON, JSONL and CSV. A trace is an answer; its observations may stand in it, or in rows of their own, in camel
case (interface, API) or with underscores (blob storage).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.kernel.tables.interchange._messages import answered_in, asked_in, calls_of, messages_of
from ragstone.kernel.tables.interchange.assessments import Assessment
from ragstone.kernel.tables.interchange.marks import is_observation
from ragstone.kernel.tables.interchange.placing import AnsweredSpans, SpanVerdict
from ragstone.kernel.tables.interchange.trace_steps import Kind, TraceStep
from ragstone.kernel.tables.interchange.traces import answers_of, tool_call
from ragstone.kernel.tables.interchange.values import (
    amount_in,
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
    written,
)
from ragstone.kernel.tables.interchange.verdict_marks import is_score

_KINDS: Mapping[str, Kind] = {
    "GENERATION": "model",
    "RETRIEVER": "retriever",
    "EMBEDDING": "embedding",
    "TOOL": "tool",
}
_INPUT = ("input", "promptTokens", "prompt_tokens", "inputUsage", "inputTokens", "input_tokens")
_OUTPUT = ("output", "completionTokens", "completion_tokens", "outputUsage", "outputTokens", "output_tokens")
_CACHED = ("input_cached_tokens", "cache_read_input_tokens", "input_cache_read")
_COST = ("totalCost", "total_cost", "calculatedTotalCost", "calculated_total_cost")


def read_langfuse(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each trace, see traces.answers_of; what is no object as it is."""
    steps: list[TraceStep] = []
    for number, raw in rows:
        if isinstance(raw, dict):
            steps += _steps(number, raw)
        else:
            yield number, raw
    yield from answers_of(steps, where)


def _steps(number: int, raw: Mapping[str, Any]) -> list[TraceStep]:
    """Return a trace and the observations in it, or an observation, as steps."""
    if is_observation(raw):
        return [_observation(number, raw)]
    inside = objects_in(decoded(raw.get("observations")))
    beside = [_observation(number, {"traceId": raw.get("id"), **one}) for one in inside]
    return [_trace(number, raw), *beside]


_TEXTS = ("TEXT", "CORRECTION")
_FEEDBACK = ("feedback", "thumb")


def read_scores(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield an Assessment for each score, in a row of its own or within its trace.

    Scores as the interface and the SDK (5.0: its version 3 of them, and before) name their fields, also in
    CSV. An ANNOTATION is a person's; of source API what is called feedback or thumbs is too. The value of a
    category is its label; its number counts where a configuration gives it one. TEXT and CORRECTION have no
    score.
    """
    steps: list[TraceStep] = []
    verdicts: list[SpanVerdict] = []
    for number, raw in rows:
        if is_score(raw):
            verdicts.append(_score(number, raw))
            continue
        steps += _steps(number, raw)
        scores = objects_in(decoded(raw.get("scores")))
        verdicts += [_score(number, {"traceId": raw.get("id"), **one}) for one in scores if "name" in one]
    for assessment in AnsweredSpans(steps).placed(verdicts):
        yield assessment.number, assessment


def _score(number: int, raw: Mapping[str, Any]) -> SpanVerdict:
    def given(name: str, other: str) -> Any:
        return raw.get(name, raw.get(other))

    kind, source = str(given("dataType", "data_type")).upper(), str(raw.get("source")).upper()
    subject = fields_in(decoded(raw.get("subject")))
    on = str(subject.get("kind"))
    ids = {f"{on}_id": subject.get("id"), "trace_id": subject.get("traceId", subject.get("trace_id"))}
    known = {
        "trace_id": given("traceId", "trace_id") or (ids["trace_id"] if on != "trace" else subject.get("id")),
        "observation_id": given("observationId", "observation_id") or ids.get("observation_id"),
        "session_id": given("sessionId", "session_id") or ids.get("session_id"),
        "dataset_run_id": given("datasetRunId", "dataset_run_id") or ids.get("experiment_id"),
    }
    named = {name: str(value) for name, value in known.items() if value}
    name = str(raw.get("name") or "score")
    is_person = source == "ANNOTATION" or (
        source == "API" and any(word in name.casefold() for word in _FEEDBACK)
    )
    value, text = raw.get("value"), id_in(given("stringValue", "string_value"))
    if kind == "BOOLEAN":
        value = {"true": True, "1": True, "1.0": True}.get(str(value).casefold(), value)
        value = {"false": False, "0": False, "0.0": False}.get(str(value).casefold(), value)
    if kind == "CATEGORICAL" and text and not given("configId", "config_id"):
        value = None
    is_text = kind in _TEXTS
    on_whole = named.get("session_id") or named.get("dataset_run_id")
    return SpanVerdict(
        trace=named.get("trace_id"),
        span=named.get("observation_id"),
        assessment=Assessment(
            number=number,
            tool="Langfuse",
            name=name,
            value=None if is_text else scalar_in(value),
            label=None if is_text else text,
            status="not_applicable" if is_text else None,
            rationale=id_in(raw.get("comment")) or (written(value) if is_text else None),
            by="person" if is_person else "evaluator",
            annotator=id_in(given("authorUserId", "author_user_id")) if is_person else None,
            subject=None if named.get("trace_id") else on_whole,
            ids={name: value for name, value in named.items() if name.startswith(("session", "dataset"))},
            at=seconds_at(given("updatedAt", "updated_at") or raw.get("timestamp")),
            id=id_in(raw.get("id")),
            notes=notes_in(decoded(raw.get("metadata"))) | {"source": source, "data_type": kind},
        ),
    )


def _trace(number: int, raw: Mapping[str, Any]) -> TraceStep:
    made = messages_of(raw.get("output"))
    return TraceStep(
        number=number,
        trace=id_in(raw.get("id")),
        kind="trace",
        asked=asked_in(raw.get("input"), messages_of(raw.get("input"))),
        answered=answered_in(raw.get("output"), made),
        calls=calls_of(made),
        started=seconds_at(raw.get("timestamp")),
        latency_s=amount_in(raw.get("latency")),
        tokens=_tokens(raw),
        cost_usd=_cost(raw),
        error=_error(raw),
        notes=_notes(raw) | _feedback(raw),
    )


def _observation(number: int, raw: Mapping[str, Any]) -> TraceStep:
    written = str(raw.get("type")).upper()
    kind = _KINDS.get(written, "other")
    # Before Langfuse had retrievers, they were spans of such a name.
    if written == "SPAN" and "retriev" in str(raw.get("name")).casefold():
        kind = "retriever"
    begun = seconds_at(raw.get("startTime", raw.get("start_time")))
    ended = seconds_at(raw.get("endTime", raw.get("end_time")))
    latency = amount_in(raw.get("latency"))
    if latency is None:
        latency = seconds_between(begun, ended)
    sent, made = ([] if kind == "tool" else messages_of(raw.get(side)) for side in ("input", "output"))
    tool_fields = {
        "tool": raw.get("name"),
        "arguments": decoded(raw.get("input")),
        "result": raw.get("output"),
    }
    names = ("providedModelName", "provided_model_name", "model")
    return TraceStep(
        number=number,
        trace=id_in(raw.get("traceId", raw.get("trace_id"))),
        id=id_in(raw.get("id")),
        parent=id_in(raw.get("parentObservationId", raw.get("parent_observation_id"))),
        name=id_in(raw.get("name")),
        kind=kind,
        asked=None if kind == "tool" else asked_in(raw.get("input"), sent),
        answered=None if kind == "tool" else answered_in(raw.get("output"), made),
        call=tool_call(tool_fields, error=_error(raw), seconds=latency) if kind == "tool" else None,
        calls=calls_of(sent if kind == "model" else made),
        chosen=calls_of(made) if kind == "model" else (),
        contexts=(contexts_in(raw.get("output")) or []) if kind == "retriever" else None,
        started=begun,
        latency_s=latency,
        tokens=_tokens(raw) if kind == "model" else None,
        cost_usd=_cost(raw),
        model=next((raw[name] for name in names if isinstance(raw.get(name), str) and raw[name]), None),
        error=_error(raw),
        notes=_notes(raw),
    )


def _notes(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata and tags of a trace or observation, and the version of its prompt."""
    versions = (raw.get("promptVersion"), raw.get("prompt_version"), raw.get("version"))
    version = next((value for value in versions if isinstance(value, str | int) and value != ""), None)
    noted = {} if version is None else {"prompt_version": version}
    names = (("session_id", "sessionId"), ("user_id", "userId"))
    who = {name: str(value) for name, other in names if (value := raw.get(name) or raw.get(other))}
    return {**notes_in(raw.get("tags")), **notes_in(raw.get("metadata")), **noted, **who}


def _feedback(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score of a trace that is people's, by its name."""
    for score in objects_in(decoded(raw.get("scores"))):
        name = str(score.get("name")).casefold()
        if ("feedback" in name or "thumb" in name) and isinstance(score.get("value"), int | float | str):
            return {"feedback": score["value"]}
    return {}


def _error(raw: Mapping[str, Any]) -> str | None:
    if raw.get("level") != "ERROR":
        return None
    return str(raw.get("statusMessage") or raw.get("status_message") or "it failed, and does not say why")


def _tokens(raw: Mapping[str, Any]) -> tuple[int, int, int] | None:
    for name in ("usageDetails", "usage_details", "usage"):
        counts = decoded(raw.get(name))
        if isinstance(counts, Mapping) and (tokens := _counted(counts)):
            return tokens
    # `input` of the row itself is a text.
    return _counted({name: value for name, value in raw.items() if name not in ("input", "output")})


def _counted(counts: Mapping[str, Any]) -> tuple[int, int, int] | None:
    sent, made = count_in(counts, _INPUT), count_in(counts, _OUTPUT)
    return None if sent is None and made is None else (sent or 0, made or 0, count_in(counts, _CACHED) or 0)


def _cost(raw: Mapping[str, Any]) -> float | None:
    costs = [amount_in(raw.get(name)) for name in _COST]
    details = decoded(raw.get("costDetails", raw.get("cost_details")))
    if isinstance(details, Mapping):
        costs.append(amount_in(details.get("total")))
    # Langfuse writes 0 where it knows no price.
    return next((cost for cost in costs if cost), None)
