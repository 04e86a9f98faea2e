"""What models find of a candidate: critics' scores, whether passages answer it, what is known by heart."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from ragstone.features.build._built import noted
from ragstone.features.build._critic import Critic, CriticScore, criticise
from ragstone.features.build._losses import lose
from ragstone.kernel.dataset.answers import answers_correctly, is_guessable
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.judging.inputs import UNANSWERABLE
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Question, references


async def critique(
    candidate: Candidate,
    critics: Sequence[Critic],
    *,
    audience: str,
    threshold: int,
    ask: Ask,
    secret: bytes,
    one_call: bool,
) -> Candidate:
    """Return the candidate with the critics' scores, lost where one of them is below the threshold.

    Scores stand in `question.scores`, reasons in metadata `rationales`, versions in metadata `critics`, each
    by critic. A score below the threshold (1 to 5) loses it as `low_score`; without one, a call that failed
    as `not_criticised`, so that nothing is accepted unseen. One that is lost already is returned as it is,
    nobody asked. A question that the documents do not answer is judged by the critics that are made for it.
    """
    if candidate.loss is not None:
        return candidate
    fitting = [
        critic for critic in critics if critic.for_unanswerable or candidate.question.answerable is not False
    ]
    if not fitting:
        return candidate
    inputs = {
        "audience": audience,
        "context": format_passages(candidate.passages),
        "question": candidate.question.question,
        "answer": _answer(candidate.question),
    }
    scores = await criticise(fitting, inputs, ask=ask, secret=secret, one_call=one_call)
    return _judged(candidate, scores, threshold)


def format_passages(passages: Sequence[SourcePassage]) -> str:
    """Return passages as critics see them: under their titles, and numbered where there are several."""
    texts = [f"{passage.title}\n\n{passage.text}" if passage.title else passage.text for passage in passages]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


def _judged(candidate: Candidate, verdicts: Sequence[CriticScore], threshold: int) -> Candidate:
    scores = {verdict.critic: float(verdict.score) for verdict in verdicts if verdict.score is not None}
    judged = noted(
        candidate,
        rationales={verdict.critic: verdict.rationale for verdict in verdicts if verdict.score is not None},
        critics={verdict.critic: verdict.version for verdict in verdicts},
    )
    question = msgspec.structs.replace(judged.question, scores=(judged.question.scores or {}) | scores)
    judged = msgspec.structs.replace(judged, question=question)
    low = [verdict for verdict in verdicts if verdict.score is not None and verdict.score < threshold]
    if low:
        # A low score decides, whatever another critic would have said had its call not failed.
        reasons = "; ".join(
            f"{verdict.critic} {verdict.score} < {threshold}: {verdict.rationale}" for verdict in low
        )
        return lose(judged, "low_score", reasons)
    failed = [
        f"{verdict.critic}: {verdict.status}, {verdict.rationale}"
        for verdict in verdicts
        if verdict.score is None
    ]
    return lose(judged, "not_criticised", "; ".join(failed)) if failed else judged


def _answer(question: Question) -> str:
    answers = references(question)
    if not answers:
        return UNANSWERABLE
    return (
        answers[0]
        if len(answers) == 1
        else "Any one of these is right:\n" + "\n".join(f"- {answer}" for answer in answers)
    )


ANSWERING_VERSION = 1  # of the prompt below; a change of wording is a new one
ANSWERING_TASK = (
    "You decide whether <passages> answer <question>. Look for the place that states what is asked: the very "
    "person, number, time, place, cause or step. The answer is there if a careful reader could give it from "
    "<passages> alone. It is not there if <passages> only speak of the same subject, answer another "
    "question, or answer a part of it. Use <passages> alone, not what you know. First give the reason: what "
    "<passages> say about the matter. Then whether the answer is there."
)
ANSWERING_FORM = '{"nonce": the code, "reason": one or two short sentences, "answered": true or false}'


class AnsweredReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then whether the answer is there."""

    reason: Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 600})]
    answered: bool


async def find_answer(
    question: str, passages: Sequence[SourcePassage], *, ask: Ask, secret: bytes
) -> AnsweredReply:
    """Return whether the passages together answer the question, with the reason. Raises CallFailed."""
    context = format_passages(passages)
    # Keyed by the passages, so that questions on the same ones share the prompt's beginning: see critic.py.
    nonce = row_nonce(secret, ["answering", str(ANSWERING_VERSION), context])
    reply = await ask(
        fenced_prompt(
            f"{ANSWERING_TASK}\n\n{MATERIAL}",
            {"passages": context, "question": question},
            form=ANSWERING_FORM,
            reply=AnsweredReply,
            nonce=nonce,
            max_tokens=200,
        )
    )
    answer: AnsweredReply = reply.value
    return answer


CLOSED_BOOK_VERSION = 1  # of the prompt below; a change of wording is a new one
MAX_TOKENS = 160

CLOSED_BOOK_TASK = (
    "You are asked a question and are given no document. Answer it from what you know, in as few words as "
    "possible and in its language: one answer, no list of possible ones. If you do not know it, answer: I do "
    "not know."
)
STATEMENT_TASK = (
    "You are shown a statement and are given no document. Say from what you know whether it is true. Answer "
    "with one word: true or false. If you do not know, answer: I do not know."
)
CLOSED_BOOK_FORM = '{"nonce": the code, "answer": a few words}'


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
    tagged = noted(candidate, closed_book=note)
    tags = {**(question.tags or {}), "closed_book": "known" if correct else "unknown"}
    return msgspec.structs.replace(tagged, question=msgspec.structs.replace(tagged.question, tags=tags))


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
    task, name = (
        (STATEMENT_TASK, "statement") if question.kind == "true_false" else (CLOSED_BOOK_TASK, "question")
    )
    nonce = row_nonce(secret, [task, str(CLOSED_BOOK_VERSION), question.question])
    return fenced_prompt(
        f"{task}\n\n{MATERIAL}",
        {name: question.question},
        form=CLOSED_BOOK_FORM,
        reply=ClosedBookReply,
        nonce=nonce,
        max_tokens=MAX_TOKENS,
    )
