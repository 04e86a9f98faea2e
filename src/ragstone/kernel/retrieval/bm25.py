"""Lexical search: BM25 over our terms, from postings of the terms of each text."""

import asyncio
import string
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import count, islice

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.tokens import search_terms, word_terms
from ragstone.kernel.retrieval.ranks import DECIMALS, Hit, Rank, Subset, top_hits_of_rows

_SPACE = ord(" ")

# Every ASCII character but these separates pieces. A comma may stand in a number, and <, = and > become
# other characters with the stroke U+0338 after them.
_KEPT = string.ascii_letters + string.digits + ",<=>"
_SEPARATE = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code) in _KEPT else _SPACE for code in range(256)
)
_SHORT = 8  # bytes that fit into one integer
_MASKS = np.array([(1 << 8 * length) - 1 for length in range(_SHORT + 1)], dtype="<u8")


def number_pieces(
    texts: Sequence[str], known: dict[bytes, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return how many pieces each text has, and the number of each piece, text after text.

    known: the pieces of earlier texts; it gives a new piece the next number (a defaultdict that counts).
    A piece is the UTF-8 of a part of a text between separators, ASCII letters in lower case.
    """
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    joined = b" ".join([b"", *encoded, b" " * _SHORT]).translate(_SEPARATE)
    joined = joined.replace(b", ", b"  ")  # this comma stands in no number
    codes = np.frombuffer(joined, dtype=np.uint8)
    inside = codes != _SPACE
    edges = np.flatnonzero(inside[1:] != inside[:-1]) + 1
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    text_ends = np.cumsum([len(text) + 1 for text in encoded], dtype=np.int64)
    counts = np.diff(np.searchsorted(starts, text_ends), prepend=0)

    numbers = np.empty(len(starts), dtype=np.int32)
    is_short = lengths <= _SHORT
    numbers[is_short] = _number_short(codes, starts[is_short], lengths[is_short], known)
    longer = zip(starts[~is_short].tolist(), (starts + lengths)[~is_short].tolist(), strict=True)
    numbers[~is_short] = [known[joined[start:end]] for start, end in longer]
    return counts, numbers


def _number_short(
    codes: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64], known: dict[bytes, int]
) -> NDArray[np.int32]:
    """Return the numbers of pieces of at most 8 bytes: read as integers, sorted, each looked up once."""
    eights = np.lib.stride_tricks.sliding_window_view(codes, _SHORT)
    keys = eights[starts].view("<u8")[:, 0] & _MASKS[lengths]
    distinct, places = np.unique(keys, return_inverse=True)
    looked_up = [known[piece] for piece in distinct.view("S8").tolist()]
    return np.array(looked_up, dtype=np.int32)[places]


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


class _CountedBlock(msgspec.Struct, frozen=True):
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
    blocks: list[_CountedBlock] = []
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


def _count(terms: NDArray[np.int32], text: NDArray[np.int64], start: int, n_texts: int) -> _CountedBlock:
    """Count each term in each text of a block, by sorting."""
    keys = np.sort(terms.astype(np.int64) * n_texts + text)
    firsts = _firsts(keys)
    term, at = np.divmod(keys[firsts], n_texts)
    counts = np.diff(firsts, append=len(keys))
    return _CountedBlock(term.astype(np.int32), (at + start).astype(np.int32), counts.astype(np.float32))


def _merge(
    blocks: list[_CountedBlock], n_terms: int
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


# Lucene's defaults. Over five packs and xquad's ten languages no k1 of 0.9-2.0 and b of 0.4-0.9 has a mean
# recall@1 more than 0.2 points above theirs, which is less than chance moves any one pack.
K1 = 1.2
B = 0.75
_COMMON = 8  # a term in more than one of 8 texts is a row of numbers, one a text: adding it is faster
_BLOCK_CELLS = 2**20  # scores held at once: 4 MB


class _Impacts(msgspec.Struct, frozen=True):
    """What each term adds to the score of the texts that hold it.

    Of term t: rows[t], one number a text, or those at starts[t]:starts[t + 1] of `texts` and `impacts`.
    """

    vocabulary: dict[str, int]
    starts: NDArray[np.int64]
    texts: NDArray[np.int32]
    impacts: NDArray[np.float32]
    rows: dict[int, NDArray[np.float32]]
    n_texts: int


BM25 = Callable[[Sequence[str], int, Subset | None], list[list[Hit]]]
"""As Rank, for who has a thread of their own."""


def rank_by_bm25(texts: Sequence[str]) -> Rank:
    """Return a function that ranks the texts as bm25_over does, in a thread."""
    search = bm25_over(texts)

    async def rank(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        return await asyncio.to_thread(search, questions, k, among)

    return rank


def bm25_over(texts: Sequence[str]) -> BM25:
    """Return a function that ranks the texts by BM25 (Robertson and Zaragoza 2009; Lucene's variant).

    A text that shares no term with the question is no hit, so a ranking may be shorter than k, or empty.
    Scores are larger than 0, have no unit, and compare only within one question.
    """
    index = _index(texts) if texts else None

    def search(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        return [[] for _ in questions] if index is None else _search_texts(index, questions, k, among)

    return search


def _index(texts: Sequence[str]) -> _Impacts:
    postings = post(texts)
    found_in = np.diff(postings.starts)
    idf = np.log(1 + (len(texts) - found_in + 0.5) / (found_in + 0.5)).astype(np.float32)
    mean_length = float(postings.lengths.mean()) or 1.0  # all are 0, where no text has a term
    damping = (K1 * (1 - B + B * postings.lengths / mean_length)).astype(np.float32)
    impacts = postings.counts
    impacts /= impacts + damping[postings.texts]
    impacts *= np.repeat(idf, found_in)
    rows: dict[int, NDArray[np.float32]] = {}
    for term in np.flatnonzero(found_in * _COMMON > len(texts)).tolist():
        own = slice(postings.starts[term], postings.starts[term + 1])
        rows[term] = np.zeros(len(texts), dtype=np.float32)
        rows[term][postings.texts[own]] = impacts[own]
    return _Impacts(postings.vocabulary, postings.starts, postings.texts, impacts, rows, len(texts))


def _search_texts(index: _Impacts, questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
    block = max(1, _BLOCK_CELLS // index.n_texts)
    held = np.empty((min(block, len(questions)), index.n_texts), dtype=np.float32)
    hits: list[list[Hit]] = []
    for start in range(0, len(questions), block):
        part = questions[start : start + block]
        scores = held[: len(part)]
        scores.fill(0)
        for row, question in zip(scores, part, strict=True):
            _add_scores(index, question, row)
        hits += top_hits_of_rows(scores, k, among, least=10**-DECIMALS)
    return hits


def _add_scores(index: _Impacts, question: str, scores: NDArray[np.float32]) -> None:
    for text, times in Counter(search_terms(question)).items():
        term = index.vocabulary.get(text)
        if term is None:
            continue
        own = slice(index.starts[term], index.starts[term + 1])
        gains = index.rows[term] if term in index.rows else index.impacts[own]
        if times > 1:
            gains = gains * np.float32(times)
        if term in index.rows:
            scores += gains
        else:  # a text stands once among a term's, so no gain is lost where sums are written back
            scores[index.texts[own].astype(np.intp)] += gains
