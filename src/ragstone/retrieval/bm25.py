"""Lexical search: BM25 over our terms."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.corpus.tokens import search_terms
from ragstone.retrieval.postings import post
from ragstone.retrieval.ranks import DECIMALS, Hit, Rank, Subset, top_hits_of_rows

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
        return [[] for _ in questions] if index is None else _search(index, questions, k, among)

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


def _search(index: _Impacts, questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
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
