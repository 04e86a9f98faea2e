"""The plots of all benches: a board's values with their intervals, and values against a price."""

from collections.abc import Iterable, Sequence

import msgspec

from ragstone.features.bench._words import MARKS
from ragstone.kernel.document.blocks import Block, Dot, Dots
from ragstone.kernel.document.numbers import number
from ragstone.kernel.document.plots.values import Frontier, Intervals, Plot, PlotPoint
from ragstone.kernel.runs.order_plots import price_plot
from ragstone.kernel.sentences import Sentence, say
from ragstone.kernel.statistics import Estimate

Priced = tuple[int, str, float | None, Estimate]
"""Place and name of a point, its price if that is known, and its value."""


def price_plots(points: Iterable[Priced], name: str, title: str, figure: Frontier) -> list[Plot]:
    """Return values against a price, with what nobody beats; none unless a price above 0 is known.

    name: of the plot, unique in its page. figure: what is drawn, still without points.
    """
    drawn = [
        PlotPoint(
            place=number,
            name=point_name,
            x=price,
            value=value.value,
            low=value.low,
            high=value.high,
            n=value.n,
        )
        for number, point_name, price, value in points
    ]
    return price_plot(drawn, figure, name, title)


def board_plot(
    title: str,
    dots: Sequence[Dot],
    axis: str,
    ends: tuple[float, float] = (0.0, 1.0),
    *,
    is_low_best: bool = False,
) -> list[Block]:
    """Return the values of a board with their intervals: as a plot of a page, and the dots of a notebook.

    The groups of the dots are told apart by colour and shape where they are no verdicts.
    """
    points = [
        PlotPoint(
            name=each.name,
            value=each.value,
            low=each.low,
            high=each.high,
            group="" if each.group in MARKS else each.group,
            is_open=each.group == "not distinguishable",
        )
        for each in dots
    ]
    chart = Dots(title=title, dots=[*dots], ends=ends)
    if len(points) < 2:
        return [chart]
    figure = Intervals(points=points, axis=axis, of="Name", value="Value", ends=ends)
    sentence = say(BoardPoints(points, is_low_best), HIGHEST)
    return [
        chart,
        Plot(
            name="board-means", title=title, figure=figure, said=[sentence] if sentence else [], where="page"
        ),
    ]


DIGITS = 12  # values that differ only after so many digits are one, and tie


class BoardPoints(msgspec.Struct, frozen=True):
    """The values of a board. is_low_best: the lowest is the good one."""

    points: Sequence[PlotPoint]
    is_low_best: bool = False

    @property
    def ordered(self) -> list[PlotPoint]:
        """From the best to the worst."""
        known = (point for point in self.points if point.is_known)
        return sorted(known, key=_value, reverse=not self.is_low_best)


def _value(point: PlotPoint) -> float:
    return round(point.value or 0.0, DIGITS)


def _highest(board: BoardPoints) -> dict[str, str]:
    first = board.ordered[0]
    low, high = first.low or 0.0, first.high or 0.0
    several = len({point.group for point in board.points}) > 1
    return {
        "name": f"{first.name} ({first.group})" if several else first.name,
        "end": "lowest" if board.is_low_best else "highest",
        "mean": number(first.value or 0.0),
        "ends": f"{number(low)} to {number(high)}",
    }


HIGHEST = Sentence[BoardPoints](
    code="plot-highest-mean",
    text="{name} has the {end} value, {mean} ({ends}); the verdicts say which differences are "
    "more than chance.",
    when="two or more are drawn, one alone has the highest value, or the lowest where that is the best, and "
    "it has an interval",
    holds=lambda board: (
        len(board.ordered) > 1
        and _value(board.ordered[0]) != _value(board.ordered[1])
        and board.ordered[0].low is not None
    ),
    needs={
        "name": "the one with that value",
        "end": "highest, or lowest where that is the best",
        "mean": "that value",
        "ends": "its 95 % interval",
    },
    fills=_highest,
)


SENTENCES = (HIGHEST,)
