"""A question and retrieved passages -> the sentences that answer it best, found without a model."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence, Set

import msgspec

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import function_words, search_terms, tokenize

# Chosen on half of the documents of agxqa, squad2, clapnq; benchmarks/extractive.py measures on the others.
FUNCTION_WORD = 0.3  # of the weight of another word that as many sentences hold
BESIDE = 0.3  # what a word of the question counts that stands in the title or the sentence before
FIRST = 0.3  # for a sentence of the first passage: the retriever saw more of the passage than one sentence
THRESHOLD = 0.34  # below it: nine of ten questions about something else, one of five that is answered
LONGEST_LIST = 600  # characters that are quoted of a list, with the line before it

_COLONS = frozenset(":\uff1a")
_FENCE = re.compile(r"(?:```|~~~)\S*")  # a line around code
_CODE = re.compile(r"^(```|~~~)[^\n]*\n(?:(?:.*?\n)??(?P<whole>\1)[ \t]*$|.*\Z)", re.MULTILINE | re.DOTALL)
_ITEM = re.compile(r"(?:[-*+\u2022\u2013\u2014\u00b7\u25aa\u25e6\u2023]|\(?\w{1,3}[.)])\s")
_LINE_END = re.compile(r"[\n\r]")
_ENDS = frozenset(".!?)\u3002\uff01\uff1f\u0964\u061f")  # of a sentence that needs no code to be whole
_VISIBLE = re.compile(r"\S")
_QUESTION_MARKS = frozenset("?\uff1f\u061f\u037e")


class AnswerSentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that was found. passage: its position; `text == passages[passage][start:end]`.

    score: in [0, 1], see best_sentences.
    """

    passage: int
    start: int
    end: int
    text: str
    score: float


class _Candidate(msgspec.Struct, frozen=True):
    """A sentence that may be quoted. beside: the terms of its title and of the sentence before it."""

    passage: int
    span: tuple[int, int]
    terms: Set[str]
    beside: Set[str]


def best_sentences(
    question: str,
    passages: Sequence[str],
    *,
    titles: Sequence[str | None] = (),
    most: int = 2,
    threshold: float | None = None,
) -> list[AnswerSentence]:
    """Return the sentences that answer a question best, best first; none where no sentence does.

    passages: retrieved texts, best first, in the language of the question; titles: of their documents, one a
    passage, None for one without. A list belongs to the line before it that ends in a colon, and so
    does a block of code, or to one without an end ("Check the logs"). A sentence that
    is a question, or says nothing that the question does not, is no answer, nor is the line around code.

    The score is the share of the question's words that the sentence holds, each weighed by how few of these
    sentences hold it, function words less; those of its title and of the sentence before it count BESIDE. The
    first passage has FIRST of advantage in the order. Where the best sentence has less than the threshold,
    nothing answers; a threshold of 0 always answers, if any sentence can; None: THRESHOLD. most: how many
    sentences at most.

    Tried, and left out for they made it no better: the expected form of the answer (a number for "how many",
    a name for "who"), how near to each other the words stand, place in the passage, length, and weights from
    the whole corpus. It cannot tell an answer from a sentence about the same thing.
    """
    threshold = THRESHOLD if threshold is None else threshold
    terms = set(_terms(question))
    candidates = [
        candidate
        for number, passage in enumerate(passages)
        for candidate in _candidates(number, passage, titles[number] if number < len(titles) else None)
    ]
    weights = _weights(question, terms, [candidate.terms for candidate in candidates])
    scored = [
        (_score(candidate, terms, weights), candidate) for candidate in candidates if candidate.terms - terms
    ]
    scored.sort(key=lambda pair: pair[0] + FIRST * (pair[1].passage == 0), reverse=True)
    if not scored or scored[0][0] < threshold:
        return []
    return [
        AnswerSentence(
            passage=candidate.passage,
            start=candidate.span[0],
            end=candidate.span[1],
            text=passages[candidate.passage][slice(*candidate.span)],
            score=score,
        )
        for score, candidate in scored[:most]
        if score >= threshold
    ]


def _candidates(number: int, passage: str, title: str | None) -> list[_Candidate]:
    """Return the sentences of a passage that may be quoted."""
    candidates: list[_Candidate] = []
    named = set(_terms(title or ""))
    before: Set[str] = set()
    for start, end in _with_code(passage, _with_lists(passage, sentence_spans(passage))):
        text = passage[start:end]
        terms = set(_terms(text))
        if not (_ends_in(text, _QUESTION_MARKS) or _ends_in(text, _COLONS) or _FENCE.fullmatch(text)):
            candidates.append(_Candidate(number, (start, end), terms, named | before))
        before = terms
    return candidates


def _with_lists(passage: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, the items of a list joined to the line before it, which ends in a colon."""
    joined: list[tuple[int, int]] = []
    is_list = False
    for start, end in spans:
        goes_on = _ITEM.match(passage, start) or (
            joined and not _LINE_END.search(passage, joined[-1][1], start)
        )
        if is_list and goes_on and end - joined[-1][0] <= LONGEST_LIST:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
            is_list = _ends_in(passage[start:end], _COLONS)
    return joined


def _with_code(passage: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans, a block of code joined to the line before it: one with a colon, or no end, before it.

    No span holds the beginning of a block alone; of one that is cut off, its lines are sentences.
    """
    blocks = [(*block.span(), bool(block["whole"])) for block in _CODE.finditer(passage)]
    joined: list[tuple[int, int]] = []
    number = joined_to = 0
    for start, end in spans:
        while number < len(blocks) and blocks[number][1] <= start:
            number += 1
        if start < joined_to:
            continue
        first, last, is_whole = blocks[number] if number < len(blocks) else (len(passage), 0, False)
        line = passage[start : min(end, first)].rstrip() if start < first else passage[start:end]
        follows = _VISIBLE.search(passage, start + len(line))
        if (
            is_whole
            and start < first
            and follows
            and follows.start() == first
            and last - start <= LONGEST_LIST
            and not _ends_in(line, _ENDS)
        ):
            joined_to = end = last
        elif start < first < end:
            end = start + len(line)
        joined.append((start, end))
    return joined


def _score(candidate: _Candidate, terms: Set[str], weights: Mapping[str, float]) -> float:
    """Return the share of the question's weight that a sentence holds."""
    held = sum(weights[term] for term in terms & candidate.terms)
    beside = sum(weights[term] for term in (terms & candidate.beside) - candidate.terms)
    return (held + BESIDE * beside) / (sum(weights.values()) or 1)


def _weights(question: str, asked_for: Set[str], sentences: Sequence[Set[str]]) -> dict[str, float]:
    """Return the weight of each term of the question: the rarer in these sentences, the more.

    It is flatter than BM25's, so that words which the only sentence holds still count. Function
    words are rare too where documents never ask ("how many"), so a list tells them.
    """
    light = {term for word in function_words().intersection(tokenize(question)) for term in _terms(word)}
    counts = Counter(term for terms in sentences for term in asked_for & terms)
    n = len(sentences)
    return {
        term: math.log(1 + (n + 1) / (counts[term] + 1)) * (FUNCTION_WORD if term in light else 1)
        for term in asked_for
    }


def _terms(text: str) -> list[str]:
    """Return the terms of a text, of each word the one that its inflected forms share."""
    terms: list[str] = []
    for term in search_terms(text):
        if term.endswith("*"):
            terms[-1] = term
        else:
            terms.append(term)
    return terms


def _ends_in(text: str, marks: Set[str]) -> bool:
    """Return whether one of the marks stands behind the last word."""
    for sign in reversed(text):
        if sign in marks or sign.isalnum():
            return sign in marks
    return False
