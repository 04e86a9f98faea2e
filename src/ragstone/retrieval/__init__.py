"""Chunks and questions -> rankings: BM25, dense, hybrid; and the rank measures."""

from ragstone.corpus.tokens import search_terms, tokenize
from ragstone.retrieval.evaluate import (
    QueryMeasures,
    check_ids_meet,
    measure_queries,
    missing_documents,
    ranked_documents,
)
from ragstone.retrieval.filters import Filter
from ragstone.retrieval.grouping import Batches, GroupMeasures
from ragstone.retrieval.means import Search, SearchMeans
from ragstone.retrieval.measures import MEASURES, Grades, Hits, gather_hits, hits_in
from ragstone.retrieval.sameness import copies_of, same_documents
from ragstone.retrieval.search import RETRIEVERS, build_search
from ragstone.retrieval.summary import RetrievalSummary, evaluate_rankings, summarise_queries
from ragstone.retrieval.trec import (
    label_questions,
    read_qrels,
    read_trec_run,
    write_grades,
    write_qrels,
    write_trec_run,
)

__all__ = [
    "MEASURES",
    "RETRIEVERS",
    "Batches",
    "Filter",
    "Grades",
    "GroupMeasures",
    "Hits",
    "QueryMeasures",
    "RetrievalSummary",
    "Search",
    "SearchMeans",
    "build_search",
    "check_ids_meet",
    "copies_of",
    "evaluate_rankings",
    "gather_hits",
    "hits_in",
    "label_questions",
    "measure_queries",
    "missing_documents",
    "ranked_documents",
    "read_qrels",
    "read_trec_run",
    "same_documents",
    "search_terms",
    "summarise_queries",
    "tokenize",
    "write_grades",
    "write_qrels",
    "write_trec_run",
]
