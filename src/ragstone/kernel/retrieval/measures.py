"""What rankings are worth, question by question. The means over questions are taken in summary.py.

Every measure is a function of Hits, the places of the relevant documents of n questions, and of k >= 1: only
the first k places count. It returns one value a question, (n,), in [0, 1], without a unit; 0 where no
relevant document is in the first k.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import le
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.statistics import Codes, Floats

Grades = Mapping[str, int]
"""Document id -> grade of one question: relevant if above 0, and worth that much to nDCG."""

RankedHit = tuple[int, int]
"""The place of a relevant document, counted from 1, and its grade."""


class RelevantHits(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Where the relevant documents of n questions stand.

    question, rank, grade: (h,), one entry for each relevant document in a ranking, in order of question and
    rank; ranks count from 1. n_relevant: (n,), relevant documents of each question, found or not.
    best_question, best_rank, best_grade: the same of a ranking of all relevant ones, highest grade first.
    """

    question: Codes
    rank: Floats
    grade: Floats
    n_relevant: Floats
    best_question: Codes
    best_rank: Floats
    best_grade: Floats


Measure = Callable[[RelevantHits, int], Floats]


def hits_in(places: Mapping[str, int], grades: Grades) -> list[RankedHit]:
    """Return the place and the grade of each relevant document in one ranking, best place first.

    places: document id -> its place, counted from 1.
    """
    return sorted((places[name], grade) for name, grade in grades.items() if grade > 0 and name in places)


def gather_hits(hits: Sequence[Sequence[RankedHit]], relevant: Sequence[Grades]) -> RelevantHits:
    """Return the hits of n questions together.

    hits: of each question, see hits_in. relevant: the grades of each question's documents, at least one
    above 0: a question without is left out and counted by the caller, and raises ValueError here.
    """
    best = [sorted((grade for grade in of.values() if grade > 0), reverse=True) for of in relevant]
    if not all(best):
        raise ValueError("no relevant documents: leave the question out and count it, see evaluate.py")
    n_best = np.array([len(grades) for grades in best], dtype=np.intp)
    question = np.repeat(np.arange(len(best)), n_best)
    flat = np.array(list(chain.from_iterable(hits)), dtype=np.float64).reshape(-1, 2)
    return RelevantHits(
        question=np.repeat(np.arange(len(best)), [len(of) for of in hits]),
        rank=flat[:, 0],
        grade=flat[:, 1],
        n_relevant=n_best.astype(np.float64),
        best_question=question,
        best_rank=np.arange(1.0, question.size + 1) - (np.cumsum(n_best) - n_best)[question],
        best_grade=np.fromiter(chain.from_iterable(best), dtype=np.float64),
    )


def first_ranks(hits: RelevantHits) -> Floats:
    """Return the place of each question's first relevant document, infinity where there is none."""
    ranks = np.full(len(hits.n_relevant), np.inf)
    np.minimum.at(ranks, hits.question, hits.rank)
    return ranks


def recall_at_k(hits: RelevantHits, k: int) -> Floats:
    """Return the share of the relevant documents that is in the first k places."""
    return np.asarray(_n_found(hits, k) / hits.n_relevant)


def precision_at_k(hits: RelevantHits, k: int) -> Floats:
    """Return the share of the first k places that holds relevant documents. An empty place holds none."""
    return np.asarray(_n_found(hits, k) / k)


def hit_at_k(hits: RelevantHits, k: int) -> Floats:
    """Return 1 if any relevant document is in the first k places, else 0. With one relevant, recall."""
    return (_n_found(hits, k) > 0).astype(np.float64)


def ndcg_at_k(hits: RelevantHits, k: int) -> Floats:
    """Return the normalised discounted cumulative gain (Järvelin and Kekäläinen 2002).

    A document of grade g in place r counts g / log2(r + 1), as in trec_eval; the sum is divided by that of
    the best ranking of the question's relevant documents. Without grades all gains are 0 or 1.
    """
    gains = _sums(hits.question, hits.grade / np.log2(hits.rank + 1), hits.rank <= _checked(k), hits)
    best = hits.best_grade / np.log2(hits.best_rank + 1)
    return np.asarray(gains / _sums(hits.best_question, best, hits.best_rank <= k, hits))


def reciprocal_rank(hits: RelevantHits, k: int) -> Floats:
    """Return 1 / rank of the first relevant document. The mean is MRR (Voorhees 1999, TREC-8)."""
    ranks = first_ranks(hits)
    return np.where(ranks <= _checked(k), 1 / ranks, 0.0)


def average_precision(hits: RelevantHits, k: int) -> Floats:
    """Return the mean over all relevant documents of the precision at their place, 0 where not found.

    The mean over questions is MAP (Buckley and Voorhees 2000).
    """
    n_hits = np.bincount(hits.question, minlength=len(hits.n_relevant))
    before = np.cumsum(n_hits) - n_hits
    nth = np.arange(1, len(hits.rank) + 1) - before[hits.question]
    return np.asarray(_sums(hits.question, nth / hits.rank, hits.rank <= _checked(k), hits) / hits.n_relevant)


def rank_score(hits: RelevantHits, k: int) -> Floats:
    """Return 1 for a relevant document in first place, falling by 1/k a place, 0 where it is absent.

    With k = 5: 1.0, 0.8, 0.6, 0.4, 0.2, and 0 from the sixth place on. Unlike the reciprocal rank it does
    not make the step from first to second place the largest one.
    """
    ranks = first_ranks(hits)
    return np.where(ranks <= _checked(k), 1 - (ranks - 1) / k, 0.0)


def _n_found(hits: RelevantHits, k: int) -> Floats:
    return _sums(hits.question, np.ones_like(hits.rank), hits.rank <= _checked(k), hits)


def _sums(question: Codes, worth: Floats, counts: NDArray[np.bool_], hits: RelevantHits) -> Floats:
    """Return the worth of each question's entries that count, (n,)."""
    sums = np.bincount(question, weights=np.where(counts, worth, 0.0), minlength=len(hits.n_relevant))
    return sums.astype(np.float64)  # of no entries they are whole numbers


def _checked(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is {k}: at least the first place must count")
    return k


MEASURES: dict[str, Measure] = {
    "recall": recall_at_k,
    "precision": precision_at_k,
    "hit": hit_at_k,
    "ndcg": ndcg_at_k,
    "mrr": reciprocal_rank,
    "map": average_precision,
    "rank_score": rank_score,
}


class SpanColumns(NamedTuple):
    """Spans of one question, best first: the characters [start, end) of each document."""

    documents: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]


class Spans(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The evidence and the retrieved spans of n questions, one entry a span in flat arrays, by start.

    question, start, end, rank: (s,). start and end count along all documents of all questions laid end to
    end, so that spans of two of them never overlap. rank: the item's place, from 1; 0 for evidence.
    """

    n: int
    question: Codes
    start: Codes
    end: Codes
    rank: Codes


def evidence_spans(question: Question, lengths: Mapping[str, int] | None) -> SpanColumns | None:
    """Return where the question's evidence stands; None if it has none, or some that cannot be.

    lengths: characters of each document, where they are known: evidence must then lie inside them.
    """
    spans = question.evidence or []
    good = all(
        0 <= span.start < span.end <= (lengths or {}).get(span.document_id, span.end) for span in spans
    )
    if not spans or not good:
        return None
    return SpanColumns([s.document_id for s in spans], [s.start for s in spans], [s.end for s in spans])


def retrieved_spans(ranking: Ranking, depth: int, lengths: Mapping[str, int] | None) -> SpanColumns | None:
    """Return where the first `depth` items stand, best first; None if some item does not say.

    An item without start and end is its whole document, if its length is known.
    """
    items = ranking.items[:depth]
    documents = [item.document_id for item in items]
    starts = [item.start for item in items if item.start is not None]
    ends = [item.end for item in items if item.end is not None]
    if len(starts) < len(items) or len(ends) < len(items):
        starts, ends = [], []
        for item in items:
            # Without its place an item is the whole document, which ends at -1 if its length is unknown.
            start, end = 0, (lengths or {}).get(item.document_id, -1)
            if item.start is not None and item.end is not None:
                start, end = item.start, item.end
            starts.append(start)
            ends.append(end)
    if min(starts, default=0) < 0 or not all(map(le, starts, ends)):
        return None
    return SpanColumns(documents, starts, ends)


def lay_out(evidence: Sequence[SpanColumns], retrieved: Sequence[SpanColumns]) -> Spans:
    """Return the spans of n questions as arrays; at least one question."""
    both = [*evidence, *retrieved]
    names = list(chain.from_iterable(of.documents for of in both))
    number = {name: at for at, name in enumerate(dict.fromkeys(names))}
    start = np.fromiter(chain.from_iterable(of.starts for of in both), dtype=np.intp, count=len(names))
    end = np.fromiter(chain.from_iterable(of.ends for of in both), dtype=np.intp, count=len(names))
    question = np.repeat(np.tile(np.arange(len(evidence)), 2), [len(of.documents) for of in both])
    document = np.fromiter(map(number.__getitem__, names), dtype=np.intp, count=len(names))
    # Gaps of one keep the end of a document from the start of the next.
    offset = (question * len(number) + document) * (int(end.max(initial=0)) + 1)
    n_wanted = sum(len(of.documents) for of in evidence)
    ranks = [np.arange(1, len(of.documents) + 1) for of in retrieved]
    rank = np.concatenate([np.zeros(n_wanted, dtype=np.intp), *ranks])
    order = np.argsort(start + offset, kind="stable")
    return Spans(
        n=len(evidence),
        question=question[order],
        start=(start + offset)[order],
        end=(end + offset)[order],
        rank=rank[order],
    )


def span_measures(spans: Spans, k: int) -> tuple[Floats, Floats]:
    """Return span recall and span precision of the first k items, one value a question: (n,), (n,).

    Recall is the share of the evidence's characters that the items hold, precision the share of the items'
    characters that is evidence; 0 where nothing was retrieved. A character that several items hold counts
    once. k counts items, chunks as they are, unlike the measures by document.
    """
    wanted, retrieved = spans.rank == 0, (spans.rank > 0) & (spans.rank <= k)
    n_wanted, n_found = _characters(spans, wanted), _characters(spans, retrieved)
    both = n_wanted + n_found - _characters(spans, wanted | retrieved)
    return both / n_wanted, both / np.maximum(n_found, 1)


def _characters(spans: Spans, counts: NDArray[np.bool_]) -> Floats:
    """Return how many characters the spans that count hold, each once, for every question: (n,)."""
    start, end = spans.start[counts], spans.end[counts]
    reached = np.maximum.accumulate(end)
    before = np.concatenate([[0], reached[:-1]]) if reached.size else reached
    new = np.maximum(0, end - np.maximum(start, before))
    return np.bincount(spans.question[counts], weights=new, minlength=spans.n).astype(np.float64)
