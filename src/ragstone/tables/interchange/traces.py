"""Traces of an application -> answers: what was asked and said at the top, what was retrieved on the way."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from ragstone.errors import DataError

Kind = Literal["trace", "model", "retriever", "reranker", "embedding", "other"]

NO_OUTPUT = "the trace has no output"


class TraceStep(msgspec.Struct, frozen=True, kw_only=True):
    """One span of a trace, or (kind `trace`) the trace itself.

    number: the line that it stands in. trace: None where it is not told, and so one of its own. asked,
    answered: texts. contexts: passages that came out of it, None where it is not known to bring any. started:
    seconds since 1970. tokens: input, output and cached. notes: what else it tells in single values: the
    metadata that the application gave it, `prompt_version`, `feedback`.
    """

    number: int
    trace: str | None
    id: str | None = None
    parent: str | None = None
    kind: Kind = "other"
    asked: str | None = None
    answered: str | None = None
    contexts: list[dict[str, Any]] | None = None
    started: float | None = None
    latency_s: float | None = None
    tokens: tuple[int, int, int] | None = None
    cost_usd: float | None = None
    model: str | None = None
    error: str | None = None
    notes: Mapping[str, str | int | float | bool] = {}


def answers_of(steps: Iterable[TraceStep], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a row of an answer sheet for each trace in which something was asked, in order of appearance.

    Question and answer are those of the top of the trace, else the first that was asked and the last that a
    model said on the way. Contexts: what came out of the last reranker, else out of all retrievers, each text
    once. Tokens and cost: of all calls of models. The system is the model, where one alone was asked; a trace
    that got to no model belongs to the only system of the file. One that was asked and has no output has an
    error.
    Raises DataError where nothing was asked in any of them.
    """
    traces: dict[object, list[TraceStep]] = {}
    for step in steps:
        known = traces.get(step.trace, [])
        # Neither those without an id nor those that share one with another question are one trace.
        alone = step.trace is None or (
            step.kind == "trace" and any(one.kind == "trace" and _said(one) != _said(step) for one in known)
        )
        traces.setdefault(object() if alone else step.trace, []).append(step)
    rows = [(inside[0].number, row) for inside in traces.values() if (row := _row(inside)) is not None]
    systems = {row["system"] for _, row in rows if "system" in row}
    only = {"system": next(iter(systems))} if len(systems) == 1 else {}
    yield from ((number, only | row) for number, row in rows)
    if not rows:
        raise DataError(
            f"{where}: {len(traces)} traces, and no question in any of them. Export the spans with their "
            "inputs and outputs."
        )


def _said(step: TraceStep) -> tuple[str | None, str | None]:
    return step.asked, step.answered


def _row(steps: Sequence[TraceStep]) -> dict[str, Any] | None:
    steps = sorted(steps, key=lambda step: (step.started is None, step.started or 0.0))
    top = _top(steps)
    said = [step for step in steps if step.kind not in ("retriever", "reranker", "embedding")]
    question = top.asked or next((step.asked for step in said if step.asked), None)
    if question is None:
        return None
    models = [step for step in steps if step.kind == "model"]
    answer = top.answered
    if answer is None:
        answer = next((step.answered for step in reversed(models) if step.answered is not None), None)
    error = top.error
    if answer is None and error is None:
        error = next((step.error for step in reversed(steps) if step.error), NO_OUTPUT)
    names = {step.model for step in models if step.model}
    row = {
        "question": question,
        "answer": "" if error else answer,
        "system": next(iter(names)) if len(names) == 1 else None,
        "contexts": _contexts(steps),
        "latency_s": top.latency_s,
        "usage": _usage(models) or _usage([top]),
        "cost_usd": _cost(models, top),
        "error": error,
        "metadata": _notes(steps, top) or None,
    }
    return {field: value for field, value in row.items() if value is not None}


def _notes(steps: Sequence[TraceStep], top: TraceStep) -> dict[str, Any]:
    """Return what is known of a trace beside its answer: its id, when it began, what its spans noted."""
    begun = [step.started for step in steps if step.started is not None]
    notes: dict[str, Any] = {}
    for step in (*reversed(steps), top):  # of two that note the same, the top, then the earlier one counts
        notes |= step.notes
    return (
        notes
        | ({"time": datetime.fromtimestamp(min(begun), UTC).isoformat()} if begun else {})
        | ({"trace_id": top.trace} if top.trace else {})
    )


def _top(steps: Sequence[TraceStep]) -> TraceStep:
    """Return the trace itself, else the first span that has no parent here and was asked something."""
    ids = {step.id for step in steps if step.id}
    roots = [step for step in steps if step.parent not in ids] or list(steps)
    return next(
        (step for step in roots if step.kind == "trace" and step.asked),
        next((step for step in roots if step.asked), roots[0]),
    )


def _contexts(steps: Sequence[TraceStep]) -> list[dict[str, Any]] | None:
    ranked = [step.contexts for step in steps if step.kind == "reranker" and step.contexts is not None]
    found = ranked[-1:] or [
        step.contexts for step in steps if step.kind == "retriever" and step.contexts is not None
    ]
    if not found:
        return None
    return list({context["text"]: context for some in found[::-1] for context in some[::-1]}.values())[::-1]


def _usage(steps: Sequence[TraceStep]) -> dict[str, int] | None:
    known = [step.tokens for step in steps if step.tokens is not None]
    if not known:
        return None
    given, made, cached = (sum(parts) for parts in zip(*known, strict=True))
    return {"input": given, "output": made, "cached": cached, "calls": len(known)}


def _cost(models: Sequence[TraceStep], top: TraceStep) -> float | None:
    """Return what all calls of models cost; None unless the price of each is known, or that of the trace."""
    known = [step.cost_usd for step in models if step.cost_usd is not None]
    if top.kind == "trace" and top.cost_usd is not None:
        return top.cost_usd
    return sum(known) if known and len(known) == len(models) else None
