"""What a row of each tool is like, by which it is told from others."""

from collections.abc import Mapping
from typing import Any

from ragstone.kernel.records import Answer
from ragstone.kernel.tables.names import MESSAGES, ROLE_NAMES, ROLES, accepted_names

# Each is in every trace, as null where it is empty; logs of other origin have `input` and `output` too.
_IN_TRACES = {"id", "timestamp", "name"}
_TRACE_MARKS = {"sessionId", "session_id", "userId", "user_id", "htmlPath", "observations"}
_IN_OBSERVATIONS = {"startTime", "start_time", "parentObservationId", "parent_observation_id"}
_NOT_LANGFUSE = {
    name for field in ("reference", "contexts") for name in (*accepted_names(Answer, field), "expectedOutput")
}


_MULTI_TURN = ("reference_tool_calls", "reference_topics")


def is_promptfoo(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a file of results, or one result."""
    inside = raw.get("results")
    if isinstance(inside, Mapping):
        return isinstance(inside.get("results"), list)
    return {"vars", "provider"} <= raw.keys() and bool(raw.keys() & {"promptIdx", "testIdx", "testCase"})


def is_table(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a row of promptfoo's CSV, which has its systems side by side."""
    return {"Status", "Score"} <= raw.keys() and any(name.startswith("[") for name in raw)


def is_openinference(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a span, or a batch of them in OTLP JSON."""
    if raw.keys() & {"resourceSpans", "scopeSpans"} or "context.trace_id" in raw:
        return True
    context = raw.get("context")
    return isinstance(context, Mapping) and "trace_id" in context


def is_telemetry(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a span, a record of a log (OTLP, or printed by the SDK), or an annotation."""
    if is_openinference(raw) or raw.keys() & {"resourceLogs", "scopeLogs", "annotator_kind"}:
        return True
    return "event_name" in raw and "trace_id" in raw and isinstance(raw.get("attributes"), Mapping)


def is_langfuse(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a trace or an observation."""
    names = raw.keys()
    is_trace = names >= _IN_TRACES and bool(names & {"input", "output"}) and bool(names & _TRACE_MARKS)
    return is_observation(raw) or (is_trace and not names & _NOT_LANGFUSE)


def is_observation(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is an observation of Langfuse, a part of a trace."""
    has_trace = bool(raw.keys() & {"traceId", "trace_id"})
    return has_trace and "type" in raw and bool(raw.keys() & _IN_OBSERVATIONS)


_SCORE_KINDS = {"NUMERIC", "CATEGORICAL", "BOOLEAN", "TEXT", "CORRECTION"}
_SCORE_SOURCES = {"API", "EVAL", "ANNOTATION"}


def is_score(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a score of Langfuse."""
    kind = str(raw.get("dataType", raw.get("data_type"))).upper()
    return (
        "name" in raw
        and "value" in raw
        and (kind in _SCORE_KINDS or str(raw.get("source")).upper() in _SCORE_SOURCES)
    )


def is_scored_trace(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a score, a trace or an observation of Langfuse."""
    return is_score(raw) or is_langfuse(raw)


def is_feedback(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is feedback of LangSmith."""
    return {"key", "feedback_source"} <= raw.keys() and bool(raw.keys() & {"run_id", "trace_id"})


def is_run_or_feedback(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a run of LangSmith, or feedback on one."""
    return is_feedback(raw) or ("run_type" in raw and is_run(raw))


def is_mlflow(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a trace of MLflow, a row of its table of traces, or an assessment."""
    info = raw.get("info")
    if isinstance(info, Mapping) and "data" in raw and bool(info.keys() & {"trace_id", "request_id"}):
        return True
    if "assessments" in raw and "trace_id" in raw:
        return True
    return {"assessment_name", "source"} <= raw.keys()


def is_azure(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a row that Azure's `evaluate` writes."""
    names = [str(name) for name in raw]
    has_inputs = any(name.startswith("inputs.") for name in names)
    return has_inputs and any(name.startswith("outputs.") and name.count(".") > 1 for name in names)


def is_phoenix_evals(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a row of a data frame of phoenix-evals."""
    return any(str(name).endswith("_execution_details") for name in raw)


def is_run(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a run of LangSmith, or a trace or a span of OpenAI's Agents SDK."""
    if raw.get("object") in ("trace", "trace.span"):
        return True
    return "run_type" in raw and bool(raw.keys() & {"inputs", "outputs", "trace_id", "child_runs"})


def is_deepeval(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a test run, or a test case in deepeval's names."""
    run = raw.get("testRunData", raw)
    cases = ("testCases", "conversationalTestCases")
    if isinstance(run, Mapping) and any(isinstance(run.get(name), list) for name in cases):
        return True
    return "input" in raw and bool(raw.keys() & {"actualOutput", "actual_output"})


def is_inspect(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a log of Inspect, or one sample of it."""
    if isinstance(raw.get("samples"), list):
        return isinstance(raw.get("eval"), Mapping)
    return {"epoch", "input", "target", "output"} <= raw.keys()


def is_ragas(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a sample of ragas."""
    return "user_input" in raw and bool(
        raw.keys() & {"response", "retrieved_contexts", "reference", "rubrics", *_MULTI_TURN}
    )


def is_precomputed(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a score for `precomputed_scores` of Inspect."""
    beside = {"epoch", "answer", "explanation", "metadata"}
    return {"id", "value"} <= raw.keys() <= {"id", "value", *beside}


def is_eee_instance(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is an instance of Every Eval Ever: a line of `UUID_samples.jsonl`."""
    return {"sample_id", "evaluation_name", "interaction_type", "evaluation"} <= raw.keys()


def is_eee_record(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is an aggregate of Every Eval Ever: `UUID.json`."""
    return {"schema_version", "evaluation_id", "evaluation_results"} <= raw.keys()


def is_conversation(raw: Mapping[str, Any]) -> bool:
    """Say whether an object holds a conversation: a list of messages, each with a role."""
    return messages_in(raw) is not None


def messages_in(raw: Mapping[str, Any]) -> str | None:
    """Return the name of the column that holds the messages of a conversation."""
    return next((name for name in MESSAGES if _are_messages(raw.get(name))), None)


def _are_messages(value: object) -> bool:
    if not isinstance(value, list):
        return False
    objects = (message for message in value if isinstance(message, Mapping))
    inside = (
        message["kwargs"] if isinstance(message.get("kwargs"), Mapping) else message for message in objects
    )
    return any(
        str(message.get(name)).casefold() in ROLES for message in inside for name in (*ROLE_NAMES, "type")
    )
