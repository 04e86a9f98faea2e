"""Several rankings of the same question -> one."""

from collections.abc import Sequence

from ragstone.retrieval.ranks import Hit

RRF_K = 60


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], k: int = RRF_K) -> list[Hit]:
    """Return every position that any ranking names, with the sum of 1 / (k + rank), best first.

    rankings: positions, best first, none twice in one ranking. Equal sums in order of position. Only ranks
    count, so rankings with scores of any unit fuse (Cormack, Clarke and Büttcher 2009, SIGIR; k = 60 there).
    """
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, position in enumerate(ranking, 1):
            fused[position] = fused.get(position, 0.0) + 1 / (k + rank)
    return sorted(fused.items(), key=lambda hit: (-hit[1], hit[0]))
