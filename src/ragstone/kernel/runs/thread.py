"""A conversation as pages show it: the last of its turns, with what each was given and what it called."""

from collections.abc import Callable

import msgspec

from ragstone.kernel.judging.conversation import TURN, first_place, reply_notes
from ragstone.kernel.records import Answer, Step
from ragstone.kernel.runs.embedded import StepShown, TurnShown

SHOWN_TURNS = 60
LONGEST_RESULT = 4000  # characters of what a tool gave back, and of a context
Cut = Callable[[str], str]


def thread_shown(answer: Answer, cut: Cut) -> list[TurnShown] | None:
    """Return the last turns of a row; None for one without. cut: shortens a text where room is scarce."""
    if not answer.turns:
        return None
    judged, first = reply_notes(answer).get(TURN), first_place(answer)
    numbered = [*enumerate(answer.turns, first)][-SHOWN_TURNS:]
    return [
        TurnShown(
            place=number,
            role=turn.role,
            content=cut(turn.content),
            contexts=[cut(_beginning(context.text)) for context in turn.contexts or ()] or None,
            steps=[step_shown(step, cut) for step in turn.tool_calls or ()] or None,
            judged=number == judged or None,
        )
        for number, turn in numbered
    ]


def step_shown(row: Step, cut: Cut) -> StepShown:
    """Return a call of a tool, its arguments as text."""

    def short(text: str | None) -> str | None:
        return cut(text) if text else None

    arguments = (
        f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()}"
        for name, value in row.arguments.items()
    )
    return StepShown(
        tool=row.tool,
        arguments=short(", ".join(arguments)),
        result=short(_beginning(row.result or "")),
        error=short(row.error),
        seconds=row.seconds,
        thought=short(row.thought),
    )


def _beginning(text: str) -> str:
    return text if len(text) <= LONGEST_RESULT else text[:LONGEST_RESULT].rstrip() + "…"
