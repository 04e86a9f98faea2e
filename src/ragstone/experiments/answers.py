"""Answers from the contexts of two indexes -> accuracy of each, and every wrong answer with its documents."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ragstone.errors import DataError
from ragstone.experiments.languages import ALL, OWN, LanguageVerdict, compare_values, corrected, groups
from ragstone.experiments.truth import says_true
from ragstone.records import Answer, Judgement, Question
from ragstone.retrieval.relevance import relevant_documents

ACCURACY = "accuracy"
HALF = 0.5  # containment is 1 or 0


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to all questions from the contexts of one kind of index, and whether each is right.

    index: OWN or ALL. right: question id -> whether it is; questions whose answer cannot be scored (a failed
    call, no reference) are not in it.
    """

    retriever: str
    index: str
    answers: list[Answer]
    right: dict[str, bool]


class AnsweringCost(msgspec.Struct, frozen=True, kw_only=True):
    """What the answers of one kind of index cost, as the ledger recorded it; None where a price is unknown.

    n_unscored: answers that are neither right nor wrong. n_neither: answers to true/false questions that
    say neither, which count as wrong.
    """

    retriever: str
    index: str
    n_answers: int
    n_unscored: int
    n_neither: int
    usd: float | None


class GivenDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that a wrong answer was made from. copy: whether it is a relevant one, or a copy of one."""

    place: int
    document_id: str
    lang: str | None
    copy: bool


class WrongAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A wrong answer, and the documents that it was made from, best first."""

    question_id: str
    lang: str | None
    kind: Literal["open", "true_false", "multi"]
    retriever: str
    index: str
    question: str
    reference: list[str]
    answer: str
    found: bool
    documents: list[GivenDocument]


def is_right(question: Question, answer: Answer, judgement: Judgement | None) -> bool | None:
    """Return whether an answer is right; None where that cannot be said.

    A true/false question: if it says the same as the reference, in whatever words; an answer that says
    neither is wrong. Others: as the judgement (of `containment`) says. Raises DataError for a reference
    that is neither true nor false.
    """
    if answer.error is not None or not question.reference:
        return None
    if question.kind == "true_false":
        return says_true(answer.answer) is reference_truth(question)
    return None if judgement is None or judgement.score is None else judgement.score >= HALF


def reference_truth(question: Question) -> bool:
    """Return what the reference of a true/false question says. Raises DataError if it says neither."""
    said = {says_true(text) for text in _references(question)}
    if len(said) != 1 or None in said:
        raise DataError(
            f"question {question.id!r} is of kind true_false, but its reference is {question.reference!r}. "
            "Give `True` or `False`."
        )
    return bool(said.pop())


def accuracy_verdicts(
    answered: Sequence[Answered],
    questions: Sequence[Question],
    same: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[LanguageVerdict]:
    """Return all languages against the own one by right answers: of each retriever, by language and in all.

    Only questions that both answers of are scored count. McNemar's test, or one that knows of shared
    documents (see compare_rankings); Holm's correction over all verdicts that come back.
    """
    by_key = {(one.retriever, one.index): one.right for one in answered}
    shared = {q.id: min(same.get(name, name) for name in relevant_documents(q) or [q.id]) for q in questions}
    verdicts = []
    for retriever in dict.fromkeys(one.retriever for one in answered):
        own, together = by_key[retriever, OWN], by_key[retriever, ALL]
        both = [question for question in questions if question.id in own and question.id in together]
        for lang, some in groups(both).items():
            names = [question.id for question in some]
            verdicts.append(
                compare_values(
                    retriever,
                    lang,
                    {name: float(together[name]) for name in names},
                    {name: float(own[name]) for name in names},
                    shared,
                    measure=ACCURACY,
                    seed=seed,
                )
            )
    return corrected(verdicts)


def answering_cost(one: Answered, questions: Mapping[str, Question]) -> AnsweringCost:
    """Return what the answers cost, and how many could not be scored."""
    costs = [answer.cost_usd for answer in one.answers if answer.error is None]
    known = [cost for cost in costs if cost is not None]
    asked = [(questions[answer.question_id], answer) for answer in one.answers]
    return AnsweringCost(
        retriever=one.retriever,
        index=one.index,
        n_answers=len(one.answers),
        n_unscored=len(one.answers) - len(one.right),
        n_neither=sum(
            question.kind == "true_false" and answer.error is None and says_true(answer.answer) is None
            for question, answer in asked
        ),
        usd=sum(known) if len(known) == len(costs) else None,
    )


def wrong_answers(
    one: Answered,
    questions: Mapping[str, Question],
    same: Mapping[str, str],
    lang_of: Mapping[str, str],
) -> list[WrongAnswer]:
    """Return the wrong answers, in order, each with the documents that it was made from.

    lang_of: document id -> its language.
    """
    wrong = []
    for answer in one.answers:
        if one.right.get(answer.question_id) is not False:
            continue
        question = questions[answer.question_id]
        relevant = {same.get(name, name) for name in relevant_documents(question)}
        documents = [
            GivenDocument(
                place=place,
                document_id=context.document_id or "",
                lang=lang_of.get(context.document_id or ""),
                copy=same.get(context.document_id or "", context.document_id) in relevant,
            )
            for place, context in enumerate(answer.contexts or (), 1)
        ]
        wrong.append(
            WrongAnswer(
                question_id=question.id,
                lang=question.lang,
                kind=question.kind,
                retriever=one.retriever,
                index=one.index,
                question=question.question,
                reference=_references(question),
                answer=answer.answer,
                found=any(document.copy for document in documents),
                documents=documents,
            )
        )
    return wrong


def _references(question: Question) -> list[str]:
    given = question.reference or []
    return [given] if isinstance(given, str) else given
