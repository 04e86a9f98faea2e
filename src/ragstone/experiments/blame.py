"""Judged answers and relevant documents -> what was lost by the retriever, and what after it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from ragstone.experiments.points import is_right
from ragstone.judging import MetricSummary
from ragstone.records import Answer, Judgement, Question


class FoundAndRight(msgspec.Struct, frozen=True, kw_only=True):
    """A system's answers by whether they had what they needed and whether they were right.

    found: a relevant document (`Question.document_ids` or `evidence`) was among the answer's contexts;
    missed: none was. right: the judge's score is at or above the middle of its scale; wrong: below it.
    Counted are answers that this judge scored, whose question names relevant documents and whose contexts
    name theirs; all other answers of the system are `n_left_out`. A wrong answer that was found is to be
    blamed on the prompt or the model, one that was missed on the retriever.
    """

    system: str
    judge: str
    metric: str
    model: str
    found_right: int
    found_wrong: int
    missed_right: int
    missed_wrong: int
    n_left_out: int


def found_and_right(
    lead: MetricSummary,
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
    questions: Mapping[str, Question],
    same: Mapping[str, str] = MappingProxyType({}),
) -> FoundAndRight | None:
    """Return the table of one system by the judge of `lead`; None if no answer of it can be counted.

    questions: by id. same: see retrieval.same_documents.
    """
    scores = {
        row.question_id: row.score
        for row in judgements
        if (row.system, row.judge, row.model) == (lead.system, lead.judge, lead.model)
    }
    counts: Counter[str] = Counter()
    for answer in answers:
        if answer.system != lead.system:
            continue
        found = found_relevant(answer, questions.get(answer.question_id), same)
        score = scores.get(answer.question_id)
        if found is None or score is None:
            counts["left_out"] += 1
        else:
            counts[
                f"{'found' if found else 'missed'}_{'right' if is_right(score, lead.scale) else 'wrong'}"
            ] += 1
    if counts.total() == counts["left_out"]:
        return None
    return FoundAndRight(
        system=lead.system,
        judge=lead.judge,
        metric=lead.metric,
        model=lead.model,
        found_right=counts["found_right"],
        found_wrong=counts["found_wrong"],
        missed_right=counts["missed_right"],
        missed_wrong=counts["missed_wrong"],
        n_left_out=counts["left_out"],
    )


def found_relevant(
    answer: Answer, question: Question | None, same: Mapping[str, str] = MappingProxyType({})
) -> bool | None:
    """Return whether a relevant document is among the contexts; None where one side does not say."""
    if question is None or answer.contexts is None or question.answerable is False:
        return None
    named = {*(question.document_ids or ()), *(span.document_id for span in question.evidence or ())}
    relevant = {same.get(name, name) for name in named}
    given = [context.document_id for context in answer.contexts]
    if not relevant or None in given:
        return None
    return any(same.get(name, name) in relevant for name in given if name)


LEAST = 20  # characters of a context that can tell which document it is from


def found_by_text(
    answer: Answer,
    question: Question,
    texts: Mapping[str, str],
    same: Mapping[str, str] = MappingProxyType({}),
) -> bool | None:
    """Return whether a context stands in a relevant document, for contexts that do not name theirs.

    texts: document id -> its text, with single spaces (see plain). None where that does not tell: the
    corpus lacks the relevant documents, or some context stands in none of its documents.
    """
    named = {*(question.document_ids or ()), *(span.document_id for span in question.evidence or ())}
    relevant = {same.get(name, name) for name in named}
    right = [text for name, text in texts.items() if same.get(name, name) in relevant]
    if not right or answer.contexts is None or question.answerable is False:
        return None
    given = [plain(context.text) for context in answer.contexts]
    if any(len(one) >= LEAST and one in text for one in given for text in right):
        return True
    placed = all(len(one) >= LEAST and any(one in text for text in texts.values()) for one in given)
    return False if placed else None


def plain(text: str) -> str:
    """Return a text with single spaces between its words."""
    return " ".join(text.split())
