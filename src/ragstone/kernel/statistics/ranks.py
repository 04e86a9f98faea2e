"""How the order of several means changes with the rows that were drawn: how often each has each rank."""

from collections.abc import Sequence

import msgspec
import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES, resampled_totals
from ragstone.kernel.statistics.intervals import Clusters, Floats, cluster_codes, cluster_totals
from ragstone.kernel.statistics.orders import DIGITS


class RankShares(msgspec.Struct, frozen=True, kw_only=True):
    """Shares of the resamples in which each of several things has each rank.

    names: by the mean of their rank. shares: of each name, in this order, one for each rank, the first is
    the best; each row sums to 1, and each rank over all rows. Things that tie in a resample divide their
    ranks evenly. n: rows that all have a value of; n_clusters: what they are drawn in.
    """

    names: list[str]
    shares: list[list[float]]
    n: int
    n_clusters: int
    resamples: int


def rank_shares(
    names: Sequence[str],
    values: Floats,
    clusters: Clusters | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> RankShares | None:
    """Return how often each thing has each rank by its mean; None of fewer than two things or clusters.

    values: (rows, k), of k things, all known, more is better. clusters: of each row, None if
    all are independent. The resamples are drawn
    as those of bootstrap_estimates are: whole clusters, with replacement. They hold the noise of the rows
    that were drawn alone: not that of answers or verdicts made anew.
    """
    codes = cluster_codes(clusters, len(values))
    n_clusters = int(codes.max()) + 1 if len(codes) else 0
    if len(names) < 2 or n_clusters < 2:
        return None
    columns = np.column_stack([values, np.ones(len(values))])
    totals = resampled_totals(cluster_totals(columns, codes), seed=seed, resamples=resamples)
    shares = _shares_of(np.round(totals[:, :-1] / totals[:, -1:], DIGITS))
    order = np.argsort(shares @ np.arange(len(names)), kind="stable")
    return RankShares(
        names=[names[at] for at in order],
        shares=[[round(float(share), 6) for share in shares[at]] for at in order],
        n=len(values),
        n_clusters=n_clusters,
        resamples=resamples,
    )


def _shares_of(means: Floats) -> Floats:
    """Return the share of the rows in which each column has each rank, (k, k). means: (m, k)."""
    m, k = means.shape
    order = np.argsort(-means, axis=1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=1)
    at = np.broadcast_to(np.arange(k), (m, k))
    is_new = np.column_stack([np.ones(m, dtype=bool), ordered[:, 1:] != ordered[:, :-1]])
    start = np.maximum.accumulate(np.where(is_new, at, 0), axis=1)
    is_last = np.column_stack([is_new[:, 1:], np.ones(m, dtype=bool)])
    end = np.minimum.accumulate(np.where(is_last, at + 1, k)[:, ::-1], axis=1)[:, ::-1]
    part = 1.0 / (end - start)
    # Each adds `part` to the ranks from start to end: at start it begins, at end it ends.
    cells = (k + 1) * order
    steps = np.bincount((cells + start).ravel(), weights=part.ravel(), minlength=k * (k + 1))
    steps -= np.bincount((cells + end).ravel(), weights=part.ravel(), minlength=k * (k + 1))
    shares: Floats = np.cumsum(steps.reshape(k, k + 1), axis=1)[:, :k] / m
    return np.clip(shares, 0.0, 1.0)
