"""Measures of each question -> what is shown of a retriever: means with intervals, groups, batches."""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from ragstone.records import Question, Ranking
from ragstone.retrieval.evaluate import RANK_SCORE_K, QueryMeasures, measure_queries
from ragstone.retrieval.grouping import (
    BATCH,
    Batches,
    GroupMeasures,
    groups_by_lang,
    groups_by_tag,
    in_batches,
    mean_measures,
)
from ragstone.retrieval.measures import Grades
from ragstone.retrieval.sameness import Same
from ragstone.statistics import Estimate
from ragstone.tables.shown import Displayed


class RetrievalSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """How well one retriever does, and on how many questions.

    n_questions: measured, which every mean rests on, but those by characters (`span_recall@k`,
    `span_precision@k`), which have their own n. Left out and counted: n_unlabelled (no relevant document
    named), n_unanswerable (`answerable` is false: no document can be right), n_unranked (no ranking), and
    n_unplaced (measured, but not by characters; see QueryMeasures). n_tied: questions whose order is in part
    a matter of chance (see there too). rank_histogram: "1", "2", ... and "absent" -> questions whose first
    relevant document stands there. by_lang: language -> its questions. by_tag: tag -> value -> its questions.
    batches: in file order; None in summaries of older versions. index_s, search_s: seconds that it took to
    index the corpus and to search all questions, where they were measured.
    """

    retriever: str
    depth: int
    n_questions: int
    n_unlabelled: int
    n_unanswerable: int
    n_unranked: int
    measures: dict[str, Estimate]
    rank_histogram: dict[str, int]
    n_tied: int = 0
    n_unplaced: int = 0
    by_lang: dict[str, GroupMeasures] = {}
    by_tag: dict[str, dict[str, GroupMeasures]] = {}
    batches: Batches | None = None
    index_s: float | None = None
    search_s: float | None = None


def evaluate_rankings(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    *,
    ks: Sequence[int] = (1, 3, 5, 10),
    rank_score_k: int = RANK_SCORE_K,
    qrels: Mapping[str, Grades] | None = None,
    same: Same | None = None,
    lengths: Mapping[str, int] | None = None,
    batch: int = BATCH,
    seed: int = 0,
) -> RetrievalSummary:
    """Return the mean measures of one retriever's rankings, each with its interval.

    ks, rank_score_k, qrels, same, lengths: see measure_queries, whose DataErrors this raises too. batch,
    seed: see summarise_queries.
    """
    queries = measure_queries(
        rankings, questions, ks=ks, rank_score_k=rank_score_k, qrels=qrels, same=same, lengths=lengths
    )
    return summarise_queries(queries, questions, batch=batch, seed=seed)


def summarise_queries(
    queries: QueryMeasures, questions: Sequence[Question], *, batch: int = BATCH, seed: int = 0
) -> RetrievalSummary:
    """Return the means of all questions, of each language and tag, and of batches in file order.

    Intervals are clustered by document where questions share one (the first of a question's relevant
    documents, sorted, is its cluster). With no question measured `measures` is empty. questions: those that
    were measured, in file order. batch: questions in a batch.
    """
    everything = mean_measures(queries, seed=seed)
    return RetrievalSummary(
        retriever=queries.retriever,
        depth=queries.depth,
        n_questions=everything.n_questions,
        n_unlabelled=queries.n_unlabelled,
        n_unanswerable=queries.n_unanswerable,
        n_unranked=queries.n_unranked,
        measures=everything.measures,
        rank_histogram=_histogram(queries),
        n_tied=queries.n_tied,
        n_unplaced=queries.n_unplaced,
        by_lang=groups_by_lang(queries, questions, seed=seed),
        by_tag=groups_by_tag(queries, questions, seed=seed),
        batches=in_batches(queries, questions, batch),
    )


def _histogram(queries: QueryMeasures) -> dict[str, int]:
    counts = Counter(queries.first_ranks.values())
    places = {str(rank): counts[rank] for rank in range(1, queries.depth + 1)}
    return {**places, "absent": counts[None]}
