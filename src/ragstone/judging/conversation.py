"""A conversation as one text that a judge reads, and as its replies, each an answer of its own."""

from collections.abc import Iterator, Sequence

import msgspec

from ragstone.records import Answer, Step, Turn

TURN = "turn"  # in the metadata of a reply: its place in the conversation, from 1
CONVERSATION = "conversation"  # there too: the question_id of the whole


def thread_text(turns: Sequence[Turn]) -> str:
    """Return the turns one below the other: number, role, what was said, which tools were called."""
    return "\n".join(line for place, turn in enumerate(turns, 1) for line in _lines(place, turn))


def _lines(place: int, turn: Turn) -> Iterator[str]:
    if turn.content or not turn.tool_calls:
        yield f"[{place}] {turn.role}: {turn.content}"
    for step in turn.tool_calls or ():
        yield f"[{place}] {turn.role} calls {step_text(step)}"


def step_text(step: Step) -> str:
    """Return a call as text: the tool with its arguments, and what became of it."""
    called = f"{step.tool}({msgspec.json.encode(step.arguments, enc_hook=str).decode()})"
    if step.error is not None:
        return f"{called} failed: {step.error}"
    return called if step.result is None else f"{called} -> {step.result}"


def replies_of(answer: Answer) -> Iterator[Answer]:
    """Yield each reply of the assistant as an answer, `ID#PLACE`, with the turns up to it.

    PLACE is that of the turn in the conversation, from 1. The question is the user's last message before it.
    Contexts and steps are its own; a turn that only calls tools is no reply, its steps are those of the next.
    What the row tells of its answer (contexts, reference) is told of the last reply. An answer without turns
    is yielded as it is.
    """
    if answer.turns is None:
        yield answer
        return
    question: str | None = None
    steps: list[Step] = []
    replies: list[Answer] = []
    for place, turn in enumerate(answer.turns, 1):
        if turn.role == "user":
            question, steps = turn.content, []
        steps += turn.tool_calls or ()
        if turn.role == "assistant" and (turn.content or not turn.tool_calls):
            replies.append(_reply(answer, place, turn, question, steps))
            steps = []
    if replies:
        last = replies.pop()
        contexts = answer.contexts if last.contexts is None else last.contexts
        yield from replies
        yield msgspec.structs.replace(last, contexts=contexts, reference=answer.reference)


def _reply(answer: Answer, place: int, turn: Turn, question: str | None, steps: list[Step]) -> Answer:
    turns = answer.turns or []
    whole = {CONVERSATION: answer.question_id, TURN: place}
    return Answer(
        question_id=f"{answer.question_id}#{place}",
        system=answer.system,
        question=question,
        answer=turn.content,
        contexts=turn.contexts,
        turns=turns[:place],
        steps=steps or None,
        tags=answer.tags,
        metadata={**(answer.metadata or {}), **whole},
    )
