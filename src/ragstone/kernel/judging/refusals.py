"""Whether a text refuses to answer, by words of more than ten languages: words/refusals.toml."""

import functools
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import NamedTuple

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize

# An answer may say further down what it does not know; a refusal begins with it. In words, or letters of a
# script without spaces.
WITHIN = 30
WITHIN_LETTERS = 80
SHORT = 5  # words of an answer, or
SHORT_LETTERS = 12  # in which a negation and a matter say enough
UNCUT = 12  # words of a sentence that is one clause, commas or not: "I cannot, on this evidence, answer"
END = "|"  # of a clause, among its words: what is denied in one says nothing of the next
GAP = 8
NEXT = 2, 1  # words between a negation and one of the tells, and between one of these and a negation
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
CLAUSE = re.compile(r"[,;:،؛]\s|[，；：、]|\s[-–—]\s|[()\[\]\"“”]")
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


class _Language(NamedTuple):
    """What one language says: patterns of words that stand between single spaces.

    begins: how all that is denied begins; a pattern is compiled for a text that has one of these.
    """

    begins: list[str]
    denied: str
    speakers: str | None  # None: phrases alone, which need none
    tells: str | None
    conditions: str | None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def refuses(answer: str) -> bool:
    """Say whether one of the first sentences of a text refuses.

    One of its clauses has a phrase of words/refusals.toml, or a negation with at most eight words between it
    and a word for knowing, telling or a source. And the sentence names a speaker or a source, or the negation
    is next to a word that is said of sources alone; a text of five words needs neither.
    """
    unspaced = WITHOUT_SPACES.search(answer) is not None
    sentences = _sentences(answer, WITHIN_LETTERS if unspaced else WITHIN)
    n_words = sum(len(clause) for _, clauses in sentences for clause in clauses)
    short = n_words <= (SHORT_LETTERS if unspaced else SHORT)
    text = _joined(clause for _, clauses in sentences for clause in clauses)
    candidates = [
        words
        for words in _languages()
        if any(map(text.__contains__, words.begins)) and _compiled(words.denied).search(text)
    ]
    return any(
        _denies(words, clauses, left, short=short) for words in candidates for left, clauses in sentences
    )


def _sentences(answer: str, most: int) -> list[tuple[int, list[list[str]]]]:
    """Return the first sentences: how many words may stand before a refusal, and the words of each clause."""
    sentences = []
    for sentence in SENTENCE.split(answer):
        clauses = [tokenize(clause) for clause in CLAUSE.split(sentence)]
        n_words = sum(map(len, clauses))
        sentences.append((most, clauses if n_words > UNCUT else [[*chain.from_iterable(clauses)]]))
        most -= n_words
        if most <= 0:
            break
    return sentences


def _denies(words: _Language, clauses: list[list[str]], left: int, *, short: bool) -> bool:
    text = _joined(clauses)
    hit = _compiled(words.denied).search(text)
    if hit is None or text.count(" ", 0, hit.start() + 1) - text.count(END, 0, hit.start()) > left:
        return False
    if words.speakers is None or words.tells is None or words.conditions is None or short:
        return True
    conditions = _compiled(words.conditions)
    said = _joined([clause for clause in clauses if not conditions.match(f" {' '.join(clause)} ")])
    return _compiled(words.denied).search(said) is not None and (
        _compiled(words.speakers).search(text) is not None or _compiled(words.tells).search(said) is not None
    )


def _joined(clauses: Iterable[Sequence[str]]) -> str:
    return f" {f' {END} '.join(' '.join(clause) for clause in clauses)} "


@functools.cache
def _languages() -> list[_Language]:
    languages = []
    for table in read_library("ragstone.kernel.judging", "words/refusals.toml").values():
        phrases = _any(table["phrases"])
        if "matters" not in table:
            languages.append(_Language(_begins(table["phrases"]), phrases, None, None, None))
            continue
        near = _near(table["negations"], table["matters"], GAP, GAP)
        tells = _near(table["negations"], table["tells"], *NEXT)
        languages.append(
            _Language(
                _begins([*table["phrases"], *table["negations"]]),
                f"{phrases}|{near}",
                _any(table["speakers"]),
                tells,
                _any(table["conditions"]),
            )
        )
    return languages


def _begins(phrases: Iterable[str]) -> list[str]:
    """Return the beginnings of phrases, up to their first `*`, that none of the others is a beginning of."""
    begins = sorted({f" {' '.join(tokenize(phrase.partition('*')[0]))}" for phrase in phrases}, key=len)
    return [short for at, short in enumerate(begins) if not any(map(short.startswith, begins[:at]))]


def _near(negations: Sequence[str], matters: Sequence[str], behind: int, before: int) -> str:
    """Return a pattern for one of the negations near one of the matters, whichever comes first.

    behind, before: the most words that may be between a negation and the matter behind it, or before it.
    """
    negated, meant = _any(negations), _any(matters)
    return f"{negated}{_gap(behind)[:-1]}(?<= ){meant[1:]}|{meant}{_gap(before)[:-1]}(?<= ){negated[1:]}"


def _gap(most: int) -> str:
    return rf"(?:[^\s{END}]+ ){{0,{most}}}?"


def _any(phrases: Iterable[str]) -> str:
    """Return a pattern for any of the phrases, between spaces: it begins with one and ends behind one."""
    return f" (?:{'|'.join(sorted({_pattern(phrase) for phrase in phrases}, key=len, reverse=True))})"


def _pattern(phrase: str) -> str:
    """Return a phrase as a pattern, without the space before it and with the one behind it."""
    parts = []
    for part in phrase.split(" * "):
        stems = [" ".join(tokenize(stem)) if stem else "" for stem in part.split("*")]
        parts.append(r"\S*".join(map(re.escape, stems)) + " ")
    return _gap(GAP).join(parts)
