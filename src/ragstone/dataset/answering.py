"""Whether passages answer a question, as a model finds: those of a negative must not, nor one hop alone."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from ragstone.dataset.candidate import Passage
from ragstone.dataset.critique import shown_passages
from ragstone.llm import MATERIAL, Ask, fenced_prompt, row_nonce

VERSION = 1  # of the prompt below; a change of wording is a new one
TOLD = (
    "You decide whether <passages> answer <question>. Look for the place that states what is asked: the very "
    "person, number, time, place, cause or step. The answer is there if a careful reader could give it from "
    "<passages> alone. It is not there if <passages> only speak of the same subject, answer another "
    "question, or answer a part of it. Use <passages> alone, not what you know. First give the reason: what "
    "<passages> say about the matter. Then whether the answer is there."
)
FORM = '{"nonce": the code, "reason": one or two short sentences, "answered": true or false}'


class AnsweredReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then whether the answer is there."""

    reason: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 600})]
    answered: bool


async def find_answer(
    question: str, passages: Sequence[Passage], *, ask: Ask, secret: bytes
) -> AnsweredReply:
    """Return whether the passages together answer the question, with the reason. Raises CallFailed."""
    shown = shown_passages(passages)
    # Keyed by the passages, so that questions on the same ones share the prompt's beginning: see critic.py.
    nonce = row_nonce(secret, ["answering", str(VERSION), shown])
    reply = await ask(
        fenced_prompt(
            f"{TOLD}\n\n{MATERIAL}",
            {"passages": shown, "question": question},
            form=FORM,
            reply=AnsweredReply,
            nonce=nonce,
            max_tokens=200,
        )
    )
    found: AnsweredReply = reply.value
    return found
