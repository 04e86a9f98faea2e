"""A row -> the texts that a judge reads of it, by the names of its inputs."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ragstone.kernel.judging.conversation import role_of, steps_text, thread_text
from ragstone.kernel.judging.fields import Input, JudgeFields
from ragstone.kernel.records import Answer, Context, references

UNANSWERABLE = "The documents do not hold the answer to this question. The right reply is to say so."


def gather_inputs(judge: JudgeFields, answer: Answer) -> dict[str, str] | Input:
    """Return the text of each input of the judge, or the name of the first one that the row lacks.

    Before them are texts of the judge's own file that are shown in the same way, see own_texts.
    A question marked unanswerable has a reference that says so. An empty list of contexts is an input: the
    system retrieved nothing.
    """
    texts = dict(judge.own_texts)
    for name in judge.inputs:
        text = _input_text(name, answer)
        if text is None:
            return name
        texts[name] = text
    return texts


def _input_text(name: Input, answer: Answer) -> str | None:
    if name == "contexts":
        if answer.contexts is None:
            return None
        return "\n\n".join(f"[{n}] {context.text}" for n, context in enumerate(answer.contexts, 1))
    if name == "conversation" and answer.turns is not None:
        return thread_text(answer)
    if name == "steps" and answer.steps is not None:
        return steps_text(answer.steps)
    if name != "reference":
        return _as_text(part_of(answer, name))
    alternatives = references(answer)
    if not alternatives:
        return UNANSWERABLE if answer.answerable is False else None
    if len(alternatives) == 1:
        return alternatives[0]
    return "Any one of these is right:\n" + "\n".join(f"- {text}" for text in alternatives)


def part_of(answer: Answer, name: str) -> Any:  # noqa: ANN401 - a column holds anything
    """Return a part of a row by its name, None where the row lacks it.

    That is `row`, the whole; `contexts`, their texts; `references`, a list of the reference's alternatives;
    `conversation`, its turns; any other field; else what `metadata` has under this name, where columns go
    that no field takes. Without a column `role`, that is what the system's turns say.
    """
    if name == "row":
        return answer
    if name == "contexts":
        return None if answer.contexts is None else [context.text for context in answer.contexts]
    if name in ("reference", "references"):
        alternatives = references(answer)
        return (answer.reference if name == "reference" else alternatives) if alternatives else None
    if name == "conversation" and answer.turns is not None:
        return answer.turns
    if name not in Answer.__struct_fields__:
        value = (answer.metadata or {}).get(name)
        return role_of(answer) if value is None and name == "role" else value
    part = getattr(answer, name)
    return None if part == "" and name != "answer" else part


def _as_text(part: object) -> str | None:
    """Return a part of a row as a prompt shows it: lists a line each, tables and numbers as JSON."""
    if part is None or isinstance(part, str):
        return part
    if isinstance(part, list) and all(isinstance(item, str) for item in part):
        return "\n".join(f"- {item}" for item in part)
    return msgspec.json.encode(part, enc_hook=str).decode()


def texts_of(contexts: Sequence[Context] | None) -> list[str]:
    """Return the texts, in their order, the blank ones among them."""
    return [context.text for context in contexts or []]
