"""Phrases of a file, looked for word by word: case, punctuation and invisible characters do not matter."""

import re
from collections.abc import Iterable
from functools import lru_cache

from ragstone.corpus.tokens import tokenize

GAP = r"(?:\S+ ){0,4}?"  # words that may stand between two that belong together


@lru_cache(maxsize=1024)  # one guard after the other asks for the same sentence
def said(text: str) -> str:
    """Return the words of a text as the patterns here look at them: between single spaces."""
    return f" {' '.join(tokenize(text))} "


def any_of(phrases: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for any of the phrases in `said(text)`; `*` at the end of a word: any ending."""
    return re.compile(_any_of(phrases))


def near(firsts: Iterable[str], seconds: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern for one of each in `said(text)`, in any order, four words between them at most."""
    first, second = _any_of(firsts), _any_of(seconds)
    return re.compile(f"{first}{GAP}(?<= ){second[1:]}|{second}{GAP}(?<= ){first[1:]}")


def _any_of(phrases: Iterable[str]) -> str:
    written = {_pattern(phrase) for phrase in phrases}
    return f" (?:{'|'.join(sorted(written, key=len, reverse=True))})"


def _pattern(phrase: str) -> str:
    words = [
        re.escape(" ".join(tokenize(word))) + (r"\S*" if word.endswith("*") else "")
        for word in phrase.split()
    ]
    return " ".join(words) + " "
