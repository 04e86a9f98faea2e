"""Texts -> postings: for each search term the texts that hold it, and how often."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.corpus.tokens import search_terms, word_terms
from ragstone.retrieval.pieces import number_pieces

BLOCK_CHARACTERS = 2**20  # of text that are counted together
KNOWN_PIECES = 2**20  # that are remembered, some 200 MB


class Postings(msgspec.Struct, frozen=True):
    """For each term the texts that hold it, in their order.

    vocabulary: term -> its number. Those of term t stand at starts[t]:starts[t + 1] of `texts` (positions)
    and `counts` (how often t stands in the text). lengths: how many terms each text has, repeats included.
    """

    vocabulary: dict[str, int]
    starts: NDArray[np.int64]
    texts: NDArray[np.int32]
    counts: NDArray[np.float32]
    lengths: NDArray[np.int64]


class _Counted(msgspec.Struct, frozen=True):
    """A block's terms (ascending), with text and count."""

    terms: NDArray[np.int32]
    texts: NDArray[np.int32]
    counts: NDArray[np.float32]


class _PieceTerms:
    """The numbers of the terms of each piece that was met; those of new pieces are found once."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        self._vocabulary = vocabulary
        self.pieces: dict[bytes, int] = defaultdict(count().__next__)
        self._starts = np.zeros(0, dtype=np.int64)
        self._counts = np.zeros(0, dtype=np.int64)
        self._terms = np.zeros(0, dtype=np.int32)

    def of(self, pieces: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return how many terms each of these pieces has, and their numbers, piece after piece."""
        self._learn()
        counts = self._counts[pieces]
        ends = np.cumsum(counts)
        n = int(ends[-1]) if len(ends) else 0
        return counts, self._terms[np.repeat(self._starts[pieces] - (ends - counts), counts) + np.arange(n)]

    def _learn(self) -> None:
        terms: list[str] = []
        counts: list[int] = []
        for piece in islice(self.pieces, len(self._counts), None):
            before = len(terms)
            text = piece.decode("utf-8", "surrogatepass")
            terms += word_terms(text) if piece.isalnum() else search_terms(text)
            counts.append(len(terms) - before)
        new = np.array(counts, dtype=np.int64)
        numbers = np.array([self._vocabulary[term] for term in terms], dtype=np.int32)
        self._starts = np.concatenate([self._starts, len(self._terms) + np.cumsum(new) - new])
        self._counts = np.concatenate([self._counts, new])
        self._terms = np.concatenate([self._terms, numbers])


def post(texts: Sequence[str]) -> Postings:
    """Return the postings of texts by their search_terms.

    Some 12 bytes for each different term of each text are held while they are sorted, and 8 after.
    """
    vocabulary: dict[str, int] = defaultdict(count().__next__)
    known = _PieceTerms(vocabulary)
    blocks: list[_Counted] = []
    lengths: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    for start, block in _blocks(texts):
        if len(known.pieces) > KNOWN_PIECES:
            known = _PieceTerms(vocabulary)
        in_text, pieces = number_pieces(block, known.pieces)
        in_piece, terms = known.of(pieces)
        text = np.repeat(np.repeat(np.arange(len(block)), in_text), in_piece)
        lengths.append(np.bincount(text, minlength=len(block)))
        blocks.append(_count(terms, text, start, len(block)))
    starts, positions, counts = _merge(blocks, len(vocabulary))
    return Postings(dict(vocabulary), starts, positions, counts, np.concatenate(lengths))


def _blocks(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Split the texts into runs of about BLOCK_CHARACTERS, each with the position of its first."""
    start = size = 0
    for position, text in enumerate(texts):
        size += len(text)
        if size >= BLOCK_CHARACTERS or position == len(texts) - 1:
            yield start, texts[start : position + 1]
            start, size = position + 1, 0


def _count(terms: NDArray[np.int32], text: NDArray[np.int64], start: int, n_texts: int) -> _Counted:
    """Count each term in each text of a block, by sorting."""
    keys = np.sort(terms.astype(np.int64) * n_texts + text)
    firsts = _firsts(keys)
    term, at = np.divmod(keys[firsts], n_texts)
    counts = np.diff(firsts, append=len(keys))
    return _Counted(term.astype(np.int32), (at + start).astype(np.int32), counts.astype(np.float32))


def _merge(
    blocks: list[_Counted], n_terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32]]:
    """Return starts, texts and counts of all blocks, term after term; the blocks are used up."""
    starts = np.zeros(n_terms + 1, dtype=np.int64)
    for block in blocks:
        starts[1:] += np.bincount(block.terms, minlength=n_terms)
    starts = np.cumsum(starts)
    texts = np.empty(starts[-1], dtype=np.int32)
    counts = np.empty(starts[-1], dtype=np.float32)
    ends = starts[:-1].copy()  # of what has been written of each term
    blocks.reverse()
    while blocks:
        block = blocks.pop()
        firsts = _firsts(block.terms)
        terms, widths = block.terms[firsts], np.diff(firsts, append=len(block.terms))
        places = np.repeat(ends[terms] - firsts, widths) + np.arange(len(block.terms))
        ends[terms] += widths
        texts[places], counts[places] = block.texts, block.counts
    return starts, texts, counts


def _firsts(ascending: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the places where a value stands for the first time."""
    return np.flatnonzero(np.diff(ascending, prepend=-1))
