"""A question asked without any document: a model that answers it tests its memory, not a retriever."""

from typing import Annotated

import msgspec

from ragstone.dataset.answers import answers_correctly, is_guessable
from ragstone.dataset.candidate import Candidate, lose, noted
from ragstone.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.records import Question, references

VERSION = 1  # of the prompt below; a change of wording is a new one
MAX_TOKENS = 160

TOLD = (
    "You are asked a question and are given no document. Answer it from what you know, in as few words as "
    "possible and in its language: one answer, no list of possible ones. If you do not know it, answer: I do "
    "not know."
)
TOLD_STATEMENT = (
    "You are shown a statement and are given no document. Say from what you know whether it is true. Answer "
    "with one word: true or false. If you do not know, answer: I do not know."
)
FORM = '{"nonce": the code, "answer": a few words}'


class ClosedBookReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a model answers from memory."""

    answer: Annotated[str, msgspec.Meta(max_length=300)]


async def ask_closed_book(candidate: Candidate, *, ask: Ask, secret: bytes) -> Candidate:
    """Return the candidate with what a model answers without any document, and whether that is right.

    `metadata["closed_book"]`: {answer, correct}, and {guessable: true} where few answers are possible (yes or
    no, true or false, "A or B?"), so that a right one says little. `tags["closed_book"]`: `known` or
    `unknown`. A call that failed is noted as {status, error} and gives no tag. A lost candidate, one
    that no document answers and one without a reference to compare with are not asked.
    """
    question = candidate.question
    if candidate.loss is not None or question.answerable is False or not references(question):
        return candidate
    try:
        reply = await ask(closed_book_prompt(question, secret))
    except CallFailed as failure:
        return noted(candidate, closed_book={"status": failure.status, "error": str(failure)})
    answer = reply.value.answer.strip()
    correct = answers_correctly(answer, question)
    note: dict[str, object] = {"answer": answer, "correct": correct}
    if is_guessable(question):
        note["guessable"] = True
    told = noted(candidate, closed_book=note)
    tags = {**(question.tags or {}), "closed_book": "known" if correct else "unknown"}
    return msgspec.structs.replace(told, question=msgspec.structs.replace(told.question, tags=tags))


def drop_known(candidate: Candidate) -> Candidate:
    """Return the candidate lost as `known_by_heart` where the model knew the answer.

    One that is guessable stays: a model that says "true" to everything would leave none but false statements.
    """
    note = (candidate.question.metadata or {}).get("closed_book") or {}
    if not note.get("correct") or note.get("guessable"):
        return candidate
    return lose(candidate, "known_by_heart", f"answered {note['answer']!r} without a document")


def closed_book_prompt(question: Question, secret: bytes) -> Prompt:
    """Return the call that asks a question without any document."""
    told, name = (TOLD_STATEMENT, "statement") if question.kind == "true_false" else (TOLD, "question")
    nonce = row_nonce(secret, [told, str(VERSION), question.question])
    return fenced_prompt(
        f"{told}\n\n{MATERIAL}",
        {name: question.question},
        form=FORM,
        reply=ClosedBookReply,
        nonce=nonce,
        max_tokens=MAX_TOKENS,
    )
