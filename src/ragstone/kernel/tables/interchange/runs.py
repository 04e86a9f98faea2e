"""Runs of LangSmith, and traces of OpenAI's Agents SDK as its processors export them -> answers.

A run holds its children in `child_runs`, or they stand in rows of their own. Of the Agents SDK a trace and
its spans are objects `trace` and `trace.span`; what its responses hold is there if the processor writes it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragstone.kernel.tables.interchange._messages import answered_in, asked_in, calls_of, messages_of
from ragstone.kernel.tables.interchange.assessments import Assessment
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
)
from ragstone.kernel.tables.interchange.verdict_marks import is_feedback

_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("llm", "generation", "response"), "model"),
    **dict.fromkeys(("tool", "function"), "tool"),
    "retriever": "retriever",
    "embedding": "embedding",
}
_THREADS = ("session_id", "thread_id", "conversation_id", "group_id")
_GIVEN, _MADE = ("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")


def read_runs(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each trace, see traces.answers_of; what is no object as it is."""
    steps: list[TraceStep] = []
    for number, raw in rows:
        if isinstance(raw, dict):
            steps += _steps(number, raw)
        else:
            yield number, raw
    yield from answers_of(steps, where)


def _steps(number: int, raw: Mapping[str, Any]) -> Iterator[TraceStep]:
    """Yield a run or a span, and those in it."""
    waiting = [raw]
    while waiting:
        run = waiting.pop()
        step = _run(number, run) if "run_type" in run else _span(number, run)
        yield step
        above = {"trace_id": step.trace, "parent_run_id": run.get("id")}
        below = (*objects_in(run.get("child_runs")), *objects_in(run.get("spans")))
        waiting += [{**above, **inner} for inner in below]


def read_feedback(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield an Assessment for each feedback of LangSmith (SDK 0.15), with the answer where its run is there.

    What was given in the application (`app`) is a person's; of source `api` what is called feedback or thumbs
    is too. An evaluator that failed leaves its exception as the comment.
    """
    steps: list[TraceStep] = []
    verdicts: list[SpanVerdict] = []
    for number, raw in rows:
        if is_feedback(raw):
            verdicts.append(_feedback(number, raw))
        else:
            steps += _steps(number, raw)
    for assessment in AnsweredSpans(steps).placed(verdicts):
        yield assessment.number, assessment


def _feedback(number: int, raw: Mapping[str, Any]) -> SpanVerdict:
    source, extra = fields_in(decoded(raw.get("feedback_source"))), fields_in(decoded(raw.get("extra")))
    kind, name = str(source.get("type")).casefold(), str(raw.get("key") or "feedback")
    told = any(word in name.casefold() for word in ("feedback", "thumb", "user_score"))
    is_person = kind == "app" or (kind == "api" and told)
    value, comment = raw.get("value"), id_in(raw.get("comment"))
    score = scalar_in(raw.get("score"))
    failed = bool(extra.get("error")) and score is None
    about = fields_in(source.get("metadata"))
    return SpanVerdict(
        trace=id_in(raw.get("trace_id")) or id_in(raw.get("run_id")),
        span=id_in(raw.get("run_id")),
        assessment=Assessment(
            number=number,
            tool="LangSmith",
            name=name,
            value=score,
            label=value if isinstance(value, str) and value else None,
            rationale=None if failed else comment,
            error=(comment or "the evaluator failed, and does not say why") if failed else None,
            by="person" if is_person else "evaluator",
            annotator=id_in(source.get("user_name")) or id_in(source.get("user_id")) if is_person else None,
            at=seconds_at(raw.get("modified_at") or raw.get("created_at")),
            id=id_in(raw.get("id")),
            notes=notes_in(about) | {"feedback_source": kind},
        ),
    )


def _run(number: int, run: Mapping[str, Any]) -> TraceStep:
    extra = fields_in(decoded(run.get("extra")))
    metadata = {**fields_in(extra.get("metadata")), **fields_in(decoded(run.get("metadata")))}
    sent, made = decoded(run.get("inputs")), decoded(run.get("outputs"))
    kind = _KINDS.get(str(run.get("run_type")), "other")
    # LangSmith sums up in a run what the runs below it took: a root that is exported alone tells it all.
    # Messages in the output of such a run have the tokens of one call.
    totals = {name: run[name] for name in (*_GIVEN, *_MADE) if run.get(name) is not None}
    return _step(
        number,
        {**run, "trace_id": run.get("trace_id") or run.get("id"), "parent": run.get("parent_run_id")},
        kind=kind,
        given=sent,
        made=made,
        usage={**fields_in(_usage(made)), **totals} if kind == "model" else totals,
        model=metadata.get("ls_model_name") or fields_in(extra.get("invocation_params")).get("model"),
        error=run.get("error"),
        notes=metadata,
    )


def _usage(made: object) -> object:
    """Return the tokens that an output of a model tells: LangChain's, or OpenAI's."""
    fields = fields_in(made)
    messages = [fields_in(usage.get("usage_metadata")) for usage in messages_of(made)]
    places = (
        fields.get("usage_metadata"),
        fields.get("usage"),
        fields_in(fields.get("llm_output")).get("token_usage"),
    )
    return next((usage for usage in (*places, *messages) if usage), None)


def _span(number: int, span: Mapping[str, Any]) -> TraceStep:
    fields = fields_in(span.get("span_data"))
    response = fields_in(fields.get("response"))
    is_trace = span.get("object") == "trace"
    name = fields.get("name") or span.get("workflow_name")
    return _step(
        number,
        {
            "id": None if is_trace else span.get("id"),
            "trace_id": span.get("id") if is_trace else span.get("trace_id"),
            "parent": span.get("parent_id"),
            "start_time": span.get("started_at"),
            "end_time": span.get("ended_at"),
            "name": name,
        },
        kind="trace" if is_trace else _KINDS.get(str(fields.get("type")), "other"),
        given=fields.get("input"),
        made=response.get("output") if fields.get("output") is None else fields["output"],
        usage=fields_in(fields.get("usage") or response.get("usage")),
        model=fields.get("model") or response.get("model"),
        error=span.get("error"),
        notes={
            **fields_in(span.get("metadata")),
            **{name_of: span[name_of] for name_of in ("group_id",) if span.get(name_of)},
        },
    )


def _step(
    number: int,
    run: Mapping[str, Any],
    *,
    kind: Kind,
    given: Any,
    made: Any,
    usage: Mapping[str, Any],
    model: object,
    error: Any,
    notes: Mapping[str, Any],
) -> TraceStep:
    begun, ended = seconds_at(run.get("start_time")), seconds_at(run.get("end_time"))
    latency = seconds_between(begun, ended)
    failed = str(fields_in(error).get("message") or error) if error else None
    plain_notes = notes_in(notes)
    thread = next((str(plain_notes[name]) for name in _THREADS if name in plain_notes), None)
    n_given, n_made = count_in(usage, _GIVEN), count_in(usage, _MADE)
    details = fields_in(usage.get("input_token_details") or usage.get("input_tokens_details"))
    cached = count_in(details, ["cache_read", "cached_tokens"]) or 0
    heard, replies = ([] if kind == "tool" else messages_of(side) for side in (given, made))
    is_tool, is_model = kind == "tool", kind == "model"
    counts = is_model or kind == "other"
    return TraceStep(
        number=number,
        trace=id_in(run.get("trace_id")),
        id=id_in(run.get("id")),
        parent=id_in(run.get("parent")),
        name=id_in(run.get("name")),
        kind=kind,
        asked=None if is_tool else asked_in(given, heard),
        answered=None if is_tool else answered_in(made, replies),
        call=tool_call(_called(run, given, made), error=failed, seconds=latency) if is_tool else None,
        calls=calls_of(heard if is_model else replies),
        chosen=calls_of(replies) if is_model else (),
        contexts=(contexts_in(made) or []) if kind == "retriever" else None,
        started=begun,
        latency_s=latency,
        tokens=(n_given or 0, n_made or 0, cached) if counts and (n_given or n_made) else None,
        cost_usd=amount_in(run.get("total_cost")) if counts else None,
        model=model if isinstance(model, str) else None,
        error=failed,
        notes=plain_notes if thread is None else {**plain_notes, "session_id": thread},
    )


def _called(run: Mapping[str, Any], given: Any, made: Any) -> dict[str, Any]:
    """Return the call that a run of a tool is; LangSmith wraps what is no object in `input` and `output`."""
    arguments, result = fields_in(given), fields_in(made)
    return {
        "tool": run.get("name"),
        "id": result.get("tool_call_id") or fields_in(result.get("output")).get("tool_call_id"),
        "arguments": decoded(arguments["input"]) if [*arguments] == ["input"] else given,
        "result": result["output"] if [*result] == ["output"] else made,
    }
