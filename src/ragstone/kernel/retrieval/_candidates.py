"""Passages -> what may be quoted of them: sentences, and lists and code with the line before them."""

import re
import unicodedata
from collections.abc import Sequence, Set

import msgspec

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import search_terms, tokenize
from ragstone.kernel.retrieval._phrases import is_leaning

FENCE = "```"
LONGEST_LIST = 600  # characters that are quoted of a list, with the line before it
HEADING_WORDS = 10  # of a line without an end that stands alone
SHORT_WORD = 5  # letters up to which a plural s is taken off: search terms of such words are whole words

_COLONS = frozenset(":\uff1a")
_ITEM = re.compile(r"(?:[-*+\u2022\u2013\u2014\u00b7\u25aa\u25e6\u2023]|\(?\w{1,3}[.)])\s")
_BLOCK = re.compile(r"^```[^\n]*\n(?:.*?^```[ \t]*$|.*)", re.DOTALL | re.MULTILINE)
_LINE_END = re.compile(r"[\n\r]")
_QUESTION_MARKS = frozenset("?\uff1f\u061f\u037e")
_ENDS = frozenset(".!?\u2026\u3002\uff01\uff1f\u0964\u061f\u06d4;")


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a passage that may be quoted.

    passage: its position; span: in the text of it, with the sentence before where this one leans on it.
    text, tokens, terms: of the sentence alone, without code. beside: terms of title, heading and the sentence
    before. place: its number among the sentences of its passage.
    """

    passage: int
    span: tuple[int, int]
    text: str
    tokens: list[str]
    terms: list[str]
    beside: Set[str]
    place: int
    is_list: bool
    leans: bool


def candidates_of(passages: Sequence[str], titles: Sequence[str | None]) -> list[Candidate]:
    """Return what may be quoted of each passage, in order; titles: of their documents, as many or fewer.

    Questions, headings and lines that end in a colon without their list are none.
    """
    return [
        candidate
        for number, passage in enumerate(passages)
        for candidate in _of_passage(number, passage, titles[number] if number < len(titles) else None)
    ]


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in order, of each word the one that its inflected forms share."""
    terms: list[str] = []
    for term in search_terms(text):
        if term.endswith("*"):
            terms[-1] = term[:-1]
        else:
            terms.append(term)
    return [
        term[:-1] if 3 < len(term) <= SHORT_WORD and term[-1] == "s" and term[-2] not in "sui" else term
        for term in terms
    ]


def _of_passage(number: int, passage: str, title: str | None) -> list[Candidate]:
    candidates: list[Candidate] = []
    named = set(terms_of(title or ""))
    heading: Set[str] = set()
    before: tuple[Set[str], tuple[int, int] | None] = (set(), None)
    for place, (start, end, is_list) in enumerate(_with_lists(passage, _spans(passage))):
        text = passage[start:end]
        prose, _, code = text.partition(FENCE)  # words of code say little about what it does
        terms = terms_of(prose)
        if _is_heading(passage, start, end):
            heading, before = set(terms), (set(), None)
            continue
        bare = not code and _ends_in(text, _COLONS)
        if not bare and not _ends_in(text, _QUESTION_MARKS) and _is_prose(prose):
            tokens = tokenize(prose)
            leans = is_leaning(tokens)
            goes_on = before[1] is not None and not _LINE_END.search(passage, before[1][1], start)
            candidates.append(
                Candidate(
                    passage=number,
                    span=(before[1][0], end) if leans and goes_on and before[1] else (start, end),
                    text=prose,
                    tokens=tokens,
                    terms=terms,
                    beside=named | heading | before[0],
                    place=place,
                    is_list=is_list,
                    leans=leans,
                )
            )
        before = (set(terms), (start, end))
    return candidates


def _is_heading(passage: str, start: int, end: int) -> bool:
    """Say whether a span is a heading: a short line without an end, with text below it."""
    text = passage[start:end]
    alone = (start == 0 or passage[start - 1] in "\n\r") and passage[end : end + 1] in ("\n", "\r")
    if not alone or _LINE_END.search(text) or _ITEM.match(text):
        return False
    return text.startswith("#") or (
        len(text.split()) <= HEADING_WORDS and text[-1] not in _ENDS and bool(passage[end:].strip())
    )


def _is_prose(text: str) -> bool:
    """Say whether a text is more than lines and signs, as tables and drawings in letters are."""
    signs = [sign for sign in text if not sign.isspace()]
    return 2 * sum(sign.isalnum() or unicodedata.category(sign)[0] == "M" for sign in signs) > len(signs)


def _with_lists(passage: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int, bool]]:
    """Return the spans, the items of a list joined to the line before it, which ends in a colon."""
    joined: list[tuple[int, int, bool]] = []
    is_open = False
    for start, end in spans:
        goes_on = (
            passage.startswith(FENCE, start)
            or _ITEM.match(passage, start)
            or (joined and not _LINE_END.search(passage, joined[-1][1], start))
        )
        if is_open and goes_on and end - joined[-1][0] <= LONGEST_LIST:
            joined[-1] = (joined[-1][0], end, True)
        else:
            joined.append((start, end, False))
            is_open = _ends_in(passage[start:end], _COLONS)
    return [span for span in joined if not passage.startswith(FENCE, span[0])]


def _spans(passage: str) -> list[tuple[int, int]]:
    """Return the spans of sentences; a block of code between fences is one, whatever is in it."""
    blocks = [match.span() for match in _BLOCK.finditer(passage)]
    if not blocks:
        return sentence_spans(passage)
    spans: list[tuple[int, int]] = []
    at = 0
    for start, end in [*blocks, (len(passage), len(passage))]:
        spans += [(at + first, at + last) for first, last in sentence_spans(passage[at:start])]
        spans += [(start, end)] if start < end else []
        at = end
    return spans


def _ends_in(text: str, marks: Set[str]) -> bool:
    """Return whether one of the marks stands behind the last word."""
    for sign in reversed(text):
        if sign in marks or sign.isalnum():
            return sign in marks
    return False
