"""An order of several -> plots: how often each has each rank, and its value against its price."""

from collections.abc import Mapping

import msgspec
import numpy as np

from ragstone.kernel.document.plots.values import Frontier, Plot, PlotPoint, ShareRow, Shares
from ragstone.kernel.runs._order_sentence_table import (
    ALWAYS_FIRST,
    NONE_BEATEN,
    NOT_BEATEN,
    OFTEN_FIRST,
    TIED_FIRST,
    RankFacts,
)
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics.ranks import RankShares, rank_shares

SHOWN_RANKS = 8  # of more, the others are one part
FEWEST = 10  # independent questions from which on an order is resampled


def ranks_of(
    scores: Mapping[str, Mapping[str, float]], clusters: Mapping[str, str], *, seed: int = 0
) -> RankShares | None:
    """Return how often each has each rank, on the questions that all have a score of; None without an order.

    scores: name -> question -> score, more is better. clusters: question -> its document, where questions
    share one. None of fewer than two names, or of fewer than FEWEST independent questions: their resamples
    are too much alike to say how the order would be on others.
    """
    common = sorted(set.intersection(*map(set, scores.values()))) if scores else []
    if len(scores) < 2 or len({clusters.get(name, name) for name in common}) < FEWEST:
        return None
    values = np.array([[scores[name][question] for name in scores] for question in common], dtype=np.float64)
    shared = [f"shared {clusters[name]}" if name in clusters else f"question {name}" for name in common]
    return rank_shares(list(scores), values, shared, seed=seed)


def rank_plot(ranks: RankShares, name: str, of: str, fixed: str) -> Plot:
    """Return the plot. name: unique in its page; of: what is ranked. fixed: what resamples leave as it is."""
    k = len(ranks.names)
    rows = []
    for label, shares in zip(ranks.names, ranks.shares, strict=True):
        parts: list[tuple[str, float, int | None]] = [
            (f"rank {at}", share, None) for at, share in enumerate(shares[:SHOWN_RANKS], 1)
        ]
        if k > SHOWN_RANKS:
            parts.append((f"rank {SHOWN_RANKS + 1} or below", sum(shares[SHOWN_RANKS:]), None))
        rows.append(ShareRow(name=label, parts=parts))
    figure = Shares(
        rows=rows,
        axis="share of the resamples; beside each bar: how often it is first",
        of=of,
        head="Rank",
        first="first",
        last="last" if k <= SHOWN_RANKS else "below",
    )
    sentence = say(RankFacts(ranks, fixed), TIED_FIRST, OFTEN_FIRST, ALWAYS_FIRST)
    return Plot(
        name=name,
        title="How the order depends on the questions",
        figure=figure,
        said=[sentence],
        where="page",
    )


def price_plot(points: list[PlotPoint], figure: Frontier, name: str, title: str) -> list[Plot]:
    """Return values against a price, with what nobody beats; none unless a price above 0 is known.

    figure: what is drawn, still without the points. name: of the plot, unique in its page.
    """
    if not any(point.x for point in points):
        return []
    figure = msgspec.structs.replace(figure, points=points)
    sentence = say(figure, NOT_BEATEN, NONE_BEATEN)
    return [Plot(name=name, title=title, figure=figure, said=[sentence] if sentence else [], where="page")]
