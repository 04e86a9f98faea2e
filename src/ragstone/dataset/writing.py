"""One call: a passage -> questions with their answers and the words that hold them."""

import functools
from collections.abc import Sequence
from typing import Annotated, Protocol

import msgspec

from ragstone.dataset.candidate import Candidate, Loss, Passage, lose
from ragstone.dataset.evidence import find_evidence
from ragstone.dataset.languages import language_name
from ragstone.dataset.styles import Turn, render_style
from ragstone.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.records import Evidence, Question

VERSION = 1  # of the wording below; a change of it is a new one
DRAWN_AT = 0.7  # the temperature of every sample but the first
MOST_AVOIDED = 20  # questions that the model is told not to repeat
FRAME_TOKENS, TOKENS_A_QUESTION = 100, 400

# Told to the model, not demanded of it: a text that is too long is no reason to lose the others.
Short = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 300})]
Long = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 600})]

TASK = (
    "You write questions for a test of a search engine. Read <passage> and write {number} that it answers, "
    "each with its answer.\n\n"
    "The kind of question: {style}\n\n"
    "The people who ask: {audience}. They know nothing of the passage and cannot see it. So each question "
    "must make sense alone: it says by name what it is about, and never mentions a passage, a text, a "
    "document, an author or an example. The passage must answer it fully, and there is one right answer. "
    "Ask about what matters, and about something else each time.\n\n"
    "For each question first copy into quote the words of the passage that hold the answer, exactly as they "
    "stand there, at most two sentences or five lines of code. Then write the question, then the answer."
)


class Draft(Protocol):
    """What a model writes of one question."""

    quote: str
    question: str
    answer: str


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What came of asking for questions on a passage.

    candidates: without an id, the lost ones among them; a question in the wrong language is followed by
    those that were asked for in its place. failed: the call, or the second one for the language, gave
    nothing usable. n_asked: questions asked for; n_cut: those that came beyond them and were left out.
    """

    candidates: list[Candidate]
    failed: Loss | None = None
    n_asked: int
    n_cut: int = 0


async def write_questions(
    passages: tuple[Passage, ...],
    turn: Turn,
    n: int,
    *,
    audience: str,
    ask: Ask,
    secret: bytes,
    avoid: Sequence[str] = (),
    sample: int = 0,
) -> Written:
    """Return up to n questions on a passage (two for a style that needs two), lost ones among them."""
    prompt = write_prompt(passages, turn, n, audience=audience, secret=secret, avoid=avoid, sample=sample)
    try:
        reply = await ask(prompt)
    except CallFailed as failure:
        return Written(candidates=[], failed=_failed(failure), n_asked=n)
    drafts: list[Draft] = reply.value.questions
    return Written(
        candidates=[_candidate(draft, passages, turn) for draft in drafts[:n]],
        n_asked=n,
        n_cut=max(0, len(drafts) - n),
    )


def _failed(failure: CallFailed) -> Loss:
    return Loss(reason="call_failed", detail=f"{failure.status}: {failure}")


def write_prompt(
    passages: tuple[Passage, ...],
    turn: Turn,
    n: int,
    *,
    audience: str,
    secret: bytes,
    avoid: Sequence[str] = (),
    sample: int = 0,
) -> Prompt:
    """Return the call that asks for n questions."""
    number = "one question" if n == 1 else f"{n} questions"
    told = TASK.format(number=number, style=render_style(turn, audience), audience=audience)
    if passages[0].lang:
        told += f"\n\nWrite question and answer in {language_name(passages[0].lang)}."
    shown = {"passage": passages[0].text}
    if avoid:
        shown["asked already"] = "\n".join(f"- {question}" for question in avoid[-MOST_AVOIDED:])
    nonce = row_nonce(secret, [told, *shown.values()])
    return fenced_prompt(
        f"{told}\n\n{MATERIAL}",
        shown,
        form='{"nonce": the code, "questions": [{"quote": "...", "question": "...", "answer": "..."}, ...]}',
        reply=_reply_of(n, turn.style.quotes),
        nonce=nonce,
        max_tokens=FRAME_TOKENS + TOKENS_A_QUESTION * n,
        sample=sample,
        temperature=DRAWN_AT if sample else 0.0,
    )


def _candidate(draft: Draft, passages: tuple[Passage, ...], turn: Turn) -> Candidate:
    passage = passages[0]
    found = find_evidence(draft.quote, passage.text)
    question = Question(
        id="",
        question=" ".join(draft.question.split()),
        reference=" ".join(draft.answer.split()),
        evidence=[
            Evidence(
                document_id=passage.document_id,
                start=passage.start + found.start,
                end=passage.start + found.end,
            )
        ]
        if found
        else None,
        document_ids=[passage.document_id],
        answerable=True,
        lang=passage.lang,
        tags={"style": turn.style.name},
        metadata={"quote": draft.quote},
    )
    candidate = Candidate(question=question, passages=passages)
    return candidate if found else lose(candidate, "no_evidence", draft.quote)


@functools.lru_cache(maxsize=64)
def _reply_of(n: int, quotes: int) -> type[msgspec.Struct]:
    """Return the type of a reply with n questions, each with 1 or 2 quotations first."""
    fields: list[tuple[str, object]] = [("quote", Long)]
    if quotes == 2:
        fields.append(("second_quote", Long))
    fields += [("question", Short), ("answer", Long)]
    draft = msgspec.defstruct("Draft", fields, frozen=True, forbid_unknown_fields=True)
    several = Annotated[list[draft], msgspec.Meta(extra_json_schema={"maxItems": n})]  # type: ignore[valid-type]
    return msgspec.defstruct("Drafts", [("questions", several)], frozen=True, forbid_unknown_fields=True)
