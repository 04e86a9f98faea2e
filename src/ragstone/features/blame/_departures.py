"""An agent's calls beside those that were expected -> the departure that the lost point is put down to."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate

import msgspec
from msgspec.structs import replace

from ragstone.features.blame._asked import Conversation, most_alike, short
from ragstone.kernel.judging.conversation import call_text
from ragstone.kernel.judging.trajectory import ExpectedCall, differences, pair_calls
from ragstone.kernel.records import Step
from ragstone.kernel.runs.causes import Cause

OUTAGE = re.compile(
    r"(?i)time[sd]?.?out|unavailable|unreachable|connection|network|overload|rate.?limit|too many requests|"
    r"quota|internal.?(?:server.?)?error|did not answer|no response|"
    r"(?:http|status|code|error)\W{0,3}(?:429|5\d\d)\b"
)


class StepFault(msgspec.Struct, frozen=True):
    """What went wrong among the steps, and the evidence in one plain sentence."""

    cause: Cause
    because: str


class _MadeCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of an agent beside the expected ones.

    places: of each expected call, the step that it is, if any; exact: the same where no argument differs.
    early: of each expected call, the earliest step that is this call or an expected one after it, and did not
    fail. last: the latest step that is an expected call and did not fail; -1 without one. loose: the steps
    that are no expected call, by their place, with those arguments that an expected call of the tool has.
    """

    steps: Sequence[Step]
    places: Sequence[int | None]
    exact: Sequence[int | None]
    early: Sequence[int]
    last: int
    loose: Mapping[int, Step]


def find_departure(
    steps: Sequence[Step], expected: Sequence[ExpectedCall], talk: Conversation | None
) -> StepFault | None:
    """Return how the steps depart from the expected calls; None if all of these were made and none failed.

    The first expected call counts that was not made, was made with other arguments or in another order, or
    failed. After these come calls that do not fit what the user of the conversation said, and last failures
    after which the agent went on as expected. Arguments that no expected call of the tool has do not count:
    most are optional, and right as they are. Time: linear in the steps.
    """
    made = _made(steps, expected)
    doubtful: list[StepFault] = []
    passed: list[StepFault] = []
    for at, call in enumerate(expected):
        place = made.exact[at]
        if place is None:
            fault = _not_made(call, made.places[at], made, talk)
        elif steps[place].error is not None:
            fault = _failed(call, place, made.early[at], made, talk)
        else:
            continue
        if fault.cause == "expected steps doubtful":
            doubtful.append(fault)
        elif fault.cause == "tool failed" and place is not None and place < made.last:
            passed.append(fault)
        else:
            return fault
    return next(iter((*doubtful, *passed)), None)


def _made(steps: Sequence[Step], expected: Sequence[ExpectedCall]) -> _MadeCalls:
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
    exact = [
        at
        if at is not None and (call.arguments is None or not differences(call.arguments, bare[at].arguments))
        else None
        for call, at in zip(expected, places, strict=True)
    ]
    sound = [len(steps) if at is None or steps[at].error is not None else at for at in exact]
    taken = {*exact}
    return _MadeCalls(
        steps=steps,
        places=places,
        exact=exact,
        early=[*accumulate(reversed(sound), min)][::-1],
        last=max((at for at in sound if at < len(steps)), default=-1),
        loose={at: step for at, step in enumerate(bare) if at not in taken},
    )


def _failed(
    call: ExpectedCall, place: int, early: int, made: _MadeCalls, talk: Conversation | None
) -> StepFault:
    """Return why an expected call failed: the order of the calls, if its error is no outage, or the tool."""
    step = made.steps[place]
    if early > place or OUTAGE.search(step.error or ""):
        return StepFault("tool failed", f"{_needed(call)}; it was called, but {failure(step)}.")
    other = called(made.steps[early])
    reason = (
        f"{_needed(call)} before {other}; the agent called this first, and then the other {failure(step)}"
    )
    if talk and talk.asked_later(call, made.steps[early], early):
        late = "The user's words name the other only after that."
        return StepFault("expected steps doubtful", f"{reason}. {late}")
    return StepFault("wrong order", f"{reason}.")


def _not_made(
    call: ExpectedCall, place: int | None, made: _MadeCalls, talk: Conversation | None
) -> StepFault:
    """Return what became of an expected call that was not made so, or why it does not fit what was said."""
    unknown, like = (talk.unknown(call), most_alike(call, made.loose)) if talk else (None, None)
    if unknown is not None:
        reason = f"nothing that was said or that a tool brought contains {short(unknown)}"
        return StepFault("expected steps doubtful", f"{_needed(call)}, but {reason}.")
    fits = None if talk is None or like is None else talk.fits(call, made.loose[like], like)
    if fits is not None and like is not None:
        reason = f"the agent called {called(made.loose[like])}, and {fits}"
        return StepFault("expected steps doubtful", f"{_needed(call)}; {reason}.")
    if place is not None:
        return StepFault("wrong arguments", f"{_needed(call)}; the agent called {called(made.steps[place])}.")
    spare = min({*range(len(made.steps))}.difference(made.places), default=None)
    instead = "did not call it" if spare is None else f"called {called(made.steps[spare])} instead"
    return StepFault("wrong tool", f"{_needed(call)}; the agent {instead}.")


def _needed(call: ExpectedCall) -> str:
    wanted = Step(tool=call.tool, arguments=dict(call.arguments or {}))
    return f"The expected steps include {short(call_text(wanted) if call.arguments else call.tool)}"


def failure(step: Step) -> str:
    """Return that a call failed, and why, in words."""
    return f"failed: {short(step.error or 'no reason is given')}"


def called(step: Step) -> str:
    """Return a call with its arguments, in words."""
    return short(call_text(step))
