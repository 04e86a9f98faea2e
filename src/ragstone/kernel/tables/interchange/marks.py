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
    """Say whether an object is a span, or a batch of spans or log events in OTLP JSON."""
    if raw.keys() & {"resourceSpans", "scopeSpans", "resourceLogs", "scopeLogs"} or "context.trace_id" in raw:
        return True
    context = raw.get("context")
    return isinstance(context, Mapping) and "trace_id" in context


def is_langfuse(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a trace or an observation."""
    names = raw.keys()
    is_trace = names >= _IN_TRACES and bool(names & {"input", "output"}) and bool(names & _TRACE_MARKS)
    return is_observation(raw) or (is_trace and not names & _NOT_LANGFUSE)


def is_observation(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is an observation of Langfuse, a part of a trace."""
    has_trace = bool(raw.keys() & {"traceId", "trace_id"})
    return has_trace and "type" in raw and bool(raw.keys() & _IN_OBSERVATIONS)


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
