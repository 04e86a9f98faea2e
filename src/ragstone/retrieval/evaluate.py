"""Rankings and the documents that hold the answers -> measures of each question, and their means."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.errors import DataError
from ragstone.records import Document, Question, Ranking
from ragstone.retrieval.measures import MEASURES, first_rank
from ragstone.statistics import Estimate, mean_estimate

RANK_SCORE_K = 5
SHOWN = 5


class QueryMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The measures of each question, and who was left out.

    values: measure (`recall@5`, `mrr`, ...) -> question id -> value; every measure has the same questions
    in the same order. first_ranks: question id -> place of the first relevant document, None where absent.
    depth: items in the longest ranking.
    """

    retriever: str
    depth: int
    values: dict[str, dict[str, float]]
    first_ranks: dict[str, int | None]
    n_unlabelled: int
    n_unanswerable: int
    n_unranked: int


class RetrievalSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How well one retriever does, and on how many questions.

    n_questions: measured, which every mean rests on. Left out and counted: n_unlabelled (no document_ids),
    n_unanswerable (`answerable` is false: no document can be right) and n_unranked (no ranking).
    rank_histogram: "1", "2", ... and "absent" -> questions whose first relevant document stands there.
    """

    retriever: str
    depth: int
    n_questions: int
    n_unlabelled: int
    n_unanswerable: int
    n_unranked: int
    measures: dict[str, Estimate]
    rank_histogram: dict[str, int]


def evaluate_rankings(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    *,
    ks: Sequence[int] = (1, 3, 5, 10),
    seed: int = 0,
) -> RetrievalSummary:
    """Return the mean measures of one retriever's rankings, each with its interval.

    Intervals are clustered by document where questions share one (the first of a question's document_ids,
    sorted, is its cluster). A k larger than `depth` is not reported. With no question measured `measures`
    is empty. Raises DataError as measure_queries does.
    """
    queries = measure_queries(rankings, questions, ks=ks)
    documents = {question.id: min(question.document_ids or [""]) for question in questions}
    clusters = [documents[question_id] for question_id in queries.first_ranks]
    estimates = {
        name: mean_estimate(list(by_question.values()), clusters, seed=seed)
        for name, by_question in queries.values.items()
    }
    return RetrievalSummary(
        retriever=queries.retriever,
        depth=queries.depth,
        n_questions=len(queries.first_ranks),
        n_unlabelled=queries.n_unlabelled,
        n_unanswerable=queries.n_unanswerable,
        n_unranked=queries.n_unranked,
        measures={name: estimate for name, estimate in estimates.items() if estimate is not None},
        rank_histogram=_histogram(queries),
    )


def measure_queries(
    rankings: Sequence[Ranking], questions: Sequence[Question], *, ks: Sequence[int] = (1, 3, 5, 10)
) -> QueryMeasures:
    """Return the measures of every question that has relevant documents and a ranking.

    A ranking of chunks counts as the ranking of their documents, each where its first chunk stands; so k
    counts documents. Raises DataError for rankings of several retrievers, two rankings of one question, or
    a ranking of an unknown question.
    """
    by_question = _rankings_by_question(rankings, questions)
    unanswerable = [q for q in questions if q.answerable is False]
    unlabelled = [q for q in questions if q.answerable is not False and not q.document_ids]
    labelled = [q for q in questions if q.answerable is not False and q.document_ids]
    measured = [q for q in labelled if q.id in by_question]
    depth = max((len(ranking.items) for ranking in rankings), default=0)
    found = {q.id: ranked_documents(by_question[q.id]) for q in measured}
    relevant = {q.id: frozenset(q.document_ids or ()) for q in measured}
    values = {
        label: {q.id: MEASURES[name](found[q.id], relevant[q.id], k) for q in measured}
        for label, name, k in _labels(ks, depth)
    }
    return QueryMeasures(
        retriever=rankings[0].retriever if rankings else "",
        depth=depth,
        values=values,
        first_ranks={q.id: first_rank(found[q.id], relevant[q.id]) for q in measured},
        n_unlabelled=len(unlabelled),
        n_unanswerable=len(unanswerable),
        n_unranked=len(labelled) - len(measured),
    )


def ranked_documents(ranking: Ranking) -> list[str]:
    """Return the ids of a ranking's documents, each once, in order of their first item."""
    return list(dict.fromkeys(item.document_id for item in ranking.items))


def missing_documents(questions: Iterable[Question], documents: Iterable[Document]) -> dict[str, list[str]]:
    """Return question id -> those of its document_ids that the corpus lacks; complete questions left out.

    Such documents can never be found, so every measure of these questions is too low.
    """
    known = {document.id for document in documents}
    missing = {q.id: [name for name in q.document_ids or [] if name not in known] for q in questions}
    return {question_id: names for question_id, names in missing.items() if names}


def _labels(ks: Sequence[int], depth: int) -> list[tuple[str, str, int]]:
    """Return (label, key of MEASURES, k) of what can be reported from rankings of this depth."""
    reported = [k for k in sorted(set(ks)) if k <= depth]
    labels = [(f"{name}@{k}", name, k) for name in ("recall", "hit", "ndcg") for k in reported]
    if depth:
        labels.append(("mrr", "mrr", depth))
    if depth >= RANK_SCORE_K:
        labels.append((f"rank_score@{RANK_SCORE_K}", "rank_score", RANK_SCORE_K))
    return labels


def _rankings_by_question(
    rankings: Sequence[Ranking], questions: Sequence[Question]
) -> Mapping[str, Ranking]:
    retrievers = sorted({ranking.retriever for ranking in rankings})
    if len(retrievers) > 1:
        raise DataError(f"rankings of several retrievers ({', '.join(retrievers)}): evaluate each by itself.")
    counts = Counter(ranking.question_id for ranking in rankings)
    twice = [question_id for question_id, n in counts.items() if n > 1]
    if twice:
        raise DataError(f"more than one ranking of question {_shown(twice)}. Keep one of each.")
    unknown = sorted(counts.keys() - {question.id for question in questions})
    if unknown:
        raise DataError(
            f"there are rankings of question {_shown(unknown)}, but no such question. "
            "Give the questions that the rankings were made from."
        )
    return {ranking.question_id: ranking for ranking in rankings}


def _shown(names: Sequence[str]) -> str:
    rest = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(map(repr, names[:SHOWN])) + rest


def _histogram(queries: QueryMeasures) -> dict[str, int]:
    counts = Counter(queries.first_ranks.values())
    places = {str(rank): counts[rank] for rank in range(1, queries.depth + 1)}
    return {**places, "absent": counts[None]}
