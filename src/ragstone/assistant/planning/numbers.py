"""Whether the numbers of a reply stand in what it was written from."""

import re
from collections.abc import Iterable

from ragstone.dataset.factual.numbers import numbers_in

_MARKERS = re.compile(r"\[\d+\]|^\s*\d{1,2}[.)]\s", re.MULTILINE)  # citations, and the numbers of a list
_SENTENCE = re.compile(r"(?:[.!?](?=\s)|[।؟。？！\n])\s*")


def unfounded(text: str, sources: Iterable[str]) -> list[str]:
    """Return the numbers of the text that stand in no source, in order.

    Digits of any script are the same, and so are "1,000" and "1000", "2.50" and "2,5"; a number that is
    one of the sources, rounded to fewer places, stands there. Numbers in words are not looked at, nor are citations
    `[1]` and the numbers of a list.
    """
    known = {value for source in sources for number in numbers_in(source) for value in _values(number)}
    return [
        number
        for number in numbers_in(_MARKERS.sub(" ", text))
        if not any(_stands(value, known) for value in _values(number))
    ]


def split_sentences(text: str) -> tuple[list[str], str]:
    """Return the whole sentences of a text that grows, with the white space behind them, and the rest."""
    sentences, start = [], 0
    for end in _SENTENCE.finditer(text):
        if end.end() == len(text):  # more white space, or the other half of "?!", may follow
            break
        sentences.append(text[start : end.end()])
        start = end.end()
    return sentences, text[start:]


def _values(number: str) -> set[tuple[float, int]]:
    """Return what a number may mean, each with its decimal places: "1,234" is 1234 or 1.234."""
    parts = re.split(r"[^0-9]", number)
    found = {(float("".join(parts)), 0)}
    if len(parts) > 1:
        found.add((float(f"{''.join(parts[:-1])}.{parts[-1]}"), len(parts[-1])))
        found |= {(float(part), 0) for part in parts} if len(parts) > 2 else set()
    return found


def _stands(value: tuple[float, int], known: set[tuple[float, int]]) -> bool:
    number, places = value
    return any(
        abs(one - number) <= 0.5 * 10**-places + 1e-9 if of > places else one == number for one, of in known
    )
