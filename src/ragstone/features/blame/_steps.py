"""What an agent did, beside the calls that were expected of it -> what went wrong there."""

import re
from collections.abc import Sequence
from itertools import compress

import msgspec

from ragstone.features.blame._asked import conversation_with, short
from ragstone.features.blame._departures import OUTAGE, StepFault, called, failure, find_departure
from ragstone.kernel.corpus.numbers import holds_numbers
from ragstone.kernel.judging.lexical import context_overlap
from ragstone.kernel.judging.trajectory import expected_calls
from ragstone.kernel.records import Answer, Step, references

_BAD_CALL = re.compile(
    r"\b(?:Syntax|Indentation|Name|Type|Attribute|ModuleNotFound|Import)Error\b|unknown language|"
    r"(?i:missing (?:\d+ )?(?:required|parameter|argument)|unexpected (?:keyword|argument|parameter)|"
    r"invalid (?:argument|parameter|input|request|json)|validation error|bad request|unprocessable)"
)


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
    return AgentSteps(expected=True, departure=find_departure(steps, expected, conversation_with(answer)))


def _lasting(steps: Sequence[Step]) -> StepFault | None:
    """Return the first failure of a tool that brought nothing after it.

    It is the call's where the error says so: code that cannot run, arguments that are missing or not valid.
    """
    last = {step.tool: at for at, step in enumerate(steps) if step.error is None}
    lasting = (step.error is not None and last.get(step.tool, -1) < at for at, step in enumerate(steps))
    step = next(compress(steps, lasting), None)
    if step is None:
        return None
    sentence = f"{called(step)} {failure(step)}; no later call of this tool succeeded."
    error = step.error or ""
    if _BAD_CALL.search(error) and not OUTAGE.search(error):
        return StepFault("wrong arguments", f"{sentence} By its error, the call itself was wrong.")
    return StepFault("tool failed", sentence)


def results_of(answer: Answer) -> list[str]:
    """Return what an answer's tools brought."""
    return [step.result or "" for step in _fruitful(answer)]


def has_figures(answer: Answer) -> bool:
    """Return whether the answer has every number of the reference; words alone are alike for many things."""
    return any(holds_numbers(answer.answer, reference) for reference in references(answer))


def telling_result(answer: Answer) -> str:
    """Return the call whose result has most of the reference's words, and what it brought, in words."""
    wanted = " ".join(references(answer))
    step = max(_fruitful(answer), key=lambda step_of: context_overlap(wanted, step_of.result or ""))
    return f"{called(step)} brought “{short(step.result or '')}”"


def _fruitful(answer: Answer) -> list[Step]:
    return [step for step in answer.steps or () if step.result and step.error is None]
