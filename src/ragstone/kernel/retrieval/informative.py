"""Rankings -> how far a retriever's scores tell relevant passages from others, and where to cut them off."""

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import msgspec
import numpy as np

from ragstone.kernel.records import Question, Ranking, RankingItem
from ragstone.kernel.retrieval.measures import Grades
from ragstone.kernel.retrieval.query_measures import QueryMeasures, relevant_grades
from ragstone.kernel.retrieval.relevance import Same
from ragstone.kernel.retrieval.summary import ScoreBin, ScoreCutoff, ScoreQuality
from ragstone.kernel.statistics import (
    Floats,
    auc_estimate,
    cluster_codes,
    cluster_totals,
    mean_estimate,
)

BINS = 10
ENOUGH = 10  # documents of questions whose scores never err, for that to count as shown
KEPT = 0.95  # share of the relevant passages that a cut-off must keep


def score_quality(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    queries: QueryMeasures,
    *,
    qrels: Mapping[str, Grades] | None = None,
    same: Same | None = None,
    unplaced: Collection[str] = (),
    seed: int = 0,
) -> ScoreQuality:
    """Return how far the scores of one retriever tell relevant passages from others.

    Every passage of every measured question counts. It is relevant if it holds some of the question's
    evidence, where both say where they stand; else if its document is. queries: of these rankings, see
    measure_queries; qrels, same, unplaced: see there too. Intervals draw whole questions, those of one
    document together.
    """
    by_id = {question.id: question for question in questions}
    scores: list[float] = []
    labels: list[bool] = []
    owners: list[str] = []
    measured = [ranking for ranking in rankings if ranking.question_id in queries.first_ranks]
    placed = [ranking for ranking in measured if ranking.question_id not in unplaced]
    for ranking in placed:
        question = by_id[ranking.question_id]
        grades = relevant_grades(question, qrels, same)
        scores += [item.score for item in ranking.items]
        labels += [_is_relevant(item, question, grades, qrels, same) for item in ranking.items]
        owners += [ranking.question_id] * len(ranking.items)
    passages = np.array(scores), np.array(labels, dtype=np.float64)
    n_relevant = int(passages[1].sum())
    n_questions = len(set(owners))
    nothing = ScoreQuality(
        n_questions=n_questions,
        n_passages=len(scores),
        n_relevant=n_relevant,
        auc=None,
        why="nothing was found"
        if placed
        else "the evidence has no certain place in its documents"
        if measured
        else "no question was measured",
    )
    if not scores:
        return nothing
    if not n_relevant or n_relevant == len(scores):
        why = "no passage is relevant" if not n_relevant else "every passage is relevant"
        return msgspec.structs.replace(nothing, why=why)
    if passages[0].min() == passages[0].max():
        return msgspec.structs.replace(nothing, why="all scores are the same")
    clusters = [queries.documents[name] for name in owners]
    return _measured(nothing, *passages, owners, clusters, seed)


def _measured(
    counted: ScoreQuality,
    scores: Floats,
    labels: Floats,
    owners: Sequence[str],
    clusters: Sequence[str],
    seed: int,
) -> ScoreQuality:
    """Return the counts with AUC, curve and cut-off, of passages that are relevant and others."""
    auc = auc_estimate(labels, scores, clusters, seed=seed)
    # Scores that never err leave resamples alike, and so no interval: then the number of documents decides.
    # Questions of too few documents have no interval either, and there an AUC below 1 shows nothing.
    never_errs = auc is not None and auc.value == 1.0 and len(set(clusters)) >= ENOUGH
    telling = auc is not None and (never_errs if auc.low is None else auc.low > 0.5)
    return msgspec.structs.replace(
        counted,
        auc=auc,
        why="" if telling else "it is not shown that relevant passages have higher scores",
        bins=_bins(scores, labels, clusters, seed),
        cutoff=_cutoff(scores, labels, owners, clusters, seed) if telling else None,
    )


def _is_relevant(
    item: RankingItem,
    question: Question,
    grades: Grades,
    qrels: Mapping[str, Grades] | None,
    same: Same | None,
) -> bool:
    if (same or {}).get(item.document_id, item.document_id) not in grades:
        return False
    if qrels is not None or not question.evidence or item.start is None or item.end is None:
        return True
    own = [span for span in question.evidence if span.document_id == item.document_id]
    return not own or any(item.start < span.end and span.start < item.end for span in own)


def _bins(scores: Floats, labels: Floats, clusters: Sequence[str], seed: int) -> list[ScoreBin]:
    """Return bins of about as many passages each, lowest scores first; equal scores share one."""
    order = np.argsort(scores, kind="stable")
    ranked = scores[order]
    edges = {0, len(scores)}
    edges |= {int(np.searchsorted(ranked, ranked[n * len(ranked) // BINS])) for n in range(1, BINS)}
    ends = sorted(edges)
    bins = []
    for first, last in pairwise(ends):
        inside = order[first:last]
        share = mean_estimate(labels[inside], [clusters[at] for at in inside.tolist()], seed=seed)
        if share is not None:
            low, high = float(ranked[first]), float(ranked[last - 1])
            bins.append(ScoreBin(low=low, high=high, relevant=share))
    return bins


def _cutoff(
    scores: Floats, labels: Floats, owners: Sequence[str], clusters: Sequence[str], seed: int
) -> ScoreCutoff | None:
    """Return the highest score from which on KEPT of the relevant passages stand; None if it drops none."""
    relevant = np.sort(scores[labels == 1])
    least = float(relevant[int(np.floor((1 - KEPT) * len(relevant) + 1e-9))])
    above = scores >= least
    if above.all():
        return None
    codes = cluster_codes(owners, len(owners))
    by_question = cluster_totals(
        np.column_stack([~above, labels * above, labels, np.ones_like(labels)]), codes
    )
    first = {name: at for at, name in reversed(list(enumerate(owners)))}
    of_question = [clusters[at] for at in sorted(first.values())]
    recall, precision, before, dropped = (
        mean_estimate(values, [clusters[at] for at in where], seed=seed)
        if where is not None
        else mean_estimate(values, of_question, seed=seed, proportion=False)
        for values, where in (
            (above[labels == 1].astype(np.float64), np.flatnonzero(labels == 1).tolist()),
            (labels[above], np.flatnonzero(above).tolist()),
            (labels, list(range(len(labels)))),
            (by_question[:, 0], None),
        )
    )
    if recall is None or precision is None or before is None or dropped is None:
        return None
    return ScoreCutoff(
        score=least,
        recall=recall,
        precision=precision,
        precision_before=before,
        dropped=dropped,
        passages=float(by_question[:, 3].mean()),
        n_emptied=int((by_question[:, 0] == by_question[:, 3]).sum()),
        n_lost=int(((by_question[:, 1] == 0) & (by_question[:, 2] > 0)).sum()),
    )
