"""A question -> the same question with its subject taken away, as a critic should notice. Asks no model."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from ragstone.config import Section, convert_section, parse_toml

UNSPACED = ("zh", "ja", "th", "lo", "km", "my")
FEWEST_OF_HAN, FEWEST_OF_OTHERS = 2, 4  # characters of a subject in a script without spaces
LEADING_VOWELS = "เแโใไ"  # Thai writes them before the letter that they belong to
SHORTEST = 4  # letters of a word that can be a subject where names are not written with capitals
STEM = 5  # letters that the forms of a word share
CONNECTOR = 3  # letters of a word that joins two names: Battle of Hastings
KEPT = 2  # words that a question must keep

_WORD = re.compile(r"\S+")
_SENTENCE_BEFORE = re.compile(r"[^.!?:\s]\s+\Z")


class DefectWords(Section, frozen=True, kw_only=True):
    """Words for defects in one language; what each is for is said in library/defects.toml."""

    it: str
    articles: list[str]
    above: str
    language: tuple[str, str]
    title: str
    given: str


class _Languages(Section, frozen=True, kw_only=True):
    languages: dict[str, DefectWords]


class _Span(NamedTuple):
    start: int
    end: int
    behind_article: bool = False


def words_in(lang: str | None) -> DefectWords:
    """Return the words of a language; those of English for a language that has none."""
    known = _known()
    return known.get(lang or "en", known["en"])


def dangle(question: str, text: str, lang: str | None) -> str:
    """Return the question with a pronoun for what it is about, so that it cannot stand alone.

    What it is about: its longest name, in a script with capitals; otherwise the longest part that it shares
    with the text. Where there is none, the question points at "the passage above", in its language.
    """
    words = words_in(lang)
    span = _shared_part(question, text) if lang in UNSPACED else _named_words(question, text, words.articles)
    if span is None:
        return _pointing(question, words.above, spaced=lang not in UNSPACED)
    subject = question[span.start : span.end]
    it = words.it if span.start else words.it[0].upper() + words.it[1:]
    rest = question[span.end :]
    if lang in UNSPACED:
        return question[: span.start] + it + rest.replace(subject, words.it)
    again = re.compile(rf"(?<!\S){re.escape(subject)}(?=[\s?.,;:!]|\Z)")
    return question[: span.start] + it + again.sub(lambda _: words.it, rest)


def _pointing(question: str, above: str, *, spaced: bool) -> str:
    if not spaced:
        return above + question
    body = question.rstrip(" ?.!؟。？")
    return f"{body}, {above}{question[len(body) :].rstrip() or '?'}"


def _named_words(question: str, text: str, articles: Collection[str]) -> _Span | None:
    """Return the span of a question's longest name, or of the longest run of words that the text has too."""
    words = [(match.start(), _bare(match[0])) for match in _WORD.finditer(question)]
    words = [(question.find(word, start), word) for start, word in words if word]
    stems = {_bare(word).casefold()[:STEM] for word in text.split()}
    named = [_is_name(word, at == 0, text) for at, (_, word) in enumerate(words)]
    for at, (_, word) in enumerate(words[1:], 1):
        named[at] |= named[at - 1] and any(character.isdigit() for character in word)
    shared = [
        len(word) >= SHORTEST and word.casefold()[:STEM] in stems and at > 0
        for at, (_, word) in enumerate(words)
    ]
    spans = _spans(words, named, articles, joined=True)
    if spans:
        return max(spans, key=lambda span: span.end - span.start)
    # What stands behind an article is a noun; a run without one may be a verb.
    spans = _spans(words, shared, articles, joined=False)
    return max(spans, key=lambda span: (span.behind_article, span.end - span.start), default=None)


def _runs(words: Sequence[tuple[int, str]], marks: Sequence[bool], *, joined: bool) -> list[tuple[int, int]]:
    """Return the runs of marked words as first and last; joined: over a short word between two of them."""
    runs: list[tuple[int, int]] = []
    for at in (at for at, marked in enumerate(marks) if marked):
        before = runs[-1][1] if runs else -9
        gap = at - before
        if gap == 1 or (joined and gap == 2 and len(words[at - 1][1]) <= CONNECTOR):
            runs[-1] = (runs[-1][0], at)
        else:
            runs.append((at, at))
    return runs


def _spans(
    words: Sequence[tuple[int, str]], marks: Sequence[bool], articles: Collection[str], *, joined: bool
) -> list[_Span]:
    """Return the spans of runs of marked words, with the article before each, that leave enough words."""
    spans = []
    for first, last in _runs(words, marks, joined=joined):
        behind_article = first > 0 and words[first - 1][1].casefold() in articles
        start = first - behind_article
        if len(words) - (last - start + 1) >= KEPT:
            spans.append(_Span(words[start][0], words[last][0] + len(words[last][1]), behind_article))
    return spans


def _is_name(word: str, is_first: bool, text: str) -> bool:
    """Return whether a word is written as a name; the first one only if the text does so in a sentence."""
    if not any(character.isupper() for character in word):
        return False
    if not is_first:
        return True
    places = (match.start() for match in re.finditer(re.escape(word), text))
    return any(_SENTENCE_BEFORE.search(text[max(0, at - 4) : at]) for at in places)


def _bare(word: str) -> str:
    """Return a word without the punctuation around it."""
    start, end = 0, len(word)
    while start < end and unicodedata.category(word[start])[0] in "PZ":
        start += 1
    while end > start and unicodedata.category(word[end - 1])[0] in "PZ":
        end -= 1
    return word[start:end]


def _shared_part(question: str, text: str) -> _Span | None:
    """Return the longest span of a question that the text has too, of whole characters and Latin words."""
    match = difflib.SequenceMatcher(None, question, text, autojunk=False).find_longest_match()
    start, end = match.a, match.a + match.size
    while start < end and (_cuts(question, start) or unicodedata.category(question[start])[0] in "ZP"):
        start += 1
    while _cuts(question, end) and unicodedata.category(question[end])[0] == "M":
        end += 1
    while end > start and (_cuts(question, end) or unicodedata.category(question[end - 1])[0] in "ZP"):
        end -= 1
    han = any("\u3040" <= character <= "\u9fff" for character in question[start:end])
    return _Span(start, end) if end - start >= (FEWEST_OF_HAN if han else FEWEST_OF_OTHERS) else None


def _cuts(text: str, at: int) -> bool:
    """Return whether a place lies inside a character with its marks, or inside a Latin word."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    in_word = before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
    return in_word or before in LEADING_VOWELS or unicodedata.category(after)[0] == "M"


@cache
def _known() -> dict[str, DefectWords]:
    text = (resources.files("ragstone.dataset") / "library" / "defects.toml").read_text(encoding="utf-8")
    file = Path("defects.toml")
    return convert_section({"languages": parse_toml(text, file)}, _Languages, file, text).languages
