"""Traces and observations of Langfuse: exports of its tables, of its blob storage, and its API (version 3).

JSON, JSONL and CSV. A trace is an answer; its observations may stand in it, or in rows of their own, in camel
case (interface, API) or with underscores (blob storage).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.kernel.tables.interchange._messages import answered_in, asked_in, calls_of, messages_of
from ragstone.kernel.tables.interchange.marks import is_observation
from ragstone.kernel.tables.interchange.traces import Kind, TraceStep, answers_of, tool_call
from ragstone.kernel.tables.interchange.values import (
    amount_in,
    contexts_in,
    count_in,
    decoded,
    id_in,
    notes_in,
    objects_in,
    seconds_at,
    seconds_between,
)

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
        if not isinstance(raw, dict):
            yield number, raw
        elif is_observation(raw):
            steps.append(_observation(number, raw))
        else:
            steps.append(_trace(number, raw))
            inside = decoded(raw.get("observations"))
            steps += [
                _observation(number, {"traceId": raw.get("id"), **observation})
                for observation in objects_in(inside)
            ]
    yield from answers_of(steps, where)


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
