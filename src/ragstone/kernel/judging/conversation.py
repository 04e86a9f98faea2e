"""A conversation as one text that a judge reads, and as its replies, each an answer of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ragstone.kernel.records import Answer, Judgement, Label, Metadata, Step, Turn
from ragstone.kernel.tables.names import NO_REPLY

TURN = "turn"  # in the metadata of a reply: its place in the conversation, from 1
CONVERSATION = "conversation"  # there too: the question_id of the whole
# Turns that a reply carries, itself counted. Without a bound, the replies of a conversation would take the
# square of its room.
HISTORY = 200


def thread_text(answer: Answer) -> str:
    """Return the turns one below the other: number, role, what was said, which tools were called.

    Of a reply of a conversation, the last turn is marked as the one to judge.
    """
    turns, judged = answer.turns or [], reply_notes(answer).get(TURN)
    first = first_place(answer)
    lines = []
    for at, turn in enumerate(turns, first):
        if turn.content or not turn.tool_calls:
            mark = " (judge this reply)" if at == judged else ""
            lines.append(f"[{at}] {turn.role}{mark}: {turn.content}")
        lines += [f"[{at}] {turn.role} calls {step_text(step)}" for step in turn.tool_calls or ()]
    return "\n".join(lines)


def first_place(answer: Answer) -> int:
    """Return the place in its conversation, from 1, of the first turn that a row carries."""
    last = reply_notes(answer).get(TURN)
    return 1 if last is None else last - len(answer.turns or ()) + 1


def role_of(answer: Answer) -> str | None:
    """Return what the system's turns tell the assistant to be; None without any."""
    return "\n\n".join(turn.content for turn in answer.turns or () if turn.role == "system") or None


def conversation_of(row: Answer | Judgement | Label) -> str | None:
    """Return the question_id of the conversation that a reply, or what is said of it, is of, else None."""
    return reply_notes(row).get(CONVERSATION)


def reply_notes(row: Answer | Judgement | Label) -> Metadata:
    """Return what a row of a reply tells of it, its conversation and place; nothing of others."""
    metadata = row.metadata
    if not metadata or type(metadata.get(TURN)) is not int or not isinstance(metadata.get(CONVERSATION), str):
        return {}
    return {name: metadata[name] for name in (CONVERSATION, TURN)}


def cluster_of(row: Judgement, clusters: Mapping[str, str]) -> str:
    """Return what a judgement shares with others: what `clusters` says of its question, or its conversation.

    clusters: question_id, or that of a whole conversation -> what it shares. A row that neither names stands
    alone, under its own id.
    """
    whole = conversation_of(row) or row.question_id
    return clusters.get(row.question_id) or clusters.get(whole, whole)


def step_text(step: Step) -> str:
    """Return a call as text: the tool with its arguments, and what became of it."""
    called = call_text(step)
    if step.error is not None:
        return f"{called} failed: {step.error}"
    return called if step.result is None else f"{called} -> {step.result}"


def call_text(step: Step) -> str:
    """Return a call without what became of it."""
    return f"{step.tool}({msgspec.json.encode(step.arguments, enc_hook=str).decode()})"


def steps_text(steps: Sequence[Step]) -> str:
    """Return calls of tools one below the other, numbered, each with the agent's reason where it is known."""
    lines: list[str] = []
    for number, step in enumerate(steps, 1):
        if step.thought:
            lines.append(f"[{number}] thought: {step.thought}")
        lines.append(f"[{number}] {step_text(step)}")
    return "\n".join(lines) or "(no tool was called)"


def every_reply(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield the replies of each answer in turn, see replies_of."""
    for answer in answers:
        yield from replies_of(answer)


def replies_of(answer: Answer) -> Iterator[Answer]:
    """Yield each reply of the assistant as an answer, `ID#PLACE`, with up to HISTORY turns that end with it.

    PLACE is that of the turn in the conversation, from 1. The question is the user's last message before it.
    Contexts and steps are its own; a turn that only calls tools is no reply, its steps are those of the next.
    Where others call tools, a reply that calls none has an empty list of steps.
    What the row tells of its answer (contexts, reference, answerable) is told of the last reply. Where the
    application failed, that is a reply behind the last turn, with the error. An answer without turns, and one
    that is a reply already, is yielded as it is; a conversation without any reply as one row that says so.
    """
    if answer.turns is None or conversation_of(answer) is not None:
        yield answer
        return
    question: str | None = None
    calls = any(turn.tool_calls for turn in answer.turns)
    steps: list[Step] | None = [] if calls else None
    last: Answer | None = None
    for number, turn in enumerate(answer.turns, 1):
        if turn.role == "user":
            question, steps = turn.content, [] if calls else None
        if steps is not None:
            steps += turn.tool_calls or ()
        if turn.role == "assistant" and (turn.content or not turn.tool_calls):
            if last is not None:
                yield last
            last = _reply(answer, number, turn, question, steps)
            steps = [] if calls else None
    if last is None:
        yield msgspec.structs.replace(answer, answer="", error=answer.error or NO_REPLY)
    elif answer.error == NO_REPLY:  # all that it says are empty turns
        yield msgspec.structs.replace(last, error=NO_REPLY)
    elif answer.error is not None:
        yield last
        failed = _reply(answer, len(answer.turns) + 1, Turn("assistant"), question, steps)
        yield msgspec.structs.replace(failed, reference=answer.reference, error=answer.error)
    else:
        contexts = answer.contexts if last.contexts is None else last.contexts
        yield msgspec.structs.replace(
            last, contexts=contexts, reference=answer.reference, answerable=answer.answerable
        )


def _reply(answer: Answer, number: int, turn: Turn, question: str | None, steps: list[Step] | None) -> Answer:
    before = (answer.turns or [])[max(0, number - HISTORY) : number - 1]
    metadata = dict(answer.metadata or {}) | {CONVERSATION: answer.question_id, TURN: number}
    if number > HISTORY and (role := role_of(answer)):
        metadata.setdefault("role", role)  # the system's turns may have been cut off
    return Answer(
        question_id=f"{answer.question_id}#{number}",
        system=answer.system,
        question=question,
        answer=turn.content,
        contexts=turn.contexts,
        turns=[*before, turn],
        steps=steps,
        tags=answer.tags,
        metadata=metadata,
    )
