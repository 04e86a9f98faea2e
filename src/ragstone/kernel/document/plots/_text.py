"""Text of a drawing: how wide it is, by an estimate, and as much of it as there is room for."""

import unicodedata
from collections.abc import Sequence

from ragstone.kernel.errors import harmless

FONT = 13
LETTER = 0.56 * FONT  # width of a letter, on average; those of East Asia are twice as wide
LOOKED_AT = 10_000  # characters of a text: no drawing has room for a tenth of them


def cut(text: str, room: float) -> str:
    """Return as much of a text, on one line, as fits so many units; its width is estimated, not measured."""
    line = " ".join(harmless(text[:LOOKED_AT]).split())
    used = 0.0
    for at, letter in enumerate(line):
        used += _letter_width(letter)
        if used > room:
            return line[: max(at - 1, 0)].rstrip() + "…"
    return line


def text_width(text: str) -> float:
    """Return about how wide a text is."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    return LETTER * (2 if unicodedata.east_asian_width(letter) in "WF" else 1)


def wrapped(text: str, room: float) -> list[str]:
    """Return a text of ours in lines that fit; a word that is too long is cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and text_width(f"{lines[-1]} {word}") <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(cut(word, room))
    return lines


def column(texts: Sequence[str], most: float) -> float:
    """Return how wide a column of texts is, with a gap beside it."""
    return min(max((text_width(text) for text in texts), default=0.0), most) + 14
