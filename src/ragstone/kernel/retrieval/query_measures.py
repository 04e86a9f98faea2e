"""Rankings and the documents that hold the answers -> the measures of each question."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec
import numpy as np

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
