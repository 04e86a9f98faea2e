"""Traces of an application -> answers: what was asked and said at the top, what was retrieved on the way."""

import math
import re
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate, islice, pairwise, starmap
from operator import itemgetter
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.tables.calls import step_row
from ragstone.kernel.tables.columns import CHOICE
from ragstone.kernel.tables.interchange._messages import plain_messages, result_text
from ragstone.kernel.tables.interchange.trace_filter import TRACE_COLUMNS, trace_cells
from ragstone.kernel.tables.interchange.trace_steps import Call, TraceStep
from ragstone.kernel.tables.interchange.values import content_in, decoded
from ragstone.kernel.tables.where import bound, holds

_SPAN_ID = re.compile("[0-9a-fA-F]{16}")  # OpenTelemetry's: what is said of an answer can be sent to its span

NO_OUTPUT = "the trace has no output"
_LOOKUPS = (
    "retriever",
    "reranker",
    "embedding",
    "tool",
)  # what they are asked is for an answer, not by a user


def answers_of(steps: Iterable[TraceStep], where: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield a row of an answer sheet for each trace in which something was asked, in order of appearance.

    A trace of a session has a row for each exchange in it, from the second on with its place in the metadata,
    as `exchange`. Question and answer are those of the top of the trace, else the first that was asked and
    the last that a model said on the way. Contexts: what came out of the last reranker, else out of all
    retrievers, each text once. Tokens and cost: of all calls of models, else what
    the top tells of the whole trace. The system is the program, as its
    `service.name` has it; the metadata has `service` and `model`. Where it is not named, the system is the
    model, if one alone was asked; a trace that got to no model belongs to the only system of the file. One
    that was asked and has no output has an error. Steps: all calls of tools in order of time. A span that
    comes twice counts once. What evaluators say of it stands in the metadata, as `evaluations`.
    Where the command line has a filter of traces, those that it does not leave have no row.
    Raises DataError where nothing was asked in any of them.
    """
    traces = _traces(steps)
    rows = _rows_with_spans(traces)
    wanted = CHOICE.get().where
    condition = bound(wanted, TRACE_COLUMNS) if wanted else None
    for number, row, inside in rows:
        if condition is None or holds(condition, trace_cells(row, _top_first(inside))):
            yield number, row
    if not rows:
        raise _nothing_asked(where, len(traces))


def _nothing_asked(where: str, n_traces: int) -> DataError:
    within = "it" if n_traces == 1 else "any of them"
    return DataError(
        f"{where}: {plural(n_traces, 'trace')}, but no question in {within}. Export the spans with their "
        "inputs and outputs."
    )


class OpenTraces:
    """Spans that come in parts, from several sources -> answers, when nothing more is waited for.

    A trace is whole when its top has come, a span without a parent, and all the parents that its spans name.
    """

    quiet_s = 120.0  # a trace of which no span has come for so long is not waited for
    grace_s = 10.0  # in which other programs may still send spans of a trace that seems whole

    def __init__(self) -> None:
        self.newest = 0.0  # the time of the last end of a span
        self.n_taken = 0
        self._open: dict[object, list[TraceStep]] = {}
        self._ends: dict[object, float] = {}
        self._sources: dict[object, set[object]] = {}

    def add(self, step: TraceStep, source: object, latest: float) -> None:
        """Take a span. latest: no span of this source can have ended later, whatever its clock says."""
        ended = -math.inf if step.started is None else min(latest, step.started + (step.latency_s or 0.0))
        trace = object() if step.trace is None else step.trace
        self.newest = max(self.newest, ended)
        self._open.setdefault(trace, []).append(step)
        self._ends[trace] = max(ended, self._ends.get(trace, ended))
        self._sources.setdefault(trace, set()).add(source)

    def take(self, now: float, *, grace_s: float) -> list[tuple[int, dict[str, Any]]]:
        """Return the answers in the traces that were quiet for quiet_s then, whole ones for grace_s.

        As answers_of, but traces in which nothing was asked are none, and what evaluators say of no answer
        here is a row with `evaluations` alone.
        """
        done = [
            trace
            for trace, steps in self._open.items()
            if (ended := self._ends[trace]) + grace_s < now
            and (ended + self.quiet_s < now or _is_whole(steps))
        ]
        self.n_taken += len(done)
        for trace in done:
            del self._ends[trace], self._sources[trace]
        traces = _traces(step for trace in done for step in self._open.pop(trace))
        return [(number, row) for number, row, _ in _rows_with_spans(traces, unplaced=True)]

    def nothing_asked(self, where: str) -> DataError:
        """Return the error for traces without a question."""
        return _nothing_asked(where, self.n_taken)

    def sources(self) -> set[object]:
        """Return where the spans come from that were not taken."""
        return set().union(*self._sources.values())


def _is_whole(steps: Sequence[TraceStep]) -> bool:
    spans = [step for step in steps if step.evaluation is None]
    ids = {step.id for step in spans}
    parents = {step.parent for step in spans if not step.logged}
    return not spans or (None in parents and ids | {None} >= parents)


def _without_evaluators(steps: Iterable[TraceStep]) -> list[TraceStep]:
    """Return the spans that are not of an evaluator, nor below one: what a judge was asked is no question."""
    steps = list(steps)
    waiting = [step.id for step in steps if step.kind == "evaluator"]
    if not waiting:
        return steps
    below: dict[str | None, list[str | None]] = {}
    for step in steps:
        below.setdefault(step.parent, []).append(step.id)
    theirs: set[str | None] = set()
    while waiting:
        name = waiting.pop()
        if name is not None and name not in theirs:
            theirs.add(name)
            waiting += below.get(name, ())
    return [step for step in steps if step.id not in theirs and step.kind != "evaluator"]


def _traces(steps: Iterable[TraceStep]) -> list[list[TraceStep]]:
    traces: dict[object, list[TraceStep]] = {}
    said: dict[str | None, tuple[str | None, str | None]] = {}
    steps = _without_evaluators(steps)
    replies = {step.reply: step for step in steps if step.reply and step.evaluation is None}
    for step in steps:
        if step.evaluation is not None and step.trace is None and step.reply in replies:
            of = replies[step.reply]
            step = msgspec.structs.replace(step, trace=of.trace, parent=of.id)
        # Neither those without an id nor those that share one with another question are one trace.
        alone = step.trace is None or (
            step.kind == "trace" and said.setdefault(step.trace, _said(step)) != _said(step)
        )
        traces.setdefault(object() if alone else step.trace, []).append(step)
    return [*traces.values()]


def _rows_with_spans(
    traces: Iterable[list[TraceStep]], *, unplaced: bool = False
) -> list[tuple[int, dict[str, Any], list[TraceStep]]]:
    """Return the rows of traces; unplaced: evaluations of no answer in them are rows of their own."""
    rows: list[tuple[int, dict[str, Any], list[TraceStep]]] = []
    for trace in traces:
        answered = _answered(trace)
        left = _place_evaluations([step for step in trace if step.evaluation is not None], answered)
        rows += [(min(step.number for step in inside), row, inside) for row, inside in answered]
        if left and unplaced:
            listed = [step.evaluation for step in left]
            alone = {"evaluations": listed, "metadata": {"trace_id": left[0].trace}}
            rows.append((left[0].number, alone, left))
    only = _only_system(row for _, row, _ in rows)
    return [(number, only | row if "question" in row else row, inside) for number, row, inside in rows]


def answers_with_spans(steps: Iterable[TraceStep]) -> list[tuple[dict[str, Any], list[TraceStep]]]:
    """Return the rows of answers_of, each with its spans, the one that it is the answer of first."""
    answered = [each for trace in _traces(steps) for each in _answered(trace)]
    only = _only_system(row for row, _ in answered)
    return [(only | row, _top_first(inside)) for row, inside in answered]


def _top_first(steps: Sequence[TraceStep]) -> list[TraceStep]:
    top = _top(steps)
    return [top, *(step for step in steps if step is not top)]


def evaluated_answers(
    steps: Iterable[TraceStep],
) -> list[tuple[dict[str, Any], list[TraceStep]]]:
    """Return what answers_with_spans does, with what evaluators say in the metadata, and all other traces.

    A trace in which nothing was asked has an empty row.
    """
    pairs: list[tuple[dict[str, Any], list[TraceStep]]] = []
    for trace in _traces(steps):
        rows = _rows_with_spans([trace])
        spans = [step for step in trace if step.evaluation is None]
        pairs += [(row, _top_first(inside)) for _, row, inside in rows]
        pairs += [({}, _top_first(spans))] if spans and not rows else []
    return pairs


def _answered(trace: Sequence[TraceStep]) -> list[tuple[dict[str, Any], list[TraceStep]]]:
    """Return the row of each answer in a trace, with the spans that it is made of."""
    spans = _in_time([step for step in trace if step.evaluation is None])
    return [
        (row, inside)
        for place, inside in enumerate(_exchanges(spans) if spans else (), 1)
        if (row := _row(inside, place)) is not None
    ]


def _only_system(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the system of all rows where only one is named: those without one are of it, too."""
    systems = {row["system"] for row in rows if "system" in row}
    return {"system": next(iter(systems))} if len(systems) == 1 else {}


def _place_evaluations(
    evaluations: Sequence[TraceStep], answered: Sequence[tuple[dict[str, Any], Sequence[TraceStep]]]
) -> list[TraceStep]:
    """Put evaluations to the answers that they are of; return those of which nobody knows that.

    Of several answers it is that with the span; the only one also has what names no span, or one that has not
    come.
    """
    left = []
    for step in evaluations:
        of = [row for row, inside in answered if step.parent in {span.id for span in inside if span.id}]
        of = of or [row for row, _ in answered[:1] if len(answered) == 1]
        if of:
            of[0].setdefault("metadata", {}).setdefault("evaluations", []).append(step.evaluation)
        else:
            left.append(step)
    return left


def _said(step: TraceStep) -> tuple[str | None, str | None]:
    return step.asked, step.answered


def _in_time(steps: Sequence[TraceStep]) -> list[TraceStep]:
    """Return the spans of a trace by the time they begin; one without a time stays behind that before it."""
    by_id: dict[object, TraceStep] = {}
    for step in steps:
        key = step.id or object()
        known = by_id.get(key)
        by_id[key] = (
            step if known is None or not (known.logged or step.logged) else _told_together(known, step)
        )
    once = by_id.values()
    times = accumulate(
        once, lambda now, step: now if step.started is None else step.started, initial=-math.inf
    )
    return [step for _, step in sorted(zip(islice(times, 1, None), once, strict=True), key=itemgetter(0))]


_TOLD_BY_EVENTS = (
    "asked",
    "answered",
    "calls",
    "chosen",
    "model",
    "tokens",
    "error",
    "started",
    "kind",
    "notes",
    "service",
)


def _told_together(first: TraceStep, second: TraceStep) -> TraceStep:
    """Return a span with what log events tell of it; of two events what the first does not tell."""
    base, events = (second, first) if first.logged and not second.logged else (first, second)
    lacking = {
        name: told
        for name in _TOLD_BY_EVENTS
        if getattr(base, name) in (None, (), "other", {}) and (told := getattr(events, name)) is not None
    }
    return msgspec.structs.replace(base, number=min(first.number, second.number), **lacking)


def _exchanges(steps: list[TraceStep]) -> list[list[TraceStep]]:
    """Return the exchanges of a trace: mostly one; of a session the spans that were asked one after another.

    Those have one name and no parent, or the same one, which was asked nothing itself. Where it is not a span
    but the first model below it that was asked, each was asked something else.
    """
    if any(step.kind == "trace" and step.asked for step in steps):
        return [steps]
    by_id = {step.id: step for step in steps if step.id}
    roots = [step for step in steps if step.parent not in by_id]
    if len(roots) == 1 and not (roots[0].asked or roots[0].answered):
        tops = [step for step in steps if step.parent == roots[0].id]
    else:
        tops = [step for step in roots if step.parent is None]
    tops = [step for step in tops if step.kind == "other"]
    below = {step.id: step.asked for step in tops}
    above = _tops_above(steps, by_id, below)
    for step in steps:
        if step.kind == "model" and step.asked and (top := above[step.parent]) is not None:
            below[top] = below[top] or step.asked
    tops = [step for step in tops if below[step.id]]
    again = any(one.asked is None and below[one.id] == below[two.id] for one, two in pairwise(tops))
    if (
        len(tops) < 2
        or len({step.name for step in tops}) > 1
        or again
        or any(starmap(_overlap, pairwise(tops)))
    ):
        return [steps]
    found: dict[str | None, list[TraceStep]] = {step.id: [step] for step in tops}
    parents = {top.parent for top in tops}
    whole = [step for step in roots if step.id not in found and step.id in parents]
    apart = {id(step) for step in whole}
    above = _tops_above(steps, by_id, found)
    last_before = _last_before(tops)
    for step in steps:
        if step.id not in found and id(step) not in apart:
            found[above[step.parent] or last_before(step)].append(step)
    notes = {name: value for step in whole for name, value in step.notes.items()}
    for inside in found.values():
        inside[0] = msgspec.structs.replace(inside[0], parent=None, notes={**notes, **inside[0].notes})
    return [*found.values()]


def _overlap(one: TraceStep, other: TraceStep) -> bool:
    return (one.started or 0.0) + (one.latency_s or 0.0) > (other.started or math.inf) + 1e-3


def _tops_above(
    steps: Iterable[TraceStep], by_id: Mapping[str, TraceStep], tops: Mapping[str | None, object]
) -> dict[str | None, str | None]:
    """Return parent -> the top that its children are below; None for none, and where parents go in a circle.

    What is found on the way up is kept for all that was passed, so a chain costs its length.
    """
    found: dict[str | None, str | None] = {None: None}
    for step in steps:
        passed: list[str] = []
        parent = step.parent
        while parent is not None and parent not in found and parent not in tops:
            found[parent] = None  # a circle ends here
            passed.append(parent)
            parent = by_id[parent].parent if parent in by_id else None
        top = found.get(parent, parent)
        found |= dict.fromkeys([*passed, parent], top)
    return found


def _last_before(tops: Sequence[TraceStep]) -> Callable[[TraceStep], str | None]:
    """Return what finds the last top that had begun when a span did, else the first."""
    # The least start from each top on: it never falls, so the last that fits is found by halving.
    starts = [*accumulate((top.started or 0.0 for top in reversed(tops)), min)][::-1]
    return lambda step: tops[max(0, bisect_right(starts, step.started or 0.0) - 1)].id


def _row(steps: Sequence[TraceStep], place: int) -> dict[str, Any] | None:
    top = _top(steps)
    said = [step for step in steps if step.kind not in _LOOKUPS]
    if not said and (
        top.kind in ("reranker", "embedding") or (top.kind == "retriever" and top.error is None)
    ):
        return None
    question = top.asked or next((step.asked for step in said if step.asked), None)
    if question is None:
        return None
    models = [step for step in steps if step.kind == "model"]
    # Where events alone tell of a trace, nobody knows its top: it is none of the models.
    answer = None if top.logged else top.answered
    if answer is None:
        answer = next((step.answered for step in reversed(models) if step.answered is not None), None)
    error = top.error
    if answer is None and error is None:
        error = next((step.error for step in reversed(steps) if step.error), NO_OUTPUT)
    names = {step.model for step in models if step.model}
    service = top.service or next((step.service for step in steps if step.service), None)
    row = {
        "question": question,
        "answer": "" if error else answer,
        "system": service or (next(iter(names)) if len(names) == 1 else None),
        "contexts": _contexts(steps),
        "steps": _calls(steps) or None,
        "latency_s": _whole_time(steps) if _is_without_time(steps, top) else top.latency_s,
        "usage": _usage(models) or _usage([top]),
        "cost_usd": _cost(models, top),
        "error": error,
        "metadata": ({"model": ", ".join(sorted(names))} if service and names else {})
        | _notes(steps, top)
        | ({"service": service} if service else {})
        | ({"exchange": place} if place > 1 else {})
        or None,
    }
    return {field: value for field, value in row.items() if value is not None}


def _is_without_time(steps: Sequence[TraceStep], top: TraceStep) -> bool:
    """Whether no span has the time of the whole trace: the top has not come, and left several below it."""
    if top.kind == "trace":
        return top.latency_s is None
    return top.parent is not None and not top.logged and len(_roots(steps)) > 1


def _whole_time(steps: Sequence[TraceStep]) -> float | None:
    ended = [one.started + (one.latency_s or 0.0) for one in steps if one.started is not None]
    return (
        None
        if not ended
        else round(max(ended) - min(one.started for one in steps if one.started is not None), 6)
    )


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
        | ({"span_id": top.id} if top.id and _SPAN_ID.fullmatch(top.id) else {})
    )


def _top(steps: Sequence[TraceStep]) -> TraceStep:
    """Return the trace itself, else the first span that has no parent here and was asked something.

    One that looks something up is that only where no other was asked.
    """
    roots = _roots(steps)
    with_question = [step for step in roots if step.asked]
    return next(
        (step for step in with_question if step.kind == "trace"),
        next((step for step in with_question if step.kind not in _LOOKUPS), (with_question or roots)[0]),
    )


def _roots(steps: Sequence[TraceStep]) -> list[TraceStep]:
    ids = {step.id for step in steps if step.id}
    return [step for step in steps if step.parent not in ids] or list(steps)


def _contexts(steps: Sequence[TraceStep]) -> list[dict[str, Any]] | None:
    ranked = [step.contexts for step in steps if step.kind == "reranker" and step.contexts is not None]
    found = ranked[-1:] or [
        step.contexts for step in steps if step.kind == "retriever" and step.contexts is not None
    ]
    if not found:
        return None
    return list({context["text"]: context for some in found[::-1] for context in some[::-1]}.values())[::-1]


def tool_call(call: Mapping[str, Any], *, error: str | None, seconds: float | None) -> Call:
    """Return the call that a span is of: `id`, `tool`, `arguments` and `result` as far as they are told.

    Of a result that is a tool's message it is what that says, and an error where it says so.
    """
    given = call.get("result")
    inside = decoded(given)
    message = next(iter(plain_messages([inside])), {}) if isinstance(inside, Mapping) else {}
    if message.get("role") == "tool":
        text = content_in(message) or ""
        given, error = (None, error or text) if message.get("failed") else (text, error)
    told = {**call, "result": result_text(given), "error": error, "seconds": seconds}
    return step_row(told) | {"id": None if call.get("id") is None else str(call["id"])}


def _calls(steps: Iterable[TraceStep]) -> list[Call]:
    """Return the calls of tools in order: those that have a span, and those that only messages tell of.

    A call that a model chose knows its tokens and why; its span how long it took and what came of it. A tool
    directly below one of the same name is that one, seen by the protocol that it is called through.
    """
    steps = list(steps)
    calls = _Calls()
    tools: dict[str, str] = {}
    for step in steps:
        if step.kind == "model":
            calls.tell(step.calls)
        calls.choose(step.chosen, None if step.tokens is None else sum(step.tokens[:2]))
        if step.call is not None:
            if tools.get(step.parent or "") != step.call["tool"]:
                calls.run(step.call)
            tools |= {step.id: step.call["tool"]} if step.id else {}
    for step in steps:
        if step.kind != "model":
            calls.tell(step.calls)
    return [{name: value for name, value in call.items() if name != "id"} for call in calls.taken]


_OUTCOME = {"result", "error"}


class _Calls:
    """The calls of a trace, each once, whoever tells of it. taken: in the order in which they are told."""

    def __init__(self) -> None:
        self.taken: list[Call] = []
        self._all: dict[object, list[Call]] = {}
        self._open: dict[object, deque[Call]] = {}  # that have no span yet
        self._run: set[int] = set()

    def _add(self, call: Call) -> Call:
        self.taken.append(call)
        for key in _keys(call):
            self._all.setdefault(key, []).append(call)
            self._open.setdefault(key, deque()).append(call)
        return call

    def tell(self, history: Iterable[Call]) -> None:
        """Take the calls that stand in what a model was given, with what came of them."""
        seen: Counter[object] = Counter()
        for call in history:
            key = _keys(call)[0]
            known = self._all.get(key, [])
            if seen[key] < len(known):
                same = known[seen[key]]
                told = _OUTCOME if same.keys() & _OUTCOME else set()
                same |= {name: call[name] for name in call.keys() - same.keys() - told}
            else:
                self._add(dict(call))
            seen[key] += 1

    def choose(self, chosen: Iterable[Call], tokens: int | None) -> None:
        """Take the calls that a model says shall be made."""
        spent = {} if tokens is None else {"tokens": tokens}
        for call in chosen:
            if call["id"] is None or _keys(call)[0] not in self._all:
                self._add(call | spent)

    def run(self, call: Call) -> None:
        """Take the call that a span is of."""
        for key in _keys(call):
            waiting = self._open.get(key, deque())
            while waiting and id(waiting[0]) in self._run:
                waiting.popleft()
            if waiting:
                known = waiting.popleft()
                known |= {name: value for name, value in call.items() if value not in (None, {})}
                break
        else:
            known = self._add(dict(call))
        self._run.add(id(known))


def _keys(call: Call) -> list[object]:
    """Return what a call is known by: its id, else the tool with its arguments."""
    named = (call["tool"], msgspec.json.encode(call["arguments"], order="sorted", enc_hook=str))
    return [named] if call["id"] is None else [("id", call["id"]), named]


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
    if known and len(known) == len(models):
        return sum(known)
    return top.cost_usd if top.kind == "other" else None
