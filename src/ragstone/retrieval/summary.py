"""Measures of each question -> what is shown of a retriever: means with intervals, groups, batches."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.records import Question, Ranking
from ragstone.retrieval.evaluate import RANK_SCORE_K, QueryMeasures, measure_queries
from ragstone.retrieval.measures import Grades
from ragstone.retrieval.relevance import Same
from ragstone.statistics import Estimate, mean_estimates
from ragstone.tables.shown import Displayed

BATCH = 110
MOST_VALUES = 100  # a tag with more different values tells the questions apart and groups nothing


class GroupMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The mean measures of one group of questions. n_questions: measured, which the means rest on."""

    n_questions: int
    measures: dict[str, Estimate]


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """The mean measures of questions that follow each other in the file.

    name: `OFFSET_COUNT`, as `01600_00110`: questions before it, and its questions. n_questions: those of it
    that were measured, which the means rest on.
    """

    name: str
    n_questions: int
    means: dict[str, float]


class BatchSpread(msgspec.Struct, frozen=True, kw_only=True):
    """How the means of batches are distributed: extremes and quartiles (between values interpolated)."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float


class Batches(msgspec.Struct, frozen=True, kw_only=True):
    """The means of each batch in the order of the file, and how they are distributed.

    size: questions in a batch; the last may have fewer, and does not count for `spread`, nor does a batch
    none of whose questions was measured. n_spread: batches that do. spread: measure -> distribution; empty
    with fewer than two such batches.
    """

    size: int
    batches: list[Batch]
    n_spread: int
    spread: dict[str, BatchSpread]


Group = Callable[[Question], str | None]


def mean_measures(queries: QueryMeasures, chosen: Sequence[str] | None = None, *, seed: int) -> GroupMeasures:
    """Return the means of the measured questions `chosen` (ids; None for all), with their intervals.

    Intervals are clustered by document where questions share one.
    """
    names = list(queries.first_ranks) if chosen is None else chosen
    columns: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for measure, values in queries.values.items():
        ids = tuple(name for name in names if name in values)
        columns.setdefault(ids, {})[measure] = [values[name] for name in ids]
    estimates: dict[str, Estimate] = {}
    for ids, of_ids in columns.items():
        estimates |= mean_estimates(of_ids, [queries.documents[name] for name in ids], seed=seed)
    measures = {name: estimates[name] for name in queries.values if name in estimates}
    return GroupMeasures(n_questions=len(names), measures=measures)


def groups_by_tag(
    queries: QueryMeasures, questions: Sequence[Question], *, seed: int
) -> dict[str, dict[str, GroupMeasures]]:
    """Return tag -> value -> measures of the questions that carry it, values sorted.

    A tag with more than MOST_VALUES different values is left out: it names questions and groups none.
    """
    measured = [question for question in questions if question.id in queries.first_ranks]
    tags = sorted({tag for question in measured for tag in question.tags or ()})
    found = {tag: _grouped(queries, measured, _value_of(tag), seed) for tag in tags}
    return {tag: values for tag, values in found.items() if values}


def groups_by_lang(
    queries: QueryMeasures, questions: Sequence[Question], *, seed: int
) -> dict[str, GroupMeasures]:
    """Return language -> measures of the questions in it, sorted; questions without one are in none."""
    measured = [question for question in questions if question.id in queries.first_ranks]
    return _grouped(queries, measured, lambda question: question.lang, seed)


def _value_of(tag: str) -> Group:
    return lambda question: (question.tags or {}).get(tag)


def _grouped(
    queries: QueryMeasures, questions: Sequence[Question], group: Group, seed: int
) -> dict[str, GroupMeasures]:
    members: dict[str, list[str]] = {}
    for question in questions:
        value = group(question)
        if value is not None:
            members.setdefault(value, []).append(question.id)
    if len(members) > MOST_VALUES:
        return {}
    return {value: mean_measures(queries, members[value], seed=seed) for value in sorted(members)}


def in_batches(queries: QueryMeasures, questions: Sequence[Question], size: int) -> Batches:
    """Return the means of each `size` questions that follow each other in `questions`, size at least 1."""
    if size < 1:
        raise ValueError(f"a batch of {size} questions: give at least one")
    batches = [
        _batch(queries, questions[start : start + size], start) for start in range(0, len(questions), size)
    ]
    full = [
        batch
        for start, batch in zip(range(0, len(questions), size), batches, strict=True)
        if batch.n_questions and start + size <= len(questions)
    ]
    measures = dict.fromkeys(name for batch in full for name in batch.means)
    spread = {name: _spread([b.means[name] for b in full if name in b.means]) for name in measures}
    return Batches(
        size=size,
        batches=[batch for batch in batches if batch.n_questions],
        n_spread=len(full),
        spread=spread if len(full) > 1 else {},
    )


def _batch(queries: QueryMeasures, questions: Sequence[Question], start: int) -> Batch:
    ids = [question.id for question in questions if question.id in queries.first_ranks]
    return Batch(
        name=f"{start:05}_{len(questions):05}",
        n_questions=len(ids),
        means={name: mean for name, of in queries.values.items() if (mean := _mean(of, ids)) is not None},
    )


def _mean(values: Mapping[str, float], ids: Sequence[str]) -> float | None:
    known = [values[name] for name in ids if name in values]
    return sum(known) / len(known) if known else None


def _spread(means: Sequence[float]) -> BatchSpread:
    low, first, median, third, high = np.quantile(means, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return BatchSpread(low=low, first_quartile=first, median=median, third_quartile=third, high=high)


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
