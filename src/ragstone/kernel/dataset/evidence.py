"""A quotation -> the place in the text that it was copied from, as a model copies: almost word for word."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.sentences import sentence_spans

How = Literal["exact", "spaced", "fuzzy"]
HOWS: tuple[How, ...] = ("exact", "spaced", "fuzzy")

# Measured on sentences of squad2 and of xquad in ten languages, see docs/explanation/questions.md.
SIMILAR = 0.8  # share of a quotation's characters that must stand in the text, and of a short one's
SIMILAR_IF_SHORT = 0.9
SHORT = 24  # characters, spaces and marks not counted
FEWEST = 10  # from which on letters may differ at all
LONGEST = 4000  # characters of a quotation that is looked for with differences in letters
MOST_SKIPPED = 1500  # characters between two parts of a quotation
MOST_TRIED = 100  # places of the same words, until one is found that cuts no word
MOST_WIDENED = 40  # characters by which a span grows to whole words
# Costs: copies leave words out more often than they put others in.
CHANGE, SKIP = 2, 1
CHECKED_EVERY = 16  # rows

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_DECIMAL = re.compile(r"\d[.,]\d")
_ELLIPSIS = re.compile(r"(?:(?<!\s)\s++)?+[\[(]?(?:\.{3,}+|…)[\])]?+\s*+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
# Quotation marks, Markdown's and a table's: what copies leave out or put in.
_MARKS = frozenset("\"'`´*|#>\\‘’‚‛“”„‟«»‹›「」『』〝〞〟′″＂＇")


class EvidenceMatch(msgspec.Struct, frozen=True, kw_only=True):
    """Where a quotation stands: `text[start:end]`, in code points.

    how: `exact`, the same characters; `spaced`, the same but for white space, case, quotation marks, dashes,
    Markdown's marks and Unicode form; `fuzzy`, with other differences or parts left out. similarity: the
    share of the quotation's characters that stand in the text, 1 for exact and spaced.
    """

    start: int
    end: int
    how: How
    similarity: float


class _Folded(NamedTuple):
    """A text without what copies change, and the place of each of its characters in the text."""

    text: str
    folded: str
    places: Sequence[int]


class _Match(NamedTuple):
    """A stretch of a folded text."""

    start: int
    end: int
    how: How
    similarity: float


def find_evidence(quote: str, text: str) -> EvidenceMatch | None:
    """Return where the text holds the quotation, or None.

    The first of these that finds it: the same characters; the same but for spacing and marks; the parts
    around an ellipsis ("start … end"), in order; the nearest stretch by edit distance (Sellers 1980), if at
    least SIMILAR of the characters stand there and no number differs; its sentences one by one, in order. A
    span covers whole words, and goes from the first part to the last. Time grows with the product of the two
    lengths: 0.1 s for 300 characters in 100,000.
    """
    quote = quote.strip()
    if not any(character.isalnum() for character in quote):
        return None
    start = _exact(quote, text)
    if start is not None:
        return EvidenceMatch(start=start, end=start + len(quote), how="exact", similarity=1.0)
    folded, sought = _fold(text), _fold(quote).folded
    parts = [part for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part))]
    match = (
        _spaced(folded, sought, 0, len(folded.folded))
        or (_chain(folded, parts) if len(parts) > 1 or parts != [quote] else None)
        or _fuzzy(folded, sought, 0, len(folded.folded))
    )
    if match is None:
        sentences = [quote[first:last] for first, last in sentence_spans(quote)]
        match = _chain(folded, sentences) if len(sentences) > 1 else None
    return None if match is None else _in_text(folded, match)


def _exact(quote: str, text: str) -> int | None:
    """Return where the same characters stand as whole words."""
    start = text.find(quote)
    for _ in range(MOST_TRIED):
        if start == -1:
            return None
        if not _tears(text, start) and not _tears(text, start + len(quote)):
            return start
        start = text.find(quote, start + 1)
    return None


def _spaced(folded: _Folded, sought: str, low: int, high: int) -> _Match | None:
    """Return where the folded characters stand as whole words, between two places of the folded text."""
    start = folded.folded.find(sought, low, high)
    for _ in range(MOST_TRIED):
        if start == -1 or not sought:
            return None
        match = _Match(start, start + len(sought), "spaced", 1.0)
        first, last = _span(folded, match)
        if not _tears(folded.text, first) and not _tears(folded.text, last):
            return match
        start = folded.folded.find(sought, start + 1, high)
    return None


def _fuzzy(folded: _Folded, sought: str, low: int, high: int) -> _Match | None:
    """Return the nearest stretch between two places, if it is near enough."""
    if not FEWEST <= len(sought) <= LONGEST:
        return None
    text, quote = _codes(folded.folded[low:high]), _codes(sought)
    most = int(CHANGE * (1 - (SIMILAR if len(quote) >= SHORT else SIMILAR_IF_SHORT)) * len(quote))
    last = _last_row(text, quote, most, anchored=False)
    if last is None:
        return None
    end = int(last.argmin())
    cost = int(last[end])
    # Backwards from the end: where the stretch begins.
    begin = max(0, end - len(quote) - most)
    back = _last_row(text[begin:end][::-1], quote[::-1], most, anchored=True)
    if back is None:
        return None
    start = end - int(back.argmin())
    # Another number is another fact, however near the words are.
    if _numbers(sought) - _numbers(folded.folded[low + start : low + end]):
        return None
    return _Match(low + start, low + end, "fuzzy", 1 - cost / (CHANGE * len(quote)))


def _numbers(text: str) -> set[str]:
    return {re.sub("[.,]", "", number) for number in _NUMBER.findall(text)}


def _last_row(
    text: NDArray[np.uint32], quote: NDArray[np.uint32], most: int, *, anchored: bool
) -> NDArray[np.int32] | None:
    """Return for each end in the text the least cost that makes the quotation of a stretch that ends there.

    A character of the quotation that is not in the text, or another one, costs CHANGE; one of the text that
    the quotation lacks SKIP. anchored: the stretch begins where the text does. None where all cost more than
    `most`.
    """
    steps = SKIP * np.arange(len(text) + 1, dtype=np.int32)
    row = steps.copy() if anchored else np.zeros_like(steps)
    for n_seen, code in enumerate(quote, 1):
        changed = row[:-1] + CHANGE * (text != code)
        row += CHANGE
        np.minimum(row[1:], changed, out=row[1:])
        row -= steps
        np.minimum.accumulate(row, out=row)  # the text goes on without the quotation, where that pays
        row += steps
        if n_seen % CHECKED_EVERY == 0 and row.min() > most:
            return None
    return row if row.min() <= most else None


def _chain(folded: _Folded, parts: Sequence[str]) -> _Match | None:
    """Return the stretch from the first part to the last: all there, in order, near each other."""
    low, high = 0, len(folded.folded)
    matches: list[_Match] = []
    for part in parts:
        sought = _fold(part).folded
        match = _spaced(folded, sought, low, high) or _fuzzy(folded, sought, low, high)
        if match is None:
            return None
        matches.append(match)
        low = match.end
        high = min(len(folded.folded), low + MOST_SKIPPED + len(sought))
    if not matches:
        return None
    n_sought = sum(match.end - match.start for match in matches)
    similarity = sum(match.similarity * (match.end - match.start) for match in matches) / n_sought
    how = matches[0].how if len(matches) == 1 else "fuzzy"
    return _Match(matches[0].start, matches[-1].end, how, similarity)


def _in_text(folded: _Folded, match: _Match) -> EvidenceMatch:
    """Return a match as a span of whole words of the text."""
    start, end = _span(folded, match)
    text = folded.text
    start, end = _widened(text, start, -1), _widened(text, end, 1)
    while start > 0 and text[start - 1] in _MARKS and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and text[end] in _MARKS:
        end += 1
    return EvidenceMatch(start=start, end=end, how=match.how, similarity=round(match.similarity, 4))


def _widened(text: str, at: int, step: int) -> int:
    """Return the nearest place outwards that tears no word; the same place where none is near."""
    for moved in range(MOST_WIDENED + 1):
        edge = at + step * moved
        if not _tears(text, edge):
            return edge
    return at


def _span(folded: _Folded, match: _Match) -> tuple[int, int]:
    start, end = folded.places[match.start], folded.places[match.end - 1] + 1
    while end < len(folded.text) and _belongs(folded.text[end]):
        end += 1
    return start, end


def _tears(text: str, at: int) -> bool:
    """Say whether a place lies inside a word, or between a character and its marks."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if _belongs(after) or before == "\u200d":
        return True
    if _UNSPACED.match(before) or _UNSPACED.match(after):
        return False
    if (before.isalnum() or _belongs(before)) and after.isalnum():
        return True
    return _DECIMAL.search(text, max(0, at - 2), at + 2) is not None


def _belongs(character: str) -> bool:
    """Say whether a character belongs to the one before it: a combining mark or a joiner."""
    return character > "\u02ff" and unicodedata.category(character) in ("Mn", "Mc", "Me", "Cf")


class _Folds(dict[int, str]):
    """Code of a character -> what is compared in its place."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
        letters = (
            "-" if unicodedata.category(letter) == "Pd" or letter == "\u2212" else letter
            for letter in plain
            if not letter.isspace() and letter not in _MARKS and unicodedata.category(letter) != "Cf"
        )
        self[code] = "" if character in _MARKS else "".join(letters)
        return self[code]


_FOLDS = _Folds()


def _fold(text: str) -> _Folded:
    places = [at for at, character in enumerate(text) for _ in _FOLDS[ord(character)]]
    return _Folded(text, text.translate(_FOLDS), places)


def _codes(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
