"""Candidates against which something is found -> the same, lost for the first reason."""

from collections import defaultdict
from collections.abc import Sequence

import msgspec

from ragstone.kernel.dataset.candidate import Candidate, Loss
from ragstone.kernel.dataset.checks import CHECKS
from ragstone.kernel.dataset.repeats import find_repeats
from ragstone.kernel.records import Question, references


def lose(candidate: Candidate, reason: str, detail: str | None = None) -> Candidate:
    """Return the candidate as lost for this reason; one that is lost already keeps its first loss."""
    if candidate.loss is not None:
        return candidate
    return msgspec.structs.replace(candidate, loss=Loss(reason=reason, detail=detail))


def mark_repeats(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates, those that repeat an earlier one of their language lost.

    Lost ones are not compared. The detail names the first of the group, by its id or in its words; where the
    answers come from different documents it says so, for one question that has two answers is ambiguous.
    """
    marked = list(candidates)
    by_language: dict[str | None, list[int]] = defaultdict(list)
    for number, candidate in enumerate(candidates):
        if candidate.loss is None:
            by_language[candidate.question.lang].append(number)
    for numbers in by_language.values():
        for repeat in find_repeats([candidates[number].question.question for number in numbers]):
            number, of = numbers[repeat.number], candidates[numbers[repeat.of]].question
            detail = _described(candidates[number].question, of)
            marked[number] = lose(marked[number], "duplicate" if repeat.exact else "near_duplicate", detail)
    return marked


def _described(question: Question, first: Question) -> str:
    name = first.id or first.question
    documents = set(question.document_ids or ()), set(first.document_ids or ())
    if references(question) == references(first) or documents[0] == documents[1]:
        return name
    return f"{name} (of another document, with another answer: the question is ambiguous)"


def check_candidate(candidate: Candidate) -> Candidate:
    """Return the candidate, lost for the first thing that is found against it.

    In this order: `empty`, `too_long`, `no_question`, `mentions_context`, `answer_in_question`,
    `evidence_too_short` (see REASONS). A question that no document answers needs no answer, a statement
    (`true_false`) asks nothing.
    """
    if candidate.loss is not None:
        return candidate
    for reason, check in CHECKS.items():
        detail = check(candidate)
        if detail is not None:
            return lose(candidate, reason, detail)
    return candidate
