"""Lexical search: BM25 over our terms."""

from collections.abc import Sequence

import numpy as np

from ragstone.corpus.tokens import search_terms
from ragstone.retrieval.ranks import Hit, Rank, Subset, top_hits

# Lucene's defaults. Over five packs and xquad's ten languages no k1 of 0.9-2.0 and b of 0.4-0.9 has a mean
# recall@1 more than 0.2 points above theirs, which is less than chance moves any one pack.
K1 = 1.2
B = 0.75


def rank_by_bm25(texts: Sequence[str]) -> Rank:
    """Return a function that ranks the texts by BM25 (Robertson and Zaragoza 2009; Lucene's variant).

    A text that shares no term with the question is no hit, so a ranking may be shorter than k, or empty.
    Scores are larger than 0, have no unit, and compare only within one question.
    """
    import bm25s

    terms = [search_terms(text) for text in texts]
    index = bm25s.BM25(method="lucene", k1=K1, b=B)
    if any(terms):
        index.index(terms, show_progress=False)
    vocabulary: dict[str, int] = index.vocab_dict if any(terms) else {}

    def rank_one(question: str, k: int, among: Subset | None) -> list[Hit]:
        known = [vocabulary[term] for term in search_terms(question) if term in vocabulary]
        if not known:
            return []
        scores = np.asarray(index.get_scores_from_ids(known), dtype=np.float32)
        return [(at, score) for at, score in top_hits(scores, k, among) if score > 0]

    async def rank(questions: Sequence[str], k: int, among: Subset | None) -> list[list[Hit]]:
        return [rank_one(question, k, among) for question in questions]

    return rank
