"""A document -> its paragraphs and what stands between them, so that it can be put together again."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ragstone.corpus.sentences import sentence_spans
from ragstone.corpus.splitting import pack

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

_MASK = re.compile(r"K(0|[1-9]\d{0,8})K")


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
    return [found[0] for found in _KEPT.finditer(text)]


def masked(text: str) -> tuple[str, list[str]]:
    """Return the text with a made-up word in place of each kept part, and the parts."""
    parts = kept_parts(text)
    numbers = iter(range(len(parts)))
    return _KEPT.sub(lambda _: _mask(next(numbers)), text), parts


def unmasked(text: str, parts: list[str]) -> str:
    """Return the text with the parts in place of their masks again."""
    return _MASK.sub(lambda found: parts[int(found[1])] if int(found[1]) < len(parts) else found[0], text)


def _mask(number: int) -> str:
    return f"K{number}K"


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
