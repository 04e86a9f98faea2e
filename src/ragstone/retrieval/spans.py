"""What rankings are worth by the characters of the evidence that they bring, however documents are cut."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.records import Question, Ranking, RankingItem
from ragstone.statistics import Codes, Floats

Span = tuple[str, int, int]
"""Document id, and the characters [start, end) of it."""


class Spans(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """The evidence and the retrieved spans of n questions, one entry a span in flat arrays.

    question, start, end: (s,). document: (s,), a number for each document of each question. rank: (s,), the
    item's place, counted from 1; 0 for evidence.
    """

    n: int
    question: Codes
    document: Codes
    start: Codes
    end: Codes
    rank: Codes


def evidence_spans(question: Question, lengths: Mapping[str, int] | None) -> list[Span] | None:
    """Return where the question's evidence stands; None if it has none, or some that cannot be.

    lengths: characters of each document, where they are known: evidence must then lie inside them.
    """
    spans = [(span.document_id, span.start, span.end) for span in question.evidence or ()]
    good = all(
        0 <= start < end and (lengths is None or end <= lengths.get(document, end))
        for document, start, end in spans
    )
    return spans if spans and good else None


def retrieved_spans(ranking: Ranking, depth: int, lengths: Mapping[str, int] | None) -> list[Span] | None:
    """Return where the first `depth` items stand, best first; None if some item does not say.

    An item without start and end is its whole document, if its length is known.
    """
    spans = [_span(item, lengths) for item in ranking.items[:depth]]
    known = [span for span in spans if span is not None]
    return known if len(known) == len(spans) else None


def _span(item: RankingItem, lengths: Mapping[str, int] | None) -> Span | None:
    if item.start is not None and item.end is not None:
        return (item.document_id, item.start, item.end) if 0 <= item.start <= item.end else None
    length = (lengths or {}).get(item.document_id)
    return None if length is None else (item.document_id, 0, length)


def find_spans(evidence: Sequence[Sequence[Span]], retrieved: Sequence[Sequence[Span]]) -> Spans:
    """Return the spans of n questions as arrays. retrieved: of each question, best first."""
    rows = list(_rows(evidence, retrieved))
    documents: dict[tuple[int, str], int] = {}
    codes = [documents.setdefault((question, name), len(documents)) for question, name, *_ in rows]
    question, start, end, rank = (np.array([row[at] for row in rows], dtype=np.intp) for at in (0, 2, 3, 4))
    document = np.array(codes, dtype=np.intp)
    order = np.lexsort((start, document))
    return Spans(
        n=len(evidence),
        question=question[order],
        document=document[order],
        start=start[order],
        end=end[order],
        rank=rank[order],
    )


def _rows(
    evidence: Sequence[Sequence[Span]], retrieved: Sequence[Sequence[Span]]
) -> Iterable[tuple[int, str, int, int, int]]:
    for question, (wanted, found) in enumerate(zip(evidence, retrieved, strict=True)):
        yield from ((question, *span, 0) for span in wanted)
        yield from ((question, *span, rank) for rank, span in enumerate(found, 1))


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
    start, end, document = spans.start[counts], spans.end[counts], spans.document[counts]
    if not start.size:
        return np.zeros(spans.n)
    # Documents end to end, so that what came before a span in another document ends before it.
    offset = document * (int(end.max()) + 1)
    reached = np.maximum.accumulate(end + offset)
    before = np.concatenate([[0], reached[:-1]])
    new = np.maximum(0, end + offset - np.maximum(start + offset, before))
    return np.bincount(spans.question[counts], weights=new, minlength=spans.n).astype(np.float64)
