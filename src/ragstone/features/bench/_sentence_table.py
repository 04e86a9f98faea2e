"""What the plots of a bench may say of what is to be seen in them: each sentence with its condition."""

from collections.abc import Sequence

from ragstone.kernel.document.numbers import number
from ragstone.kernel.document.plots.values import PlotPoint
from ragstone.kernel.sentences import Sentence


def _ordered(points: Sequence[PlotPoint]) -> list[PlotPoint]:
    return sorted(
        (point for point in points if point.is_known), key=lambda point: point.value or 0.0, reverse=True
    )


def _highest(points: Sequence[PlotPoint]) -> dict[str, str]:
    first = _ordered(points)[0]
    low, high = first.low or 0.0, first.high or 0.0
    return {
        "name": f"{first.name} ({first.group})" if len({point.group for point in points}) > 1 else first.name,
        "mean": number(first.value or 0.0),
        "ends": f"{number(low)} to {number(high)}",
    }


HIGHEST = Sentence[Sequence[PlotPoint]](
    code="plot-highest-mean",
    text="{name} has the highest value, {mean} ({ends}); the verdicts say which differences are "
    "more than chance.",
    when="two or more are drawn, one alone has the highest value, and it has an interval",
    holds=lambda points: (
        len(_ordered(points)) > 1
        and _ordered(points)[0].value != _ordered(points)[1].value
        and _ordered(points)[0].low is not None
    ),
    needs={"name": "the one with the highest value", "mean": "that value", "ends": "its 95 % interval"},
    fills=_highest,
)
SENTENCES = (HIGHEST,)
