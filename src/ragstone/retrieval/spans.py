"""What rankings are worth by the characters of the evidence that they bring, however documents are cut."""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import le
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.records import Question, Ranking, RankingItem
from ragstone.statistics import Codes, Floats


class Columns(NamedTuple):
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


def evidence_spans(question: Question, lengths: Mapping[str, int] | None) -> Columns | None:
    """Return where the question's evidence stands; None if it has none, or some that cannot be.

    lengths: characters of each document, where they are known: evidence must then lie inside them.
    """
    spans = question.evidence or []
    good = all(
        0 <= span.start < span.end <= (lengths or {}).get(span.document_id, span.end) for span in spans
    )
    if not spans or not good:
        return None
    return Columns([s.document_id for s in spans], [s.start for s in spans], [s.end for s in spans])


def retrieved_spans(ranking: Ranking, depth: int, lengths: Mapping[str, int] | None) -> Columns | None:
    """Return where the first `depth` items stand, best first; None if some item does not say.

    An item without start and end is its whole document, if its length is known.
    """
    items = ranking.items[:depth]
    documents = [item.document_id for item in items]
    starts = [item.start for item in items if item.start is not None]
    ends = [item.end for item in items if item.end is not None]
    if len(starts) < len(items) or len(ends) < len(items):
        places = [_place(item, lengths or {}) for item in items]
        starts, ends = [start for start, _ in places], [end for _, end in places]
    if min(starts, default=0) < 0 or not all(map(le, starts, ends)):
        return None
    return Columns(documents, starts, ends)


def _place(item: RankingItem, lengths: Mapping[str, int]) -> tuple[int, int]:
    """Return the item's start and end; the end is -1, before any start, if they are not known."""
    if item.start is not None and item.end is not None:
        return item.start, item.end
    return 0, lengths.get(item.document_id, -1)


def lay_out(evidence: Sequence[Columns], retrieved: Sequence[Columns]) -> Spans:
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
    wanted, found = spans.rank == 0, (spans.rank > 0) & (spans.rank <= k)
    n_wanted, n_found = _characters(spans, wanted), _characters(spans, found)
    both = n_wanted + n_found - _characters(spans, wanted | found)
    return both / n_wanted, both / np.maximum(n_found, 1)


def _characters(spans: Spans, counts: NDArray[np.bool_]) -> Floats:
    """Return how many characters the spans that count hold, each once, for every question: (n,)."""
    start, end = spans.start[counts], spans.end[counts]
    reached = np.maximum.accumulate(end)
    before = np.concatenate([[0], reached[:-1]]) if reached.size else reached
    new = np.maximum(0, end - np.maximum(start, before))
    return np.bincount(spans.question[counts], weights=new, minlength=spans.n).astype(np.float64)
