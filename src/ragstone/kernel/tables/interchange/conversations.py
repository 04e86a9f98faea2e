"""Conversations -> rows of an answer sheet: messages as OpenAI and many others write them, in `turns`.

The last reply of the assistant is the answer, the user's last message before it the question. Tools that keep
conversations in other shapes are read in modules of their own, which make turns of them here.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec

from ragstone.kernel.records import Answer, Role
from ragstone.kernel.tables.calls import CALLS, step_row
from ragstone.kernel.tables.columns import as_contexts
from ragstone.kernel.tables.interchange._messages import answer_call, plain_messages
from ragstone.kernel.tables.interchange.marks import messages_in
from ragstone.kernel.tables.interchange.values import content_in, first_in, objects_in, role_in, role_name
from ragstone.kernel.tables.names import MESSAGES, NO_REPLY, accepted_names

_IDS = accepted_names(Answer, "question_id")
_CONTEXTS = (*accepted_names(Answer, "contexts"), "retrievalContext")
# Of deepeval's conversations: the reference of the whole, and what the assistant is to be.
_DEEPEVAL = {"expectedOutcome": "reference", "expected_outcome": "reference"} | dict.fromkeys(
    ("chatbotRole", "chatbot_role"), "role"
)


def read_conversations(rows: Iterable[tuple[int, Any]], _where: str) -> Iterator[tuple[int, Any]]:
    """Yield a row for each conversation; what is no object as it is, a role that is unknown as an error."""
    for number, raw in rows:
        column = None
        if isinstance(raw, dict):  # a conversation may have no messages yet
            column = messages_in(raw) or next((name for name in MESSAGES if raw.get(name) == []), None)
        if column is None:
            yield number, raw
            continue
        rest = {_DEEPEVAL.get(name, name): value for name, value in raw.items() if name != column}
        try:
            yield number, conversation_row(rest, turns_of(raw[column]))
        except ValueError as mistake:
            yield number, mistake


def conversation_row(row: Mapping[str, Any], turns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a row with its turns, and with what they tell of question, answer, contexts and steps.

    What the row itself tells stays: its question and answer are added behind the turns where these are the
    history that went before.
    """
    turns = list(turns)
    question, answer = _own(row, "question"), _own(row, "answer")
    if answer and all(turn.get("content") != answer for turn in turns):
        if question is not None and all(turn.get("content") != question for turn in turns):
            turns.append({"role": "user", "content": question})
        turns.append({"role": "assistant", "content": answer})
    last = last_reply(turns)
    questions = [turn["content"] for turn in turns[:last] if turn["role"] == "user" and turn.get("content")]
    answered: dict[str, Any] = {} if question is not None or not questions else {"question": questions[-1]}
    if answer is None and "error" not in row:
        answered |= {"answer": "", "error": NO_REPLY} if last is None else {"answer": turns[last]["content"]}
    if last is not None and turns[last].get("contexts") is not None and not row.keys() & set(_CONTEXTS):
        answered["contexts"] = turns[last]["contexts"]
    if len(questions) > 1 and not row.keys() & set(_IDS):
        # Many conversations end with the same words, which would give them one id.
        answered["id"] = (
            f"c-{hashlib.blake2b(msgspec.json.encode(turns, enc_hook=str), digest_size=6).hexdigest()}"
        )
    steps = [step for turn in turns for step in turn.get("tool_calls") or ()]
    if steps and "steps" not in row:
        answered["steps"] = steps
    return {**row, **answered, "turns": turns}


def _own(row: Mapping[str, Any], field: str) -> str | None:
    return next((row[name] for name in accepted_names(Answer, field) if isinstance(row.get(name), str)), None)


def last_reply(turns: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the place of the last turn in which the assistant says something."""
    replies = [at for at, turn in enumerate(turns) if turn["role"] == "assistant" and turn.get("content")]
    return replies[-1] if replies else None


def turns_in(raw: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the turns of a row of messages, none where these are not understood; None of another row."""
    column = messages_in({**raw})
    if column is None:
        return None
    try:
        return turns_of(raw[column]) if isinstance(raw[column], Iterable) else []
    except ValueError:  # a role that nobody knows
        return []


def turns_of(messages: Iterable[Any]) -> list[dict[str, Any]]:
    """Return messages as turns; what a tool says is also the result of the call that it answers.

    Raises ValueError for one whose role is not known, naming its place.
    """
    turns: list[dict[str, Any]] = []
    open_calls: dict[str, dict[str, Any]] = {}
    for number, fields in enumerate(plain_messages(messages), 1):
        role = role_in(fields)
        if role is None:
            known = ", ".join(get_args(Role))
            raise ValueError(f"turn {number} has the role {role_name(fields)!r}, which is not one of {known}")
        turn: dict[str, Any] = {"role": role, "content": content_in(fields) or ""}
        contexts = first_in(fields, _CONTEXTS)
        if contexts is not None:
            turn["contexts"] = as_contexts(contexts)
        calls = [call for name in CALLS for call in objects_in(fields.get(name))]
        if calls:
            steps = [step_row(call) for call in calls]
            turn["tool_calls"] = steps
            named = ((call.get("id"), step) for call, step in zip(calls, steps, strict=True))
            open_calls |= {str(name): step for name, step in named if name is not None}
            for step in steps if fields.get("thought") else ():
                step.setdefault("thought", fields["thought"])
        if role == "tool":
            answer_call(open_calls.get(str(fields.get("tool_call_id"))), fields, turn["content"])
        turns.append(turn)
    return turns
