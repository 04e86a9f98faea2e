"""Rankings as far as an application takes them -> measures of each question."""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.records import Question, Ranking
from ragstone.retrieval.evaluate import QueryMeasures, measure_queries


def measure_cut(
    rankings: Sequence[Ranking],
    questions: Sequence[Question],
    k: int,
    same: Mapping[str, str],
    lengths: Mapping[str, int],
    *,
    ks: Sequence[int] = (),
) -> QueryMeasures:
    """Return the measures at k (and at smaller `ks`) of the first k items: what an application gets.

    k counts items, chunks as they are, so that a document that fills several places takes them from others.
    same, lengths: see measure_queries.
    """
    cut = [msgspec.structs.replace(ranking, items=ranking.items[:k]) for ranking in rankings]
    return measure_queries(cut, questions, ks=(*ks, k), rank_score_k=k, same=same, lengths=lengths, depth=k)
