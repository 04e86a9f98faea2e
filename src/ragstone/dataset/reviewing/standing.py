"""A log of decisions -> those that stand, of each question: what was taken back counts no more."""

from collections.abc import Iterable, Sequence
from typing import Literal

from ragstone.dataset.reviewing.decision import Decision, Field, Values
from ragstone.errors import DataError

Outcome = Literal["accepted", "edited", "rejected"]
OUTCOMES: dict[str, Outcome] = {"accept": "accepted", "edit": "edited", "reject": "rejected"}
SHOWN = 10  # mistakes of a log that are told at once

Stack = tuple[Decision, ...]
"""The decisions on one question that stand, the last one last. It is never empty."""


def standing(decisions: Iterable[Decision]) -> dict[str, Stack]:
    """Return the decisions that stand, by question. A decision that is repeated, id and all, counts once.

    Raises DataError for two different decisions with one id, and for an undo of anything but the last that
    stands for its question.
    """
    stacks: dict[str, Stack] = {}
    known: dict[str, Decision] = {}
    problems: list[str] = []
    for decision in decisions:
        if decision.id in known:
            if known[decision.id] != decision:
                problems.append(f"two different decisions have the id {decision.id!r}")
            continue
        known[decision.id] = decision
        try:
            stacks = put(stacks, decision)
        except DataError as mistake:
            problems.append(str(mistake))
    if problems:
        more = [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise DataError("the log of the review is broken. " + "; ".join([*problems[:SHOWN], *more]))
    return stacks


def put(stacks: dict[str, Stack], decision: Decision) -> dict[str, Stack]:
    """Return the stacks, changed in place, with one decision more. Raises DataError for a wrong undo."""
    stack = stacks.get(decision.question_id, ())
    if decision.decision != "undo":
        stacks[decision.question_id] = (*stack, decision)
        return stacks
    if not stack or stack[-1].id != decision.undoes:
        raise DataError(
            f"{decision.id!r} would take back {decision.undoes!r}, which is not the last decision that "
            f"stands for question {decision.question_id!r}"
        )
    if len(stack) == 1:
        del stacks[decision.question_id]
    else:
        stacks[decision.question_id] = stack[:-1]
    return stacks


def outcome_of(stack: Sequence[Decision]) -> Outcome | None:
    """Return what became of a question: of an accepted one whether edits stand. None without a decision."""
    if not stack:
        return None
    outcome = OUTCOMES[stack[-1].decision]
    if outcome == "accepted" and any(one.decision == "edit" for one in stack):
        return "edited"
    return outcome


def changed_fields(stack: Sequence[Decision]) -> list[Field]:
    """Return the fields that the edits of a stack leave other than they were, in the order of FIELDS."""
    before, after = net_change(stack)
    return [name for name in after.given() if getattr(before, name) != getattr(after, name)]


def net_change(stack: Sequence[Decision]) -> tuple[Values, Values]:
    """Return what the edits of a stack change together: of each field the first before, the last after."""
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    for one in stack:
        if one.before is not None and one.after is not None:
            before = {name: getattr(one.before, name) for name in one.before.given()} | before
            after |= {name: getattr(one.after, name) for name in one.after.given()}
    return Values(**before), Values(**after)  # type: ignore[arg-type]
