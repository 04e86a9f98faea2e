"""What a plot shows, as values: their numbers as a table come from the same points that are drawn."""

import math
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ragstone.kernel.document.blocks import Block
from ragstone.kernel.document.numbers import count, number, percent, seconds, signed, usd

ALMOST = 0.995  # from here on a share is rounded to all
PriceUnit = Literal["usd", "seconds", "share"]
NumberTable = tuple[list[str], list[list[str]]]


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
    """A line with a point for each value. axis: what it shows. of, by: heads of the names, and the groups.

    ends: of the axis at least. null: where a line is drawn, and what it means. band: the ends of a shaded
    part, and what it means. is_signed: values are differences.
    """

    points: list[PlotPoint]
    axis: str
    of: str
    by: str = "Group"
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
    kept: list[PlotPoint] = []
    for point in known:
        best = kept[-1] if kept else None
        value = sign * (point.value or 0.0)
        if (
            best is None
            or value > sign * (best.value or 0.0)
            or (point.x, point.value) == (best.x, best.value)
        ):
            kept.append(point)
    return kept


def numbers_of(figure: PlotFigure) -> NumberTable:
    """Return what a figure shows as a table: the heads of its columns, and its rows."""
    match figure:
        case Intervals():
            return _interval_numbers(figure)
        case Slopes():
            rows = [
                [point.name, _number(point.x), _number(point.value), _moved(point)] for point in figure.points
            ]
            return ["Question", figure.before, figure.after, f"{figure.after} − {figure.before}"], rows
        case Reliability():
            bins = [
                [point.name, count(point.n or 0), _share(point.x), _share(point.value), _ends(point, percent)]
                for point in figure.points
            ]
            heads = [figure.across.capitalize(), figure.upwards.capitalize()]
            return ["Bin", "Answers", *heads, "95 % interval"], bins
        case Frontier():
            return _frontier_numbers(figure)
        case Shares():
            counted = any(n is not None for row in figure.rows for _, _, n in row.parts)
            parts = [
                [row.name, label, share_text(share), *(["" if n is None else count(n)] if counted else [])]
                for row in figure.rows
                for label, share, n in row.parts
            ]
            return [figure.of, figure.head, "Share", *(["Rows"] if counted else [])], parts


def share_text(share: float) -> str:
    """Return a share in per cent; one that is not quite all, or not quite none, is not rounded to it."""
    if ALMOST <= share < 1:
        return "over 99 %"
    return "under 0.1 %" if 0 < share < 1 - ALMOST and percent(share) == "0.0 %" else percent(share)


def price_text(value: float, unit: PriceUnit) -> str:
    """Return a price in its unit; of US dollars, that of a thousand."""
    if unit == "seconds":
        return seconds(value)
    return usd(1000 * value) if unit == "usd" else percent(value)


def difference_text(value: float) -> str:
    """Return a difference with its sign; a small one with three decimals, for its ends lie near 0."""
    if abs(value) >= 0.1:
        return signed(value)
    text = f"{value:+z.3f}".replace("-", "−")
    return text.removeprefix("+") if float(f"{value:.3f}") == 0 else text


def _interval_numbers(figure: Intervals) -> NumberTable:
    several = len({point.group for point in figure.points}) > 1
    counted = any(point.n is not None for point in figure.points)
    show = difference_text if figure.is_signed else number
    rows = [
        [
            point.name,
            *([point.group] if several else []),
            show(point.value) if point.is_known and point.value is not None else "unknown",
            _ends(point, show),
            *([count(point.n) if point.n is not None else ""] if counted else []),
        ]
        for point in figure.points
    ]
    value = "Difference" if figure.is_signed else "Mean"
    return [
        figure.of,
        *([figure.by] if several else []),
        value,
        "Interval",
        *(["Rows"] if counted else []),
    ], rows


def _frontier_numbers(figure: Frontier) -> NumberTable:
    best = {id(point) for point in figure.best}

    def price(point: PlotPoint) -> str:
        if point.x is None:
            return "unknown"
        is_free = point.x == 0 and figure.unit != "share"
        return figure.nothing if is_free else price_text(point.x, figure.unit)

    def is_best(point: PlotPoint) -> str:
        return "yes" if id(point) in best else "" if point.x is None or not point.is_known else "no"

    rows = [
        [
            point.name,
            price(point),
            _number(point.value),
            _ends(point, number),
            *([is_best(point)] if figure.has_frontier else []),
        ]
        for point in figure.points
    ]
    heads = [figure.across.capitalize(), figure.upwards.capitalize(), "Interval"]
    return ["Name", *heads, *(["Not beaten on both"] if figure.has_frontier else [])], rows


def _number(value: float | None) -> str:
    return "unknown" if value is None or not math.isfinite(value) else number(value)


def _moved(point: PlotPoint) -> str:
    return "unknown" if point.x is None or point.value is None else signed(point.value - point.x)


def _share(value: float | None) -> str:
    return "unknown" if value is None else percent(value)


def _ends(point: PlotPoint, show: Callable[[float], str]) -> str:
    if point.low is None or point.high is None:
        return "no interval"
    return f"{show(point.low)} to {show(point.high)}"
