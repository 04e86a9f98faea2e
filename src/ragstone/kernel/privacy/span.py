"""A place in a text that holds personal data, and the text in the form that is searched for it."""

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ragstone.kernel.config import read_library

LAST_DIGIT = 0x1FBF9
BLANK = "\0"  # stands for each character that has been claimed already

# Letters of scripts without spaces, and Hangul with its endings, touch what is no part of their word.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
WORD = rf"[^\W{UNSPACED}]"
BEGINS, ENDS = rf"(?<!{WORD})", rf"(?!{WORD})"
"""No letter or digit goes before, none follows, but for those of scripts without spaces."""


class Span(NamedTuple):
    """`text[start:end]` is personal data of a kind; places with equal values hold the same datum."""

    start: int
    end: int
    kind: str
    value: str


class Hints(NamedTuple):
    """Words of which one stands in a text before a dear search is worth it; those in ASCII apart."""

    every: tuple[str, ...]
    ascii: tuple[str, ...]

    @classmethod
    def of(cls, listed: Iterable[str]) -> "Hints":
        """Return the words in small letters; one that holds another of them says nothing more."""
        low = {word.casefold() for word in listed}
        every = tuple(sorted(entry for entry in low if not any(other in entry for other in low - {entry})))
        return cls(every, tuple(filter(str.isascii, every)))

    def any_in(self, low: str) -> bool:
        """Return whether one of them stands in a text in small letters."""
        return any(map(low.__contains__, self.ascii if low.isascii() else self.every))


def folded(text: str) -> str:
    """Return a text of the same length: digits of every script as 0-9, one hyphen, one space, ASCII @ . +."""
    return text if text.isascii() else text.translate(_table())


@cache
def _table() -> dict[int, str]:
    table = {
        code: str(unicodedata.decimal(chr(code)))
        for code in range(128, LAST_DIGIT + 1)
        if chr(code).isdecimal()
    }
    same = {"-": "‐‑‒–—−－", " ": "\u00a0\u2000\u2002\u2003\u2009\u200a\u202f\u3000", "'": "’ʼ＇"}
    same |= {"@": "＠", ".": "．", "+": "＋", "(": "（", ")": "）", "/": "／", ":": "：", "=": "＝"}
    for meant, written in same.items():
        table |= {ord(character): meant for character in written}
    return table


def blanked(text: str, spans: Iterable[Span]) -> str:
    """Return the text with the characters of the spans blanked; offsets stay."""
    pieces, last = [], 0
    for start, end, *_ in sorted(spans):
        start = max(start, last)
        pieces += [text[last:start], BLANK * (end - start)]
        last = max(end, last)
    return "".join([*pieces, text[last:]])


@cache
def load_words(name: str) -> dict[str, list[str]]:
    """Return the lists of words of a file of library/."""
    return read_library("ragstone.kernel.privacy", name)
