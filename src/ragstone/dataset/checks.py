"""What can be said against a question without asking a model."""

import re
from collections.abc import Callable

from ragstone.corpus.tokens import tokenize
from ragstone.dataset.answers import compares_two, offers_choice, polarity, says_unknown
from ragstone.dataset.asking import asks_something
from ragstone.dataset.candidate import Candidate, lose
from ragstone.dataset.mentions import mention_of_context
from ragstone.judging.lexical import context_overlap, words
from ragstone.records import Question, references

# People's questions in six packs have at most 54 words, 99 of 100 of a bank's own answers at most 370.
LONGEST_QUESTION = 60
LONGEST_ANSWER = 400
# xquad's questions have 10 words in English, 16 characters in Chinese, 40 in Thai.
CHARACTERS_A_WORD = 2
SHORTEST_EVIDENCE = 3  # words
ANSWER_TO_EVIDENCE = 3  # times as long an answer as its evidence says what the evidence does not
SHORTEST_GIVEN = 4  # characters of an answer that gives itself away
HELD = 0.5  # of an answer's words: where the evidence has them, it is long enough
OPENING = (
    12  # characters: an answer that begins so speaks of the passage; further on a document speaks of itself
)

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
)

Check = Callable[[Candidate], str | None]


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


def length_in_words(text: str) -> int:
    """Return the number of words of a text; two characters of a script without spaces count as one word."""
    tokens = tokenize(text)
    n_characters = sum(bool(_UNSPACED.match(token)) for token in tokens)
    return len(tokens) - n_characters + -(-n_characters // CHARACTERS_A_WORD)


def evidence_of(candidate: Candidate) -> list[str]:
    """Return the texts of the question's evidence that stand in the candidate's passages."""
    return [
        passage.text[span.start - passage.start : span.end - passage.start]
        for span in candidate.question.evidence or ()
        for passage in candidate.passages
        if passage.document_id == span.document_id and passage.start <= span.start < span.end <= passage.end
    ]


def _empty(candidate: Candidate) -> str | None:
    question = candidate.question
    if not tokenize(question.question):
        return "no question"
    if question.answerable is False:
        return None
    given = references(question)
    if not any(map(tokenize, given)):
        return "no answer"
    return f"the answer is {given[0]!r}" if all(map(says_unknown, given)) else None


def _too_long(candidate: Candidate) -> str | None:
    n_words = length_in_words(candidate.question.question)
    if n_words > LONGEST_QUESTION:
        return f"question: {n_words} words, at most {LONGEST_QUESTION}"
    n_words = max(map(length_in_words, references(candidate.question)), default=0)
    return f"answer: {n_words} words, at most {LONGEST_ANSWER}" if n_words > LONGEST_ANSWER else None


def _no_question(candidate: Candidate) -> str | None:
    question = candidate.question
    if question.kind == "true_false" or asks_something(question.question, question.lang):
        return None
    return question.question


def _mentions_context(candidate: Candidate) -> str | None:
    question = candidate.question
    found = mention_of_context(question.question, question.lang)
    if found is not None:
        return found
    openings = (mention_of_context(one, question.lang, OPENING) for one in references(question))
    found = next(filter(None, openings), None)
    return None if found is None else f"answer: {found}"


def _answer_in_question(candidate: Candidate) -> str | None:
    question = candidate.question
    asked = question.question
    if question.kind == "true_false" or offers_choice(asked) or compares_two(asked):
        return None
    return next((one for one in references(question) if _gives_away(question, one)), None)


def _gives_away(question: Question, reference: str) -> bool:
    """Return whether the answer stands in the question, word for word; yes, no, "two" and 2 may well do."""
    said = " ".join(words(reference))
    if len(said) < SHORTEST_GIVEN and not _UNSPACED.match(said):
        return False
    if polarity(reference) is not None or said.replace(" ", "").isdigit():
        return False
    return f" {said} " in f" {' '.join(words(question.question))} "


def _evidence_too_short(candidate: Candidate) -> str | None:
    texts, given = evidence_of(candidate), references(candidate.question)
    if not texts or not given:
        return None
    shown = " ".join(texts)
    n_words = length_in_words(shown)
    least = min(length_in_words(one) for one in given)
    if n_words >= max(SHORTEST_EVIDENCE, least / ANSWER_TO_EVIDENCE):
        return None
    held = max(context_overlap(one, shown) for one in given)
    return None if held >= HELD else f"{shown!r} for an answer of {least} words"


CHECKS: dict[str, Check] = {
    "empty": _empty,
    "too_long": _too_long,
    "no_question": _no_question,
    "mentions_context": _mentions_context,
    "answer_in_question": _answer_in_question,
    "evidence_too_short": _evidence_too_short,
}
