"""What a plot shows, as values: their numbers as a table come from the same points that are drawn."""

import math
from collections.abc import Sequence
from typing import Literal

import msgspec

from ragstone.kernel.document.blocks import Block

PriceUnit = Literal["usd", "seconds", "share"]


class PlotPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A value with the ends of its interval; None where it is unknown: then the table alone has it.

    x: the other number of the point, with its ends: its price, what the judge said, its score before. n: rows
    that it rests on. group: what its colour and shape stand for. is_open: drawn hollow. place: its number in
    a table, written in it.
    """

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None
    x: float | None = None
    x_low: float | None = None
    x_high: float | None = None
    n: int | None = None
    group: str = ""
    is_open: bool = False
    place: int | None = None

    @property
    def is_known(self) -> bool:
        """Whether it has a value that can be drawn."""
        return self.value is not None and math.isfinite(self.value)


class Intervals(msgspec.Struct, frozen=True, kw_only=True):
    """A line with a point for each value. axis: what it shows. of, by, value: heads of the
    names, the groups and the values.

    ends: of the axis at least. null: where a line is drawn, and what it means. band: the ends of a shaded
    part, and what it means. is_signed: values are differences.
    """

    points: list[PlotPoint]
    axis: str
    of: str
    by: str = "Group"
    value: str = "Mean"
    ends: tuple[float, float] | None = None
    null: tuple[float, str] | None = None
    band: tuple[float, float, str] | None = None
    is_signed: bool = False


class Slopes(msgspec.Struct, frozen=True, kw_only=True):
    """What several had before (x) and after (value). n_same: that are alike in both; n_more: not drawn."""

    points: list[PlotPoint]
    before: str
    after: str
    axis: str
    n_same: int
    n_more: int
    ends: tuple[float, float]


class Reliability(msgspec.Struct, frozen=True, kw_only=True):
    """Bins of a judge's probabilities (x, 0 to 1) by what people say of them (value, 0 to 1), with n each."""

    points: list[PlotPoint]
    across: str
    upwards: str


class Frontier(msgspec.Struct, frozen=True, kw_only=True):
    """Values upwards against a price to the right (x). An unknown price is listed, and not drawn.

    unit: of the price; that of a share lies on a linear scale, others on a logarithmic one. nothing: what
    a price of 0 is called. is_low_best: less is better upwards too. has_frontier: the points are
    alternatives, of which some are not beaten on both; else none is marked.
    """

    points: list[PlotPoint]
    unit: PriceUnit
    across: str
    upwards: str
    nothing: str = "0"
    is_low_best: bool = False
    has_frontier: bool = True

    @property
    def best(self) -> list[PlotPoint]:
        """The points that no other one beats on both, in the order of price."""
        return unbeaten(self.points, is_low_best=self.is_low_best) if self.has_frontier else []


class ShareRow(msgspec.Struct, frozen=True, kw_only=True):
    """A bar. parts: what each is called, its share of 1, and its count where there is one."""

    name: str
    parts: list[tuple[str, float, int | None]]


class Shares(msgspec.Struct, frozen=True, kw_only=True):
    """Bars of parts that are ordered: dark is the first. first, last: what the ends of the order are called.

    head: of the parts in the table.
    """

    rows: list[ShareRow]
    axis: str
    of: str
    head: str
    first: str
    last: str


PlotFigure = Intervals | Slopes | Reliability | Frontier | Shares


class Plot(Block, frozen=True, kw_only=True):
    """A chart. name: unique in its page, an id and a file's name. said: sentences on what to see in it.

    in_markdown: its sentences and numbers are in Markdown too, which draws nothing: no table beside has them.
    """

    name: str
    title: str
    figure: PlotFigure
    said: Sequence[str] = ()
    in_markdown: bool = False


def unbeaten(points: Sequence[PlotPoint], *, is_low_best: bool = False) -> list[PlotPoint]:
    """Return the points that no other one beats: none is as cheap and as good, and better in one of both.

    By their values, not their intervals; those without a price or a value are neither. In the order of price.
    """
    sign = -1.0 if is_low_best else 1.0
    known = sorted(
        (point for point in points if point.is_known and point.x is not None),
        key=lambda point: (point.x or 0.0, -sign * (point.value or 0.0)),
    )
    frontier: list[PlotPoint] = []
    for point in known:
        best = frontier[-1] if frontier else None
        value = sign * (point.value or 0.0)
        if (
            best is None
            or value > sign * (best.value or 0.0)
            or (point.x, point.value) == (best.x, best.value)
        ):
            frontier.append(point)
    return frontier
