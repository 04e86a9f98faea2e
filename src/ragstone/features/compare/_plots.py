"""A comparison -> its plots: the differences with their intervals, and where the scores of questions went."""

from collections.abc import Iterator

import msgspec

from ragstone.features.compare._plot_sentence_table import (
    ALL_HOLD,
    BEYOND,
    MOVED,
    SHOWN_OVER_ZERO,
    STILL_OPEN,
    DrawnMoves,
    drawn_difference,
)
from ragstone.features.compare._sizes import UNIT_SCALE, full_name, in_order, metric_name
from ragstone.features.compare.values import Comparison
from ragstone.kernel.document.numbers import one_line
from ragstone.kernel.document.plots.values import Intervals, Plot, PlotPoint, Slopes
from ragstone.kernel.sentences import say

SHOWN_MOVES = 3  # metrics whose moves are drawn
LONGEST_NAME = 60
ENDS = (-0.1, 0.1)  # of the axis at least: a smaller difference must not look large


def difference_plot(comparison: Comparison) -> list[Plot]:
    """Return the differences as shares of the scale, with the line of no difference; none without a scale."""
    points = []
    by_people = all(row.corrected for row in comparison.metrics if drawn_difference(row)[1])
    for row in in_order(comparison):
        estimate, scale = drawn_difference(row)
        if scale is None:
            continue
        low, high = (
            None if end is None else end / (scale[1] - scale[0]) for end in (estimate.low, estimate.high)
        )
        points.append(
            PlotPoint(
                name=full_name(row, comparison)
                + (" (lowest is best)" if row.best == "lowest" else "")
                + (" (by labels)" if row.corrected and not by_people else ""),
                value=estimate.value / (scale[1] - scale[0]),
                low=low,
                high=high,
                n=row.n,
                is_open=row.verdict == "cannot tell",
            )
        )
    if not points:
        return []
    # The margin of a metric whose lowest score is the best is at the other side of 0.
    margin = None if any(row.best == "lowest" for row in comparison.metrics) else comparison.gate.margin
    figure = Intervals(
        points=points,
        axis="B − A, share of the scale. Filled: better or worse; open: cannot tell",
        of="Metric",
        ends=ENDS,
        null=(0.0, "no difference"),
        band=None if margin is None else (-margin, 0.0, f"margin of {100 * margin:g} %"),
        is_signed=True,
    )
    sentences = filter(None, (say(comparison, ALL_HOLD, BEYOND), intervals_told(comparison)))
    title = f"B against A, {'as people would see it' if by_people else 'metric by metric'}"
    return [Plot(name="differences", title=title, figure=figure, said=list(sentences), where="page")]


def intervals_told(comparison: Comparison) -> str:
    """Return why a verdict is another one than its interval suggests; "" where none is."""
    return say(comparison, STILL_OPEN, SHOWN_OVER_ZERO)


def move_plots(comparison: Comparison) -> Iterator[Plot]:
    """Yield where the scores of questions went, a plot for each of the first metrics in which one differs."""
    moved = [(row, row.moves) for row in in_order(comparison) if row.moves is not msgspec.UNSET]
    for at, (row, moves) in enumerate(moved[:SHOWN_MOVES]):
        points = [
            PlotPoint(
                name=one_line(
                    move.question_id + (f" · {move.question}" if move.question else ""), LONGEST_NAME
                ),
                x=move.score_a,
                value=move.score_b,
            )
            for move in moves.largest
        ]
        figure = Slopes(
            points=points,
            before="A",
            after="B",
            axis=f"score by {metric_name(row)}: open in A, filled in B",
            n_same=moves.n_same,
            n_more=moves.n_up + moves.n_down - len(points),
            ends=row.scale or UNIT_SCALE,
        )
        yield Plot(
            name=f"moves-{at}",
            title=f"Questions that moved, by {full_name(row, comparison)}",
            figure=figure,
            said=[say(DrawnMoves(row, moves), MOVED)],
        )
