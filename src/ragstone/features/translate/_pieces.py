"""The pieces of a text that stay as they are, and which of them, and of its numbers, a translation lacks."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ragstone.kernel.corpus.numbers import numbers_in
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.splitting import pack
from ragstone.kernel.dataset.candidate import Loss

# A fenced block of code, to its end or that of the text.
_CODE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[^\S\n]*$|\Z)", re.MULTILINE | re.DOTALL)


_GAP = re.compile(r"(?<!\s)(?=\s*?\n[^\S\n]*+\n)\s++")


# What stays as it is within a sentence: code, addresses, tags, and places that a program fills.
_KEPT = re.compile(
    r"`[^`\n]+`"
    r"|https?://[^\s<>\"]*[^\s<>\".,;:!?)\]}'’”]|www\.[^\s<>\"]*\w"
    r"|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++"
    r"|\{\{[^{}\n]*\}\}|\{[\w.:-]*\}|%\(\w+\)[sdifr]|%[sd]\b"
    r"|</?[A-Za-z][^<>\n]*>"
)


class Piece(NamedTuple):
    """A stretch of a document; one that is not `open` stays as it is: white space, code, no letter."""

    text: str
    open: bool


def cut(text: str, longest: int) -> list[Piece]:
    """Return the pieces of a text, in order; joined they are the text.

    Paragraphs are open to translation; one that is longer than `longest` characters is cut between sentences,
    and a sentence that is longer between words.
    """
    pieces: list[Piece] = []
    at = 0
    for block in _CODE.finditer(text):
        pieces += _prose(text[at : block.start()], longest)
        pieces.append(Piece(block[0], False))
        at = block.end()
    pieces += _prose(text[at:], longest)
    return [piece for piece in pieces if piece.text]


def kept_parts(text: str) -> list[str]:
    """Return what a translation must hold unchanged, in order: code, addresses, tags, places to be filled."""
    return [match[0] for match in _KEPT.finditer(text)]


def _prose(text: str, longest: int) -> Iterator[Piece]:
    at = 0
    for gap in _GAP.finditer(text):
        yield from _paragraph(text[at : gap.start()], longest)
        yield Piece(gap[0], False)
        at = gap.end()
    yield from _paragraph(text[at:], longest)


def _paragraph(text: str, longest: int) -> Iterator[Piece]:
    spans = [(0, len(text))] if len(text) <= longest else pack(text, sentence_spans(text), longest, 0)
    at = 0
    for start, end in spans:
        yield Piece(text[at:start], False)
        yield from _with_edges(text[start:end])
        at = end
    yield Piece(text[at:], False)


def _with_edges(text: str) -> Iterator[Piece]:
    """Yield a text with the white space around it apart."""
    inner = text.strip()
    begin = len(text) - len(text.lstrip())
    yield Piece(text[:begin], False)
    yield Piece(inner, any(map(str.isalpha, _KEPT.sub("", inner))))
    yield Piece(text[begin + len(inner) :], False)


MOST_NAMED = 4


MOST_MISSING = 0.1  # of the numbers


SPELLED_OUT = 12  # numbers up to this are written as words in many a translation


_DIGITS = re.compile(r"\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*")


_GROUPED = re.compile(r"(?<=\d)[\s\u00a0\u202f](?=\d{3}(?!\d))")


def find_missing(texts: Sequence[str], translated: Sequence[str]) -> Loss | None:
    """Return which kept part or numbers of the texts their translations lack, None where nothing is lost.

    Of the numbers a tenth may be missing: in a long document some are written as words.
    """
    source, made = "\n".join(texts), "\n".join(translated)
    counted = Counter(kept_parts(source))
    parts = [part for part, n in counted.items() if made.count(part) < n]
    if parts:
        return Loss(reason="part_lost", detail=", ".join(parts[:MOST_NAMED]))
    numbers = missing_numbers(source, made)
    if len(numbers) > MOST_MISSING * len(_wanted(source)):
        return Loss(reason="number_lost", detail=", ".join(numbers[:MOST_NAMED]))
    return None


def missing_numbers(text: str, translated: str) -> list[str]:
    """Return the numbers of a text that its translation has in no form, in any script's digits.

    Separators do not matter, and thousands may be told by a word (20,000, "20 mil", "2万"), decades and
    centuries by their own number (the 1930s, "años 30"). Numbers up to twelve are not looked for, which
    translators spell out. Of 924 English questions, people's translations into nine languages lack a number
    in 1 to 25, some of them by mistake.
    """
    # Arabic and other languages write words against a number, which then is none to numbers_in.
    numbers = [*_DIGITS.findall(translated), *_DIGITS.findall(_GROUPED.sub("", translated))]
    there = {_bare(number) for number in numbers}
    return [number for number in _wanted(text) if not _holds_number(number, there)]


def _wanted(text: str) -> list[str]:
    numbers = dict.fromkeys(_bare(number) for number in numbers_in(text))
    return [number for number in numbers if int(number) > SPELLED_OUT]


def _holds_number(number: str, there: set[str]) -> bool:
    value = int(number)
    readings = {number} | {str(value // unit) for unit in (1000, 10_000) if value % unit == 0}
    if len(number) == 4 and value % 10 == 0:
        readings.add(str(value // 100 + 1) if value % 100 == 0 else number[2:])
    # Two numbers that stand together may be joined, as in 1997/98.
    return not readings.isdisjoint(there) or any(
        len(other) > len(number) > 1 and (other.startswith(number) or other.endswith(number))
        for other in there
    )


def _bare(number: str) -> str:
    digits = "".join(str(unicodedata.decimal(digit)) for digit in number if digit.isdecimal())
    return digits.lstrip("0") or "0"
