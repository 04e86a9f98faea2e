"""The measures of questions -> their means, with intervals, in groups and in batches."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ragstone.kernel.config.bench import BATCH
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.retrieval.measures import Grades
from ragstone.kernel.retrieval.query_measures import RANK_SCORE_K, QueryMeasures, measure_queries
from ragstone.kernel.retrieval.relevance import Same
from ragstone.kernel.retrieval.summary import (
    MOST_VALUES,
    BatchSpread,
    GroupMeasures,
    QuestionBatch,
    QuestionBatches,
    RetrievalSummary,
)
from ragstone.kernel.statistics import Estimate, mean_estimates


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


def measures_by_group(
    queries: QueryMeasures, questions: Sequence[Question], *, seed: int
) -> tuple[dict[str, GroupMeasures], dict[str, dict[str, GroupMeasures]]]:
    """Return language -> measures of its questions, and tag -> value -> measures; all sorted.

    Questions without a language, or the tag, are in no group. A tag with more than MOST_VALUES different
    values is left out: it names questions and groups none.
    """
    measured = [question for question in questions if question.id in queries.first_ranks]
    by_lang = _grouped(queries, {question.id: question.lang for question in measured}, seed)
    tags = sorted({tag for question in measured for tag in question.tags or ()})
    by_tag = {
        tag: _grouped(queries, {question.id: (question.tags or {}).get(tag) for question in measured}, seed)
        for tag in tags
    }
    return by_lang, {tag: values for tag, values in by_tag.items() if values}


def _grouped(queries: QueryMeasures, values: Mapping[str, str | None], seed: int) -> dict[str, GroupMeasures]:
    """Return the measures of the questions of each value. values: question id -> value, None for none."""
    members: dict[str, list[str]] = {}
    for question_id, value in values.items():
        if value is not None:
            members.setdefault(value, []).append(question_id)
    if len(members) > MOST_VALUES:
        return {}
    return {value: mean_measures(queries, members[value], seed=seed) for value in sorted(members)}


def in_batches(queries: QueryMeasures, questions: Sequence[Question], size: int) -> QuestionBatches:
    """Return the means of each `size` questions that follow each other in `questions`, size at least 1."""
    if size < 1:
        raise ValueError(f"a batch of {size} questions: give at least one")
    measured = batches_of(queries, questions, size)
    batches = [_batch_of(queries, name, ids) for name, ids in measured.items()]
    full = [batch for batch in batches if batch.name.endswith(f"_{size:05}")]
    measures = dict.fromkeys(name for batch in full for name in batch.means)
    spread = {}
    for name in measures:
        means = [batch.means[name] for batch in full if name in batch.means]
        low, first, median, third, high = np.quantile(means, (0, 0.25, 0.5, 0.75, 1)).tolist()
        spread[name] = BatchSpread(
            low=low, first_quartile=first, median=median, third_quartile=third, high=high
        )
    return QuestionBatches(
        size=size,
        batches=batches,
        n_spread=len(full),
        spread=spread if len(full) > 1 else {},
    )


def batches_of(queries: QueryMeasures, questions: Sequence[Question], size: int) -> dict[str, list[str]]:
    """Return the batches that hold a measured question: `OFFSET_COUNT` -> the ids of those, in file order."""
    cut = [(start, questions[start : start + size]) for start in range(0, len(questions), size)]
    batches = {
        f"{start:05}_{len(some):05}": [question.id for question in some if question.id in queries.first_ranks]
        for start, some in cut
    }
    return {name: ids for name, ids in batches.items() if ids}


def _batch_of(queries: QueryMeasures, name: str, ids: Sequence[str]) -> QuestionBatch:
    known = {
        measure: [values[question_id] for question_id in ids if question_id in values]
        for measure, values in queries.values.items()
    }
    means = {measure: sum(values) / len(values) for measure, values in known.items() if values}
    return QuestionBatch(name=name, n_questions=len(ids), means=means)


@takes_rows(rankings=Ranking, questions=Question)
def evaluate_rankings(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    *,
    ks: Sequence[int] = (1, 3, 5, 10),
    rank_score_k: int = RANK_SCORE_K,
    qrels: Mapping[str, Grades] | None = None,
    same: Same | None = None,
    lengths: Mapping[str, int] | None = None,
    unplaced: Collection[str] = (),
    batch: int = BATCH,
    seed: int = 0,
) -> RetrievalSummary:
    """Return the mean measures of one retriever's rankings, each with its interval.

    ks, rank_score_k, qrels, same, lengths, unplaced: see measure_queries, whose DataErrors this raises too.
    batch, seed: see summarise_queries.
    """
    queries = measure_queries(
        rankings,
        questions,
        ks=ks,
        rank_score_k=rank_score_k,
        qrels=qrels,
        same=same,
        lengths=lengths,
        unplaced=unplaced,
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
    by_lang, by_tag = measures_by_group(queries, questions, seed=seed)
    counts = Counter(queries.first_ranks.values())
    histogram = {str(rank): counts[rank] for rank in range(1, queries.depth + 1)}
    return RetrievalSummary(
        retriever=queries.retriever,
        depth=queries.depth,
        n_questions=everything.n_questions,
        n_unlabelled=queries.n_unlabelled,
        n_unanswerable=queries.n_unanswerable,
        n_unranked=queries.n_unranked,
        measures=everything.measures,
        rank_histogram={**histogram, "absent": counts[None]},
        n_tied=queries.n_tied,
        n_unplaced=queries.n_unplaced,
        by_lang=by_lang,
        by_tag=by_tag,
        batches=in_batches(queries, questions, batch),
    )
