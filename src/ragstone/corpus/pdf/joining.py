"""Two lines of a paragraph -> one: with a space, without one, and with or without the hyphen between."""

import re
from collections.abc import Iterable

HYPHENS = "-\u2010\u00ad\ufffe"  # PDFium writes U+FFFE for a hyphen at the end of a line

# Not the first half of a word, which a hyphen follows.
_WORD = re.compile(
    r"(?<![^\W\d_])(?<![^\W\d_][-\u2010\ufffe])[^\W\d_]++(?:[-\u2010\ufffe][^\W\d_]++)*+(?![-\u2010\ufffe])"
)
_LAST = re.compile(r"(?<![^\W_])(?<![^\W_][-\u2010])[^\W_]++(?:[-\u2010][^\W_]++)*+$")
_FIRST = re.compile(r"[^\W_]+")
_OPEN_ADDRESS = re.compile(r"(?:(?:https?://|www\.)\S*[/.?=&_%#-]|\S@)$")
# Scripts that put no space between words: Thai to Khmer, kana, Han, and full-width forms.
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_LETTER_UNSPACED = re.compile(_UNSPACED)
_FIRST_UNSPACED = "\u0e00"
_ADDRESS_ENDS = "/.?=&_%#-@"
_BINDS = "\u2013\u2014/"
_LONG = 300  # characters that are looked at; longer addresses are not


class Words:
    """The words of a document, to tell a hyphen of a word from one of a line's end. Built at first use."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: Iterable[str] | None = texts
        self._words: set[str] = set()

    def __contains__(self, word: str) -> bool:
        if self._texts is not None:
            pieces: set[str] = set()  # most words come again and again, and are taken apart once
            for text in self._texts:
                whole = text.replace("-\r\n", "\ufffe").replace("\u2010\r\n", "\ufffe").lower()
                pieces.update(whole.split())
            self._words.update(filter(str.isalpha, pieces))
            self._words.update(_WORD.findall(" ".join(pieces - self._words)))
            self._texts = None
        return word in self._words


def join(before: str, after: str, words: Words) -> str:
    """Return two pieces of a paragraph as one."""
    if before[-1] in HYPHENS:
        return _joined_at_hyphen(before, after, words)
    if after[0] >= _FIRST_UNSPACED and _LETTER_UNSPACED.match(after) and _LETTER_UNSPACED.match(before[-1]):
        return before + after
    bound = _ends_bound(before) and after[0].isalnum()
    return before + after if bound or _ends_in_address(before) else f"{before} {after}"


def ends_open(text: str) -> bool:
    """Return whether a text breaks off within a word, a number or an address."""
    return text[-1] in HYPHENS or _ends_bound(text) or _ends_in_address(text)


def _ends_bound(text: str) -> bool:
    return text[-1] in _BINDS and text[-2:-1].isalnum()


def _ends_in_address(text: str) -> bool:
    return text[-1] in _ADDRESS_ENDS and bool(_OPEN_ADDRESS.search(text[-_LONG:]))


def _joined_at_hyphen(before: str, after: str, words: Words) -> str:
    stem, first = before[:-1], _FIRST.match(after)
    last = _LAST.search(stem[-_LONG:])
    if before[-1] == "\u00ad":
        return stem + after
    if _ends_in_address(f"{stem[-_LONG:]}-"):
        return f"{stem}-{after}"
    if last is None or first is None:
        return f"{stem}- {after}"
    return f"{stem}-{after}" if _is_compound(last[0], first[0], words) else stem + after


def _is_compound(left: str, right: str, words: Words) -> bool:
    """Return whether the hyphen belongs to the word.

    It does before a capital or a figure (Anglo-Saxon, COVID-19), in a word that the document has with a
    hyphen and not without, and between two words of the document that it never has as one (two-column).
    """
    if not (right[0].islower() or (left.isupper() and right.isupper())) or any(
        map(str.isdigit, left + right)
    ):
        return right[0].isupper() or right[0].isdigit() or left[-1].isdigit()
    left, right = left.lower(), right.lower()
    tail = re.split("[-\u2010]", left)[-1]
    if tail + right in words or left + right in words:
        return False
    if f"{left}-{right}" in words or f"{tail}-{right}" in words:
        return True
    return len(tail) > 2 and len(right) > 3 and tail in words and right in words
