"""Whether an answer is a plain refusal, by words of several languages; no model is asked."""

import functools
import re
from collections.abc import Iterable, Sequence

from ragstone.config import read_library
from ragstone.corpus.tokens import tokenize

# An answer may say further down what it does not know; a refusal begins with it. In words, or letters of a
# script without spaces.
WITHIN = 30
WITHIN_LETTERS = 80
END = "|"  # of a sentence, among its words: what is denied in one says nothing of the next
GAP = rf"(?:[^\s{END}]+ ){{0,8}}?"
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


def no_refusal(answer: str) -> float:
    """0 if the answer begins with a refusal, or says nothing, else 1.

    A refusal is a phrase of words/refusals.toml, or a negation with at most eight words between it and a
    word for knowing, telling or a source in the same sentence, before or after it. It must start within the
    first 30 words (80 letters of a script without spaces). An answer that first owns up to a doubt and then
    answers counts as a refusal too.
    """
    if not any(character.isalnum() for character in answer):
        return 0.0
    most = WITHIN_LETTERS if WITHOUT_SPACES.search(answer) else WITHIN
    sentences = (" ".join(tokenize(sentence)) for sentence in SENTENCE.split(answer))
    said = f" {f' {END} '.join(sentences)} "
    found = (pattern.search(said) for pattern in _patterns())
    return float(not any(one and _words_before(said, one.start() + 1) <= most for one in found))


def _words_before(said: str, place: int) -> int:
    return said.count(" ", 0, place) - said.count(END, 0, place)


@functools.cache
def _patterns() -> list[re.Pattern[str]]:
    """Return what to search for in words that stand between single spaces, one pattern for each language."""
    return [
        re.compile(
            "|".join(
                [
                    _any(table["phrases"]),
                    *([_near(table["negations"], table["matters"])] if "matters" in table else []),
                ]
            )
        )
        for table in read_library("ragstone.judging", "words/refusals.toml").values()
    ]


def _near(negations: Sequence[str], matters: Sequence[str]) -> str:
    """Return a pattern for one of the negations near one of the matters, whichever comes first."""
    negated, meant = _any(negations), _any(matters)
    return f"{negated}{GAP[:-1]}(?<= ){meant[1:]}|{meant}{GAP[:-1]}(?<= ){negated[1:]}"


def _any(phrases: Iterable[str]) -> str:
    """Return a pattern for any of the phrases, between spaces: it begins with one and ends behind one."""
    return f" (?:{'|'.join(sorted({_pattern(phrase) for phrase in phrases}, key=len, reverse=True))})"


def _pattern(phrase: str) -> str:
    """Return a phrase as a pattern, without the space before it and with the one behind it."""
    parts = []
    for part in phrase.split(" * "):
        stems = [" ".join(tokenize(stem)) if stem else "" for stem in part.split("*")]
        parts.append(r"\S*".join(map(re.escape, stems)) + " ")
    return GAP.join(parts)
