"""Chunks and questions -> rankings: BM25, dense, hybrid; and the rank measures."""

from ragstone.retrieval.evaluate import (
    QueryMeasures,
    RetrievalSummary,
    evaluate_rankings,
    measure_queries,
    missing_documents,
    ranked_documents,
)
from ragstone.retrieval.measures import (
    MEASURES,
    hit_at_k,
    ndcg_at_k,
    rank_score,
    recall_at_k,
    reciprocal_rank,
)
from ragstone.retrieval.search import RETRIEVERS, Search, build_search
from ragstone.retrieval.tokens import search_terms, tokenize
from ragstone.retrieval.trec import label_questions, read_qrels, read_trec_run, write_qrels, write_trec_run

__all__ = [
    "MEASURES",
    "RETRIEVERS",
    "QueryMeasures",
    "RetrievalSummary",
    "Search",
    "build_search",
    "evaluate_rankings",
    "hit_at_k",
    "label_questions",
    "measure_queries",
    "missing_documents",
    "ndcg_at_k",
    "rank_score",
    "ranked_documents",
    "read_qrels",
    "read_trec_run",
    "recall_at_k",
    "reciprocal_rank",
    "search_terms",
    "tokenize",
    "write_qrels",
    "write_trec_run",
]
