"""The search terms of many texts as numbers, the same as `search_terms` gives, but found together."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus._pieces import KeySlots, PieceTable
from ragstone.kernel.corpus.tokens import (
    CHARACTER,
    LETTER,
    kinds_of_characters,
    spaced_terms_of_all,
    word_terms,
)

_CODE_BITS = 21  # of a code point; three of them are an integer
_MOST_CODES = 3


class PieceTerms:
    """The numbers of the terms of each piece that was met; those of new pieces are found once."""

    def __init__(self, vocabulary: dict[str, int], n_characters: int) -> None:
        """vocabulary: term -> its number; it gives a new one the next (a defaultdict that counts)."""
        self._vocabulary = vocabulary
        self._pieces = PieceTable(n_characters)
        self._characters, self._pairs = KeySlots(1, n_characters >> 2), KeySlots(1, n_characters >> 2)
        self._starts = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._terms = np.zeros(0, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._counts)

    def of(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the terms of the texts, text after text, and beside each the position of its text."""
        in_text, pieces = self._pieces.number(texts)
        self._learn()
        counts = self._counts[pieces]
        ends = np.cumsum(counts)
        places = np.repeat(self._starts[pieces] - (ends - counts), counts)
        places += np.arange(len(places))
        text = np.repeat(np.repeat(np.arange(len(texts), dtype=np.int32), in_text), counts)
        return self._terms[places], text

    def _learn(self) -> None:
        known = self._pieces.known
        new = list(islice(reversed(known), len(known) - len(self._counts)))[::-1]
        joined = b"\n".join(new).decode("utf-8", "surrogatepass")
        spaced, in_piece, unspaced = spaced_terms_of_all(joined.split("\n") if new else [])
        terms = np.array([self._vocabulary[term] for term in spaced], dtype=np.int32)
        counts = np.array(in_piece, dtype=np.int64)
        starts = len(self._terms) + np.cumsum(counts) - counts
        if unspaced:
            own = np.array(list(unspaced))
            more, counts[own] = self._of_unspaced(list(unspaced.values()))
            starts[own] = len(self._terms) + len(terms) + np.cumsum(counts[own]) - counts[own]
            terms = np.concatenate([terms, more])
        self._starts = np.concatenate([self._starts, starts])
        self._counts = np.concatenate([self._counts, counts])
        self._terms = np.concatenate([self._terms, terms])

    def _of_unspaced(self, texts: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the terms of folded texts, also in scripts without spaces, and how many each text has."""
        joined = "\n".join([*texts, ""])
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        kinds = np.frombuffer(kinds_of_characters(), dtype=np.uint8)[codes]
        text_ends = np.cumsum([len(text) + 1 for text in texts])

        edges = np.flatnonzero(np.diff(kinds == LETTER, prepend=False, append=False))
        starts, ends = edges[::2], edges[1::2]
        words = [word_terms(joined[start:end]) for start, end in zip(starts, ends, strict=True)]
        in_words = [self._vocabulary[term] for word in words for term in word]
        places = [np.repeat(starts, [len(word) for word in words])]
        numbers = [np.array(in_words, dtype=np.int32)]

        starts, ends, has_next = _characters(kinds)
        keys = _keys(codes, starts, ends)

        def look_up(starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[int]:
            return [
                self._vocabulary[joined[start:end]]
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
            ]

        characters = np.empty(len(starts), dtype=np.int32)
        longer = ends - starts > _MOST_CODES
        characters[longer] = look_up(starts[longer], ends[longer])
        short = np.flatnonzero(~longer)
        characters[short] = self._characters.number(
            [keys[short]], lambda missing: look_up(starts[short[missing]], ends[short[missing]])
        )
        first = np.flatnonzero(has_next)
        pair_keys = (characters[first].astype(np.uint64) << np.uint64(32)) | (
            characters[first + 1].astype(np.uint64) + np.uint64(1)
        )
        pairs = self._pairs.number(
            [pair_keys], lambda missing: look_up(starts[first[missing]], ends[first[missing] + 1])
        )
        places += [starts, starts[first]]
        numbers += [characters, pairs]
        text = np.searchsorted(text_ends, np.concatenate(places), side="right").astype(np.int32)
        return np.concatenate(numbers)[stable_order(text)], np.bincount(text, minlength=len(texts))


def _characters(
    kinds: NDArray[np.uint8],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return where characters start and end, with their marks, and whether another follows in the run."""
    inside = kinds >= CHARACTER
    is_start = kinds == CHARACTER
    is_start[1:] |= inside[1:] & ~inside[:-1]  # a mark that stands on nothing
    is_start[:1] |= inside[:1]
    starts = np.flatnonzero(is_start)
    ends = np.flatnonzero(inside & np.append(is_start[1:] | ~inside[1:], True)) + 1
    return starts, ends, np.append(ends[:-1] == starts[1:], False)


def _keys(
    codes: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the first three codes of each character as one integer."""
    keys = codes[starts].astype(np.uint64)
    for at in range(1, _MOST_CODES):
        longer = np.flatnonzero(ends - starts > at)
        keys[longer] |= codes[starts[longer] + at].astype(np.uint64) << np.uint64(_CODE_BITS * at)
    return keys


def stable_order(numbers: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return what sorts numbers from 0 on, equal ones in their order.

    By 16 bits at a time, which NumPy sorts by counting: a fifth of the time of sorting the whole numbers.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")  # the low bits
    high = (numbers >> 16).astype(np.uint16)[order]
    return order[np.argsort(high, kind="stable")]
