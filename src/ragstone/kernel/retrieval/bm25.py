"""Lexical search: BM25 over our terms, from postings of the terms of each text."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, count

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.term_numbers import PieceTerms, stable_order
from ragstone.kernel.corpus.tokens import search_terms
from ragstone.kernel.retrieval.ranks import DECIMALS, Hit, Rank, Subset, top_hits_of_rows

FIRST_CHARACTERS = 2**14
BLOCK_CHARACTERS = 2**19  # of text that are counted together
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


class _Block(msgspec.Struct, frozen=True):
    """The terms of some texts, text after text, and beside each the position of its text, from 0 on."""

    terms: NDArray[np.int32]
    texts: NDArray[np.int32]
    first: int
    """The position of the block's first text among all."""
    n_texts: int


class _CountedBlock(msgspec.Struct, frozen=True):
    """A block's terms (ascending), each with text and count; lengths: how many terms each text has."""

    terms: NDArray[np.int32]
    texts: NDArray[np.int32]
    counts: NDArray[np.float32]
    lengths: NDArray[np.int64]


def post(texts: Sequence[str]) -> Postings:
    """Return the postings of texts by their search_terms.

    Some 12 bytes for each different term of each text are held while they are sorted, and 8 after.
    """
    vocabulary: defaultdict[str, int] = defaultdict(count().__next__)
    n_characters = sum(map(len, texts))
    cut = _cut_blocks(texts, vocabulary, n_characters)
    if n_characters > BLOCK_CHARACTERS:
        with ThreadPoolExecutor(1) as beside:  # where NumPy sorts while the next block is cut here
            blocks = list(beside.map(_count, cut))
    else:
        blocks = [_count(block) for block in cut]
    vocabulary.default_factory = None
    lengths = np.concatenate([np.zeros(0, dtype=np.int64), *(block.lengths for block in blocks)])
    starts, positions, counts = _merge(blocks, len(vocabulary))
    return Postings(vocabulary, starts, positions, counts, lengths)


def _cut_blocks(texts: Sequence[str], vocabulary: dict[str, int], n_characters: int) -> Iterator[_Block]:
    known = PieceTerms(vocabulary, n_characters)
    for first, block in _blocks(texts):
        if len(known) > KNOWN_PIECES:
            known = PieceTerms(vocabulary, n_characters)
        terms, text = known.of(block)
        yield _Block(terms, text, first, len(block))


def _blocks(texts: Sequence[str]) -> Iterator[tuple[int, Sequence[str]]]:
    """Split the texts into runs, each with the position of its first.

    A run has about as many characters as all before it, so that most pieces were met before, and at most
    about BLOCK_CHARACTERS.
    """
    start = size = before = 0
    for position, text in enumerate(texts):
        size += len(text)
        if size >= min(BLOCK_CHARACTERS, max(before, FIRST_CHARACTERS)) or position == len(texts) - 1:
            yield start, texts[start : position + 1]
            start, size, before = position + 1, 0, before + size


def _count(block: _Block) -> _CountedBlock:
    """Count each term in each text of a block."""
    lengths = np.bincount(block.texts, minlength=block.n_texts)
    order = stable_order(block.terms)
    terms, texts = block.terms[order], block.texts[order]
    firsts = np.flatnonzero((np.diff(terms, prepend=-1) != 0) | (np.diff(texts, prepend=-1) != 0))
    counts = np.diff(firsts, append=len(terms)).astype(np.float32)
    return _CountedBlock(terms[firsts], texts[firsts] + np.int32(block.first), counts, lengths)


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
        firsts = np.flatnonzero(np.diff(block.terms, prepend=-1))  # where a term stands for the first time
        terms, widths = block.terms[firsts], np.diff(firsts, append=len(block.terms))
        places = np.repeat(ends[terms] - firsts, widths) + np.arange(len(block.terms))
        ends[terms] += widths
        texts[places], counts[places] = block.texts, block.counts
    return starts, texts, counts


# Lucene's defaults. Over five packs and xquad's ten languages no k1 of 0.9-2.0 and b of 0.4-0.9 has a mean
# recall@1 more than 0.2 points above theirs, which is less than chance moves any one pack.
K1 = 1.2
B = 0.75
_COMMON = 8  # a term in more than one of 8 texts is a row of numbers, one a text: adding it is faster
_FEW = 64  # and in more than so many: making a row costs more than it saves in a small corpus
_SHARED = 64  # a term in more than one of 64 texts is a row while several of the questions have it
_SHARED_CELLS = 2**21  # of these rows: 8 MB
_TOGETHER = 1024  # questions whose terms are looked at together
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
    index = _Impacts(postings.vocabulary, postings.starts, postings.texts, impacts, {}, len(texts))
    for term in np.flatnonzero(found_in > max(len(texts) / _COMMON, _FEW)).tolist():
        index.rows[term] = _row(index, term)
    return index


def _search_texts(index: _Impacts, questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
    block = max(1, _BLOCK_CELLS // index.n_texts)
    held = np.empty((min(block, len(questions)), index.n_texts), dtype=np.float32)
    hits: list[list[Hit]] = []
    for at in range(0, len(questions), _TOGETHER):
        asked = [_terms(index, question) for question in questions[at : at + _TOGETHER]]
        rows = index.rows | _shared_rows(index, asked)
        for start in range(0, len(asked), block):
            part = asked[start : start + block]
            scores = held[: len(part)]
            scores.fill(0)
            for row, terms in zip(scores, part, strict=True):
                _add_scores(index, rows, terms, row)
            hits += top_hits_of_rows(scores, k, among, least=10**-DECIMALS)
    return hits


def _terms(index: _Impacts, question: str) -> dict[int, int]:
    """Return the terms of a question that any text has, in its order, and how often it has each."""
    times: dict[int, int] = {}
    for term in search_terms(question):
        number = index.vocabulary.get(term)
        if number is not None:
            times[number] = times.get(number, 0) + 1
    return times


def _shared_rows(index: _Impacts, asked: Sequence[dict[int, int]]) -> dict[int, NDArray[np.float32]]:
    """Return rows of terms that several of the questions have: those that save most, while they are asked."""
    in_questions = Counter(chain.from_iterable(asked))
    numbers = np.array([term for term, n in in_questions.items() if n > 1], dtype=np.int64)
    in_texts = index.starts[numbers + 1] - index.starts[numbers]
    worth = numbers[in_texts > max(index.n_texts / _SHARED, _FEW)].tolist()
    by_gain = sorted(worth, key=lambda term: -in_questions[term])
    new = [term for term in by_gain if term not in index.rows]
    return {term: _row(index, term) for term in new[: _SHARED_CELLS // index.n_texts]}


def _row(index: _Impacts, term: int) -> NDArray[np.float32]:
    own = slice(index.starts[term], index.starts[term + 1])
    row = np.zeros(index.n_texts, dtype=np.float32)
    row[index.texts[own]] = index.impacts[own]
    return row


def _add_scores(
    index: _Impacts, rows: dict[int, NDArray[np.float32]], terms: dict[int, int], scores: NDArray[np.float32]
) -> None:
    """Add what the terms give to the scores of the texts, in their order: sums depend on it."""
    for term, times in terms.items():
        if term in rows:
            scores += rows[term] if times == 1 else rows[term] * np.float32(times)
        else:
            start, end = index.starts[term : term + 2].tolist()
            gains = index.impacts[start:end]
            np.add.at(
                scores,
                index.texts[start:end].astype(np.intp),
                gains if times == 1 else gains * np.float32(times),
            )
