"""The plots of all benches: a board's values with their intervals, and values against a price."""

from collections.abc import Iterable, Sequence
from typing import get_args

from ragstone.features.bench._sentence_table import HIGHEST, BoardPoints
from ragstone.kernel.document.blocks import Block
from ragstone.kernel.document.charts import Dot, Dots
from ragstone.kernel.document.plots.values import Frontier, Intervals, Plot, PlotPoint
from ragstone.kernel.runs.order_plots import price_plot
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import BoardPlace

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
            group="" if each.group in get_args(BoardPlace) else each.group,
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
