"""Rankings and the documents that hold the answers -> measures of each question, means, groups, batches."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.config.bench import BATCH
from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.retrieval.measures import (
    MEASURES,
    Grades,
    RankedHit,
    RelevantHits,
    evidence_spans,
    first_ranks,
    gather_hits,
    hits_in,
    lay_out,
    retrieved_spans,
    span_measures,
)
from ragstone.kernel.retrieval.relevance import Same, distinct_documents, relevant_documents
from ragstone.kernel.retrieval.summary import (
    MOST_VALUES,
    BatchSpread,
    GroupMeasures,
    QuestionBatch,
    QuestionBatches,
    RetrievalSummary,
)
from ragstone.kernel.statistics import Estimate, mean_estimates

RANK_SCORE_K = 5
SHOWN = 5
HOPS = "hops"  # the tag of a question that takes several documents, one after the other
AT_K = ("recall", "precision", "hit", "ndcg")  # measured at each k
IN_DEPTH = ("mrr", "map")  # measured over all places


class QueryMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The measures of each question, and who was left out.

    values: measure (`recall@5`, `mrr`, ...) -> question id -> value, in the order of the questions. All
    measures have the same questions, but for `span_recall@k` and `span_precision@k`, which only questions
    with evidence have, and `all_hops@k`, `first_hop@k` and `last_hop@k`, which multi-hop ones have: 1 where
    all documents of the chain, its first or its last are in the first k. first_ranks: question id -> place of
    the first relevant document, None where absent. documents: question id -> the first of its relevant
    documents, sorted; questions that share it are not independent. depth: results that were asked for, or
    items in the longest ranking. n_tied: questions in whose ranking a relevant and another document have the
    same score, so that their order, and the measures, could be others. n_unplaced: questions with evidence,
    but it lies outside its document or has no certain place there any more, or an item does not say where it
    stands.
    """

    retriever: str
    depth: int
    values: dict[str, dict[str, float]]
    first_ranks: dict[str, int | None]
    documents: dict[str, str]
    n_unlabelled: int
    n_unanswerable: int
    n_unranked: int
    n_tied: int = 0
    n_unplaced: int = 0


@takes_rows(rankings=Ranking, questions=Question)
def measure_queries(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    *,
    ks: Sequence[int] = (1, 3, 5, 10),
    rank_score_k: int = RANK_SCORE_K,
    qrels: Mapping[str, Grades] | None = None,
    same: Same | None = None,
    lengths: Mapping[str, int] | None = None,
    unplaced: Collection[str] = (),
    depth: int | None = None,
) -> QueryMeasures:
    """Return the measures of every question that has relevant documents and a ranking.

    A ranking of chunks counts as the ranking of their documents, each where its first chunk stands; so k
    counts documents. Items are taken in the order given: scores only tell where it is a matter of chance
    (n_tied). Relevant are the document_ids of a question, else the documents of its evidence.

    ks: places that count; one larger than `depth` is not reported. qrels: question id -> grades of documents
    (see read_qrels), instead of what the questions name. same: which documents are copies of one another
    (see copies_of); a copy is as relevant as the document, but by characters only the document itself
    counts. lengths: characters of each document, for items without start and end, which then count as
    whole documents. unplaced: ids of questions whose evidence has no certain place any more (see
    place_evidence): they are not measured by characters. depth: how many results were asked for, where
    that is known: then rankings that are all shorter hold all that there was to find, and a k up to it is
    reported.

    Raises DataError for rankings of several retrievers, two rankings of one question, or a ranking of an
    unknown question.
    """
    by_question = _rankings_by_question(rankings, questions)
    answerable = [question for question in questions if question.answerable is not False]
    relevant = {question.id: relevant_grades(question, qrels, same) for question in answerable}
    labelled = [question for question in answerable if relevant[question.id]]
    measured = [question for question in labelled if question.id in by_question]
    depth = max([depth or 0, *(len(ranking.items) for ranking in rankings)])
    reported = [k for k in sorted(set(ks)) if k <= depth]
    ids = [question.id for question in measured]
    grades = [relevant[name] for name in ids]
    ranked = [_found(by_question[name], relevant[name], same) for name in ids]
    hits = gather_hits([places for places, _ in ranked], grades)
    spans, n_unplaced = _measure_spans(measured, by_question, reported, lengths, unplaced)
    return QueryMeasures(
        retriever=rankings[0].retriever if rankings else "",
        depth=depth,
        values=_measure_documents(ids, hits, reported, depth, rank_score_k)
        | spans
        | _measure_hops(measured, by_question, reported, same),
        first_ranks={
            name: int(rank) if np.isfinite(rank) else None
            for name, rank in zip(ids, first_ranks(hits).tolist(), strict=True)
        },
        documents={name: min(relevant[name]) for name in ids},
        n_unlabelled=len(answerable) - len(labelled),
        n_unanswerable=len(questions) - len(answerable),
        n_unranked=len(labelled) - len(measured),
        n_tied=sum(tied for _, tied in ranked),
        n_unplaced=n_unplaced,
    )


def ranked_documents(ranking: Ranking) -> list[str]:
    """Return the ids of a ranking's documents, each once, in order of their first item."""
    return list(distinct_documents(ranking)[0])


def relevant_grades(question: Question, qrels: Mapping[str, Grades] | None, same: Same | None) -> Grades:
    """Return the relevant documents with their grades, copies as one with the highest grade of them."""
    if qrels is None:
        named = relevant_documents(question)
        return dict.fromkeys([same.get(name, name) for name in named] if same else named, 1)
    grades: dict[str, int] = {}
    for document, grade in qrels.get(question.id, {}).items():
        if grade > 0:
            name = (same or {}).get(document, document)
            grades[name] = max(grade, grades.get(name, 0))
    return grades


def _measure_documents(
    ids: Sequence[str], hits: RelevantHits, ks: Sequence[int], depth: int, rank_score_k: int
) -> dict[str, dict[str, float]]:
    """Return measure -> question id -> value, of what can be reported from rankings of this depth."""
    labels = [(f"{name}@{k}", name, k) for name in AT_K for k in ks]
    labels += [(name, name, depth) for name in IN_DEPTH if depth]
    if depth >= rank_score_k:
        labels.append((f"rank_score@{rank_score_k}", "rank_score", rank_score_k))
    return {label: _by_id(ids, MEASURES[name](hits, k).tolist()) for label, name, k in labels}


def _measure_spans(
    questions: Sequence[Question],
    rankings: Mapping[str, Ranking],
    ks: Sequence[int],
    lengths: Mapping[str, int] | None,
    unplaced: Collection[str],
) -> tuple[dict[str, dict[str, float]], int]:
    """Return measure -> question id -> value by characters, and the number of questions left out."""
    with_evidence = [question for question in questions if question.evidence]
    depth = max(ks, default=0)
    pairs = [
        (evidence_spans(q, lengths), retrieved_spans(rankings[q.id], depth, lengths)) for q in with_evidence
    ]
    placed = [
        (question.id, wanted, retrieved)
        for question, (wanted, retrieved) in zip(with_evidence, pairs, strict=True)
        if wanted is not None and retrieved is not None and question.id not in unplaced
    ]
    if not placed:
        return {}, len(with_evidence)
    ids, evidence, retrieved = (list(column) for column in zip(*placed, strict=True))
    spans = lay_out(evidence, retrieved)
    both = {k: span_measures(spans, k) for k in ks}
    values = {
        f"{name}@{k}": _by_id(ids, both[k][at].tolist())
        for at, name in enumerate(("span_recall", "span_precision"))
        for k in ks
    }
    return values, len(with_evidence) - len(placed)


def _measure_hops(
    questions: Sequence[Question], rankings: Mapping[str, Ranking], ks: Sequence[int], same: Same | None
) -> dict[str, dict[str, float]]:
    """Return measure -> question id -> 0 or 1, of questions whose evidence leads from document to document.

    Those are tagged `hops` and have evidence in two documents or more, in the order of the hops.
    """
    ranks: dict[str, list[float]] = {}
    for question in questions:
        names = [(same or {}).get(span.document_id, span.document_id) for span in question.evidence or ()]
        if HOPS in (question.tags or {}) and len(set(names)) > 1:
            places = distinct_documents(rankings[question.id], same)[0]
            ranks[question.id] = [places.get(name, np.inf) for name in dict.fromkeys(names)]
    hops: dict[str, Callable[[list[float]], float]] = {
        "all_hops": max,
        "first_hop": lambda of: of[0],
        "last_hop": lambda of: of[-1],
    }
    return {
        f"{name}@{k}": {question_id: float(rank(of) <= k) for question_id, of in ranks.items()}
        for name, rank in hops.items()
        for k in ks
        if ranks
    }


def _by_id(ids: Sequence[str], values: Sequence[float]) -> dict[str, float]:
    return dict(zip(ids, values, strict=True))


def _found(ranking: Ranking, grades: Grades, same: Same | None) -> tuple[list[RankedHit], bool]:
    """Return where the relevant documents stand, and whether one ties with one of another grade."""
    places, items = distinct_documents(ranking, same)
    hits = hits_in(places, grades)
    return hits, any(
        items[at].score == items[beside].score and grade != grades.get(list(places)[beside], 0)
        for at, grade in ((rank - 1, grade) for rank, grade in hits)
        for beside in (at - 1, at + 1)
        if 0 <= beside < len(items)
    )


def _rankings_by_question(
    rankings: Sequence[Ranking], questions: Sequence[Question]
) -> Mapping[str, Ranking]:
    retrievers = sorted({ranking.retriever for ranking in rankings})
    if len(retrievers) > 1:
        raise DataError(
            f"rankings of several retrievers ({', '.join(retrievers)}): evaluate each separately."
        )
    ranked = [ranking.question_id for ranking in rankings]
    question_ids = [question.id for question in questions]
    for names, what in ((ranked, "ranking of question"), (question_ids, "question with the id")):
        twice = [name for name, n in Counter(names).items() if n > 1]
        if twice:
            raise DataError(f"more than one {what} {_shown(twice)}. Keep one of each.")
    unknown = sorted(set(ranked).difference(question_ids))
    if unknown:
        raise DataError(
            f"there are rankings of question {_shown(unknown)}, but no such question. "
            "Give the questions that the rankings were made from."
        )
    return dict(zip(ranked, rankings, strict=True))


def _shown(names: Sequence[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + rest


def measure_cut(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    k: int,
    same: Mapping[str, str],
    lengths: Mapping[str, int],
    *,
    ks: Sequence[int] = (),
    unplaced: Collection[str] = (),
) -> QueryMeasures:
    """Return the measures at k (and at smaller `ks`) of the first k items: what an application gets.

    k counts items, chunks as they are, so that a document that fills several places takes them from others.
    same, lengths, unplaced: see measure_queries.
    """
    cut = [msgspec.structs.replace(ranking, items=ranking.items[:k]) for ranking in rankings]
    return measure_queries(
        cut,
        questions,
        ks=(*ks, k),
        rank_score_k=k,
        same=same,
        lengths=lengths,
        unplaced=unplaced,
        depth=k,
    )


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
