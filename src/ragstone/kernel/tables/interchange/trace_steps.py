"""A step of a trace, whatever tool told of it: what traces.py makes answers of."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

Kind = Literal["trace", "model", "retriever", "reranker", "embedding", "tool", "evaluator", "other"]

Call = dict[str, Any]
"""A step as a row has it, with the `id` of the call where it is told."""


class TraceStep(msgspec.Struct, frozen=True, kw_only=True):
    """One span of a trace, or (kind `trace`) the trace itself.

    number: the line that it stands in. trace: None where it is not told, and so one of its own. asked,
    answered: texts. contexts: passages that came out of it, None where it is not known to bring any. started:
    seconds since 1970. tokens: input, output and cached. notes: what else it tells in single values: the
    metadata that the application gave it, `prompt_version`, `feedback`, `session_id`, `user_id`.
    call: of kind `tool`, see tool_call. calls: of tools, that stand in what a model was given, or in what
    another span gave; chosen: in what a model said. logged: told by log events, which say what was asked and
    answered; all else tells the span of the same id, where it comes. evaluation: what an evaluator says of
    the span `parent`, or of the trace; such a step is no span. reply: the provider's id of what a model said,
    by which an evaluation finds its span where it names none. service: the program, as it names itself.
    """

    number: int
    trace: str | None
    id: str | None = None
    parent: str | None = None
    name: str | None = None
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
    call: Call | None = None
    calls: Sequence[Call] = ()
    chosen: Sequence[Call] = ()
    notes: Mapping[str, str | int | float | bool] = {}
    logged: bool = False
    evaluation: Mapping[str, Any] | None = None
    reply: str | None = None
    service: str | None = None
