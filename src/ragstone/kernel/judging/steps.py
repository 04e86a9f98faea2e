"""Kind `steps`: did an agent call the right tools, with the right arguments, without errors and waste?

No model is asked. Each measure gives a verdict on each step, and its score follows from these.
"""

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar

import msgspec

from ragstone.kernel.errors import nearest, plural
from ragstone.kernel.judging._schema import misfit
from ragstone.kernel.judging.contexts import share_of
from ragstone.kernel.judging.conversation import call_text
from ragstone.kernel.judging.fields import ZERO_TO_ONE, JudgeFields, Order, Scale
from ragstone.kernel.judging.finding import CriterionOutcome, Finding, JudgeContext, lacks, not_applicable
from ragstone.kernel.judging.lexical import language_match
from ragstone.kernel.judging.matching import PREFIX, spoken, word_weight
from ragstone.kernel.judging.trajectory import (
    EXPECTED_STEPS,
    TOOLS,
    ExpectedCall,
    differences,
    expected_calls,
    in_any_order,
    in_order,
    normal,
    pair_calls,
    tools_of,
)
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, StatementsOf, Step, Verdict

LASTING = "tool_errors_lasting"
NO_CALL = "the agent called no tool"
NO_EXPECTED = f"the row does not say which steps are expected: give it a column {EXPECTED_STEPS[0]}"
EXPECTED: StatementsOf = "expected_steps"
NEVER = "never called"
NOT_EXPECTED = "not expected"
OUT_OF_ORDER = "out of order"
MOST_NAMED = 5  # steps in a rationale
LONGEST = 300  # characters of a call, or of an error, that a verdict shows
LEAST_TOLD = 3  # such words in a result: `sent` and `ok` leave no trace and are of use
TELLING = 0.5  # the weight from which on a word that two texts share says something

Faults = Mapping[int, str]
"""A step's place, from 0, -> what is wrong with it."""


def find_choice(judge: "StepsJudge", answer: Answer, steps: Sequence[Step]) -> Finding:
    """Return how far the tools that were called are those expected.

    order `in_order` and `any_order`: 2 m / (calls + expected calls), m being those that are both; `subset`:
    the share of calls that are expected; `superset`: the share of expected calls that were made. A call that
    failed and was tried again counts once.
    """
    expected = expected_calls(answer)
    if expected is None:
        return not_applicable(NO_EXPECTED)
    if not steps and not expected:
        return Finding(score=1.0, rationale="no tool was expected, and none was called")
    if not steps and judge.order == "subset":
        return not_applicable(NO_CALL)
    if not expected and judge.order == "superset":
        return not_applicable("the row expects no call")
    counted = _tried_last(steps)
    names, wanted = [steps[at].tool for at in counted], [call.tool for call in expected]
    pairs = in_order(names, wanted) if judge.order == "in_order" else in_any_order(names, wanted)
    beyond = {counted[at]: names[at] for at in sorted({*range(len(names))} - {at for at, _ in pairs})}
    missing = {at: wanted[at] for at in sorted({*range(len(wanted))} - {at for _, at in pairs})}
    wrong = _faults_of(beyond, missing, tools_of(answer))
    late = f"called {OUT_OF_ORDER}"
    lacking = {at: late if tool in beyond.values() else NEVER for at, tool in missing.items()}
    of_steps = verdicts_of(steps, wrong, counted) if judge.order != "superset" else []
    lines = fault_lines(steps, wrong) if of_steps else []
    if judge.order == "subset":
        return Finding(score=len(pairs) / len(names), rationale=_joined(lines), verdicts=of_steps)
    never = [tool for at, tool in missing.items() if lacking[at] == NEVER][:MOST_NAMED]
    lines += [f"{NEVER}: {', '.join(never)}"] if never else []
    of_expected = [
        Verdict(id=at + 1, statement=tool, supported=at not in missing, reason=lacking.get(at), of=EXPECTED)
        for at, tool in enumerate(wanted)
    ]
    n_compared = 2 * len(wanted) if judge.order == "superset" else len(names) + len(wanted)
    return Finding(
        score=2 * len(pairs) / n_compared, rationale=_joined(lines), verdicts=of_steps + of_expected
    )


def _tried_last(steps: Sequence[Step]) -> list[int]:
    """Return the places of the calls, without those that failed and were made again."""
    later: set[Hashable] = set()
    places = []
    for at in reversed(range(len(steps))):
        key = _key(steps[at])
        if steps[at].error is None or key not in later:
            places.append(at)
        later.add(key)
    return places[::-1]


def _faults_of(
    beyond: Mapping[int, str], missing: Mapping[int, str], tools: Collection[str] | None
) -> dict[int, str]:
    """Return what is wrong with calls, given as place -> tool, that are no expected ones."""
    late = set(missing.values())
    return {
        at: OUT_OF_ORDER if tool in late else no_such(tool, tools) or NOT_EXPECTED
        for at, tool in beyond.items()
    }


def find_arguments(judge: "StepsJudge", answer: Answer, steps: Sequence[Step]) -> Finding:
    """Return the share of calls whose arguments are right, of those of which that can be told.

    Beside a reference: the calls of expected tools, compared with it. Without one: all calls of tools whose
    schema the row or the judge's file gives.
    """
    expected = expected_calls(answer)
    if expected is not None:
        return _by_reference(steps, expected)
    listed = tools_of(answer) or {}
    tools = judge.tools | {tool: schema or judge.tools.get(tool) for tool, schema in listed.items()}
    if not any(tools.values()):
        return not_applicable(
            f"{NO_EXPECTED}, or the schemas of its tools in {TOOLS[0]}; the judge's file may give them too"
        )
    if not steps:
        return not_applicable(NO_CALL)
    faults: dict[int, str] = {}
    checked = []
    for at, step in enumerate(steps):
        schema = tools.get(step.tool)
        if wrong := no_such(step.tool, tools):
            faults[at] = wrong
        elif schema is None:
            continue
        elif wrong := misfit(step.arguments, schema, f"the schema of {step.tool}"):
            faults[at] = f"does not fit the schema of the tool: {wrong}"
        checked.append(at)
    if not checked:
        return not_applicable("no tool that was called has a schema")
    return _share(steps, faults, checked)


def _by_reference(steps: Sequence[Step], expected: Sequence[ExpectedCall]) -> Finding:
    faults: dict[int, str] = {}
    checked = []
    for call, at in zip(expected, pair_calls(steps, expected), strict=True):
        if at is None or call.arguments is None:
            continue
        checked.append(at)
        if differing := differences(call.arguments, steps[at].arguments):
            faults[at] = "; ".join(f"{name} {difference}" for name, difference in differing.items())
    if not any(call.arguments is not None for call in expected):
        return not_applicable("the row expects no arguments")
    if not checked:
        return not_applicable(NO_CALL if not steps else "none of the expected tools was called")
    return _share(steps, faults, sorted(checked))


def find_errors(_judge: "StepsJudge", _answer: Answer, steps: Sequence[Step]) -> Finding:
    """Return the share of calls that failed; its part is the share that no retry made good.

    A retry is a later call of the same tool with the same arguments.
    """
    if not steps:
        return not_applicable(NO_CALL)
    good: dict[Hashable, int] = {}  # a call -> the last place at which it succeeded
    keys = [_key(step) for step in steps]
    for at, step in enumerate(steps):
        if step.error is None:
            good[keys[at]] = at
    faults: dict[int, str] = {}
    lasting = 0
    for at, step in enumerate(steps):
        if step.error is None:
            continue
        again = good.get(keys[at], -1) > at
        lasting += not again
        faults[at] = f"failed: {_cut(step.error)}{'; a retry succeeded' if again else ''}"
    rationale = f"failed and never succeeded: {share_of(lasting, len(steps), 'call')}"
    return Finding(
        score=len(faults) / len(steps),
        rationale=_joined(fault_lines(steps, faults)),
        verdicts=verdicts_of(steps, faults),
        parts=(
            CriterionOutcome(
                metric=LASTING, score=lasting / len(steps), rationale=rationale if faults else None
            ),
        ),
        metadata={"calls": len(steps), "failed": len(faults), "retried": len(faults) - lasting},
    )


def find_waste(_judge: "StepsJudge", answer: Answer, steps: Sequence[Step]) -> Finding:
    """Return the share of calls that were not wasted.

    Wasted is a call that repeats one which had succeeded; one whose result is used nowhere; and, where the
    row says which steps are expected, any other one that did not fail. An expected one never is.
    """
    if not steps:
        return not_applicable(NO_CALL)
    expected = expected_calls(answer)
    paired = set() if expected is None else set(pair_calls(steps, expected))
    repeated, unused = repeats_in(steps), unused_in(answer, steps)
    faults: dict[int, str] = {}
    n: Counter[str] = Counter()
    for at, step in enumerate(steps):
        if at in paired:
            continue
        if at in repeated:
            why, faults[at] = "repeated", f"repeats step {repeated[at] + 1}"
        elif at in unused:
            why, faults[at] = "unused", "its result is used nowhere"
        elif expected is not None and step.error is None:
            why, faults[at] = "beyond", NOT_EXPECTED
        else:
            continue
        n[why] += 1
    counts = {"calls": len(steps), **{why: n[why] for why in ("repeated", "unused", "beyond")}}
    return msgspec.structs.replace(_share(steps, faults, range(len(steps))), metadata=counts)


def repeats_in(steps: Sequence[Step]) -> dict[int, int]:
    """Return the place of each call that had succeeded before with the same arguments, and of the first."""
    first: dict[Hashable, int] = {}
    repeated = {}
    for at, step in enumerate(steps):
        key = _key(step)
        if key in first:
            repeated[at] = first[key]
        elif step.error is None:
            first[key] = at
    return repeated


def unused_in(answer: Answer, steps: Sequence[Step]) -> set[int]:
    """Return the places of calls whose result leaves no trace in the answer or in later calls' arguments.

    A trace is a number, or the beginning of a word that few texts hold, that neither the question nor the
    call itself has. A result with fewer than three of these (`ok`) may be of use, and so may all results
    where the answer is in another language.
    """
    in_question = _beginnings(answer.question or "")
    later = _beginnings(answer.answer)
    unused = set()
    for at in reversed(range(len(steps))):
        step = steps[at]
        own = _beginnings(_values(step.arguments))
        if step.error is None and step.result:
            telling = _beginnings(step.result) - in_question - own
            if len(telling) >= LEAST_TOLD and later.isdisjoint(telling):
                unused.add(at)
        later |= own
    results = "\n".join(steps[at].result or "" for at in sorted(unused)[:MOST_NAMED])
    return set() if unused and language_match(answer.answer, results) == 0 else unused


def _beginnings(text: str) -> set[str]:
    """Return the beginnings of the words of a text that few texts hold, and its numbers."""
    return {word[:PREFIX] for word in spoken(text) if word.isdecimal() or word_weight(word) >= TELLING}


def _values(value: object) -> str:
    """Return the texts and numbers in arguments, without their names."""
    if isinstance(value, Mapping):
        value = list(value.values())
    return " ".join(map(_values, value)) if isinstance(value, list) else str(value)


def verdicts_of(steps: Sequence[Step], faults: Faults, places: Iterable[int] | None = None) -> list[Verdict]:
    """Return a verdict on each step, or on those of some places; its number is the step's, from 1."""
    return [
        Verdict(
            id=at + 1,
            statement=_cut(call_text(steps[at])),
            supported=at not in faults,
            reason=faults.get(at),
            of="steps",
        )
        for at in (range(len(steps)) if places is None else places)
    ]


def fault_lines(steps: Sequence[Step], faults: Faults) -> list[str]:
    """Return `step 3: weather: place expected Nakuru, got Nairobi`, of the first of them."""
    lines = [f"step {at + 1}: {steps[at].tool}: {faults[at]}" for at in sorted(faults)[:MOST_NAMED]]
    more = len(faults) - MOST_NAMED
    return [*lines, f"and {plural(more, 'other step')}"] if more > 0 else lines


def _share(steps: Sequence[Step], faults: Faults, places: Sequence[int]) -> Finding:
    return Finding(
        score=1 - len(faults) / len(places),
        rationale=_joined(fault_lines(steps, faults)),
        verdicts=verdicts_of(steps, faults, places),
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def no_such(tool: str, tools: Collection[str] | None) -> str | None:
    """Return that the agent has no such tool; None where it has, or nobody says which it has."""
    if not tools or tool in tools:
        return None
    near = get_close_matches(tool, tools, n=1)
    return f"no such tool (did you mean {near[0]}?)" if near else "no such tool"


def _key(step: Step) -> Hashable:
    return step.tool, normal(step.arguments)


def _joined(lines: Sequence[str]) -> str | None:
    return "; ".join(lines) or None


MEASURES_OF_STEPS: dict[str, Callable[["StepsJudge", Answer, Sequence[Step]], Finding]] = {
    "choice": find_choice,
    "arguments": find_arguments,
    "errors": find_errors,
    "efficiency": find_waste,
}


class StepsJudge(JudgeFields, frozen=True, kw_only=True, tag="steps"):
    """A judge of the steps of an agent that calls no model.

    measure: one of those above. order: how the calls are compared with those expected, for `choice`; see
    find_choice. tools: tool -> JSON Schema of its arguments, for `arguments`; those of a row go before.
    """

    measure: str
    order: Order = "any_order"
    tools: dict[str, dict[str, Any]] = {}

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    asks_model: ClassVar[bool] = False
    reads_texts: ClassVar[bool] = False

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements: its score's, and of errors those that lasted."""
        return [self.measures, *([LASTING] if self.measure == "errors" else [])]

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if self.measure not in MEASURES_OF_STEPS:
            yield "measure", f"measure = {self.measure!r}. {nearest(self.measure, MEASURES_OF_STEPS)}"
        if "steps" not in self.inputs:
            yield "inputs", 'a judge of kind steps reads the steps: write inputs = ["steps"].'
        for key, is_set, measure in (
            ("order", self.order != "any_order", "choice"),
            ("tools", bool(self.tools), "arguments"),
        ):
            if is_set and self.measure != measure:
                yield key, f'{key} means nothing for measure = "{self.measure}": it is for "{measure}".'

    async def find(self, answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
        """Return what the measure finds. Raises CallFailed where the row expects what cannot be read."""
        steps = answer.steps
        if steps is None and answer.turns is not None:
            steps = []  # a conversation without a call
        if steps is None:
            return not_applicable(lacks("steps"))
        try:
            return MEASURES_OF_STEPS[self.measure](self, answer, steps)
        except ValueError as mistake:
            raise CallFailed("error", str(mistake)) from None
        except RecursionError:
            raise CallFailed("error", "the arguments of a call are nested too deeply") from None
