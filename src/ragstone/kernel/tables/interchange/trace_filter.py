"""What a filter in words (see tables/where.py) may ask of a trace, and what a trace has under these names.

The list of traces in the workbench and `--where` of the commands that read traces ask the same.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.where import Kind

TRACE_COLUMNS: Mapping[str, Kind] = {
    **dict.fromkeys(("service", "user", "session", "model", "name"), "text"),
    **dict.fromkeys(("question", "answer", "text", "error"), "text"),
    "failed": "yes_no",
    "time": "time",
    **dict.fromkeys(("duration", "cost", "tokens", "spans", "errors"), "number"),
    "trace": "text",
}
"""Name -> kind. duration: seconds; cost: USD, of all calls; tokens: in and out; time: of the beginning.

text: question, answer, the name of the top span and why it failed. error: of the answer, else of the first
span that failed; failed: whether there is one; errors: spans that failed. trace: its id.
"""


def trace_cells(row: Mapping[str, Any], steps: Sequence[TraceStep]) -> dict[str, Any]:
    """Return the columns of a trace by name, None for none.

    row: its answer as traces.answers_with_spans gives it, empty where nothing was asked. steps: its spans,
    the top first.
    """
    notes, usage = row.get("metadata") or {}, row.get("usage") or {}
    errors = [step.error for step in steps if step.error is not None]
    error = row.get("error") or next(iter(errors), None)
    begun = [step.started for step in steps if step.started is not None]
    ended = [step.started + (step.latency_s or 0.0) for step in steps if step.started is not None]
    models = sorted({step.model for step in steps if step.kind == "model" and step.model})
    name = next((step.name for step in steps if step.name), None)
    texts = [text for text in (row.get("question"), row.get("answer"), name, error) if text]
    return {
        "service": notes.get("service") or next((step.service for step in steps if step.service), None),
        "user": _who(notes, steps, "user_id"),
        "session": _who(notes, steps, "session_id"),
        "model": ", ".join(models) or None,
        "name": name,
        "question": row.get("question"),
        "answer": row.get("answer") or None,
        "text": texts or None,
        "error": error,
        "failed": error is not None,
        "time": min(begun, default=None),
        "duration": max(ended) - min(begun) if begun else None,
        "cost": row.get("cost_usd"),
        "tokens": usage["input"] + usage["output"] if usage else None,
        "spans": len(steps),
        "errors": len(errors),
        "trace": steps[0].trace,
    }


def _who(notes: Mapping[str, Any], steps: Sequence[TraceStep], name: str) -> str | None:
    value = notes.get(name) or next((step.notes[name] for step in steps if step.notes.get(name)), None)
    return None if value is None else str(value)
