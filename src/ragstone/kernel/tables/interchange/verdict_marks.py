"""What a row of each tool is like that may hold verdicts, alone or beside answers."""

from collections.abc import Mapping
from typing import Any

from ragstone.kernel.tables.interchange.marks import is_langfuse, is_openinference, is_run

_SCORE_KINDS = {"NUMERIC", "CATEGORICAL", "BOOLEAN", "TEXT", "CORRECTION"}
_SCORE_SOURCES = {"API", "EVAL", "ANNOTATION"}


def is_telemetry(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is a span, a record of a log (OTLP, or printed by the SDK), or an annotation."""
    if is_openinference(raw) or raw.keys() & {"resourceLogs", "scopeLogs", "annotator_kind"}:
        return True
    return "event_name" in raw and "trace_id" in raw and isinstance(raw.get("attributes"), Mapping)


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
