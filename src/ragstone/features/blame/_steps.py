"""What an agent did, beside the calls that were expected of it -> what went wrong there."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import compress

import msgspec
from msgspec.structs import replace

from ragstone.kernel.dataset.numbers import held_values, stated_values
from ragstone.kernel.judging.conversation import call_text
from ragstone.kernel.judging.lexical import context_overlap
from ragstone.kernel.judging.trajectory import ExpectedCall, differences, expected_calls, pair_calls
from ragstone.kernel.records import Answer, Step, references
from ragstone.kernel.runs.causes import Cause

SHOWN = 120  # characters of an answer, a call or a result within a sentence


class StepFault(msgspec.Struct, frozen=True):
    """What went wrong among the steps, and the evidence in one plain sentence."""

    cause: Cause
    because: str


class AgentSteps(msgspec.Struct, frozen=True, kw_only=True):
    """What the steps of an answer tell of a lost point.

    expected: whether the row says which calls were needed. departure: the first of these that was not made
    so, or failed. failed: a call that failed, and whose tool brought nothing after it, where the row does not
    say what was needed. holds: whether what the tools brought holds the reference, None where nobody has
    told; brought: the call whose result has most of it, with the result.
    """

    expected: bool = False
    departure: StepFault | None = None
    failed: StepFault | None = None
    holds: bool | None = None
    brought: str = ""


def read_steps(answer: Answer) -> AgentSteps | None:
    """Return what an answer's steps tell by themselves; None without steps. Time: linear in the steps.

    A conversation that calls no tool has taken no step, which tells something where some were expected.
    Raises ValueError for expected calls in another form, see expected_calls.
    """
    if answer.steps is None and answer.turns is None:
        return None
    steps, expected = answer.steps or [], expected_calls(answer)
    if not steps and not expected:
        return None
    if expected is None:
        return AgentSteps(failed=_lasting(steps))
    return AgentSteps(expected=True, departure=_departure(steps, expected))


def _departure(steps: Sequence[Step], expected: Sequence[ExpectedCall]) -> StepFault | None:
    """Return how the steps lack an expected call, of the first that they lack; None if they have them all.

    Arguments that no expected call of the tool has do not count: most are optional, and right as they are.
    """
    named: defaultdict[str, set[str]] = defaultdict(set)
    for call in expected:
        named[call.tool] |= {*(call.arguments or ())}
    bare = [
        replace(
            step,
            arguments={name: step.arguments[name] for name in step.arguments if name in named[step.tool]},
        )
        for step in steps
    ]
    places = pair_calls(bare, expected)
    spare = [steps[at] for at in sorted({*range(len(steps))}.difference(places))]
    for call, position in zip(expected, places, strict=True):
        wanted = Step(tool=call.tool, arguments=dict(call.arguments or {}))
        needed = f"The expected steps include {short(call_text(wanted) if call.arguments else call.tool)}"
        if position is None:
            instead = f"called {_called(spare[0])} instead" if spare else "did not call it"
            return StepFault("wrong tool", f"{needed}; the agent {instead}.")
        step = steps[position]
        if call.arguments is not None and differences(call.arguments, bare[position].arguments):
            return StepFault("wrong arguments", f"{needed}; the agent called {_called(step)}.")
        if step.error is not None:
            return StepFault("tool failed", f"{needed}; it was called, but {_failure(step)}.")
    return None


def _lasting(steps: Sequence[Step]) -> StepFault | None:
    """Return the first failure of a tool that brought nothing after it."""
    last = {step.tool: at for at, step in enumerate(steps) if step.error is None}
    lasting = (step.error is not None and last.get(step.tool, -1) < at for at, step in enumerate(steps))
    step = next(compress(steps, lasting), None)
    if step is None:
        return None
    sentence = f"{_called(step)} {_failure(step)}; no later call of this tool succeeded."
    return StepFault("tool failed", sentence)


def results_of(answer: Answer) -> list[str]:
    """Return what an answer's tools brought."""
    return [step.result or "" for step in _fruitful(answer)]


def has_figures(answer: Answer) -> bool:
    """Return whether the answer has every number of the reference; words alone are alike for many things."""
    held = held_values(answer.answer)
    return any(all(values & held for values in stated_values(reference)) for reference in references(answer))


def telling_result(answer: Answer) -> str:
    """Return the call whose result has most of the reference's words, and what it brought, in words."""
    wanted = " ".join(references(answer))
    step = max(_fruitful(answer), key=lambda step_of: context_overlap(wanted, step_of.result or ""))
    return f"{_called(step)} brought “{short(step.result or '')}”"


def _fruitful(answer: Answer) -> list[Step]:
    return [step for step in answer.steps or () if step.result and step.error is None]


def _failure(step: Step) -> str:
    return f"failed: {short(step.error or 'no reason is given')}"


def _called(step: Step) -> str:
    return short(call_text(step))


def short(text: str) -> str:
    """Return a text on one line, cut where it is long, without the full stop at its end."""
    plain = " ".join(text.split()).rstrip(".。")
    return plain if len(plain) <= SHOWN else plain[:SHOWN].rstrip() + "…"
