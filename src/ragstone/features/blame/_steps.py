"""What an agent did, beside the calls that were expected of it -> what went wrong there."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import compress

import msgspec
from msgspec.structs import replace

from ragstone.features.blame._asked import Conversation, conversation_with, most_alike, short
from ragstone.kernel.dataset.numbers import held_values, stated_values
from ragstone.kernel.judging.conversation import call_text
from ragstone.kernel.judging.lexical import context_overlap
from ragstone.kernel.judging.trajectory import ExpectedCall, differences, expected_calls, pair_calls
from ragstone.kernel.records import Answer, Step, references
from ragstone.kernel.runs.causes import Cause

_OUTAGE = re.compile(
    r"(?i)time[sd]?.?out|unavailable|unreachable|connection|network|overload|rate.?limit|too many requests|"
    r"quota|internal|did not answer|no response|\b(?:429|5\d\d)\b"
)

_BAD_CALL = re.compile(
    r"\b(?:Syntax|Indentation|Name|Type|Attribute|ModuleNotFound|Import)Error\b|unknown language|"
    r"(?i:missing (?:\d+ )?(?:required|parameter|argument)|unexpected (?:keyword|argument|parameter)|"
    r"invalid (?:argument|parameter|input|request|json)|validation error|bad request|unprocessable|\b422\b)"
)


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
    return AgentSteps(expected=True, departure=_departure(steps, expected, conversation_with(answer)))


def _departure(
    steps: Sequence[Step], expected: Sequence[ExpectedCall], talk: Conversation | None
) -> StepFault | None:
    """Return how the steps lack an expected call, of the first that they lack; None if they have them all.

    Arguments that no expected call of the tool has do not count: most are optional, and right as they are. A
    failure that the agent got past counts last. Where the user's messages fit what the agent called instead,
    the expectation is doubtful, unless another call had wrong arguments or failed.
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
    faults: list[StepFault] = []
    passed: list[StepFault] = []
    doubtful: list[StepFault] = []
    unknown: list[StepFault] = []
    exact = [
        at if at is not None and not differences(call.arguments or {}, bare[at].arguments) else None
        for call, at in zip(expected, places, strict=True)
    ]
    last = max((at for at in exact if at is not None and steps[at].error is None), default=-1)
    loose = {at: step for at, step in enumerate(bare) if at not in exact}
    for position, (call, at) in enumerate(zip(expected, places, strict=True)):
        wanted = Step(tool=call.tool, arguments=dict(call.arguments or {}))
        needed = f"The expected steps include {short(call_text(wanted) if call.arguments else call.tool)}"
        if at is None or exact[position] is None:
            name, fits = (talk.unknown(call), _fits(call, loose, talk)) if talk else (None, None)
            if name is not None:
                sentence = f"{needed}, but nothing that was said or that a tool brought contains {short(name)}."
                unknown.append(StepFault("expected steps doubtful", sentence))
            elif fits is not None:
                doubtful.append(StepFault("expected steps doubtful", f"{needed}; {fits}."))
            elif at is None:
                instead = f"called {_called(spare[0])} instead" if spare else "did not call it"
                faults.append(StepFault("wrong tool", f"{needed}; the agent {instead}."))
            else:
                sentence = f"{needed}; the agent called {_called(steps[at])}."
                faults.append(StepFault("wrong arguments", sentence))
        elif steps[at].error is not None:
            early = next((step for step in exact[position + 1 :] if step is not None and step < at), None)
            if early is not None and not _OUTAGE.search(steps[at].error or ""):
                sentence = f"{needed} before {_called(steps[early])}; the agent called this first, and then"
                sentence = f"{sentence} the other {_failure(steps[at])}."
                if talk and talk.asked_later(call, early):
                    sentence = f"{sentence} The user had not asked for the other yet."
                    doubtful.append(StepFault("expected steps doubtful", sentence))
                else:
                    faults.append(StepFault("wrong order", sentence))
                continue
            fault = StepFault("tool failed", f"{needed}; it was called, but {_failure(steps[at])}.")
            (passed if at < last else faults).append(fault)
    return next(iter((*faults, *doubtful, *unknown, *passed)), None)


def _fits(call: ExpectedCall, loose: Mapping[int, Step], talk: Conversation) -> str | None:
    """Return how the conversation fits what was called instead of an expected call, if it does."""
    at = most_alike(call, loose)
    fits = None if at is None else talk.fits(call, loose[at], at)
    return None if at is None or fits is None else f"the agent called {_called(loose[at])}, and {fits}"


def _lasting(steps: Sequence[Step]) -> StepFault | None:
    """Return the first failure of a tool that brought nothing after it.

    It is the call's where the error says so: code that cannot run, arguments that are missing or not valid.
    """
    last = {step.tool: at for at, step in enumerate(steps) if step.error is None}
    lasting = (step.error is not None and last.get(step.tool, -1) < at for at, step in enumerate(steps))
    step = next(compress(steps, lasting), None)
    if step is None:
        return None
    sentence = f"{_called(step)} {_failure(step)}; no later call of this tool succeeded."
    error = step.error or ""
    if _BAD_CALL.search(error) and not _OUTAGE.search(error):
        return StepFault("wrong arguments", f"{sentence} By its error, the call itself was wrong.")
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
