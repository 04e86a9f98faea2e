"""What the plots of a bench may say of what is to be seen in them: each sentence with its condition."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.document.numbers import number, value_range
from ragstone.kernel.document.plots.values import PlotPoint
from ragstone.kernel.sentences import Sentence

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
        "ends": value_range(low, high),
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
