"""The numbers of a figure as a table, and how they are written."""

import math
from collections.abc import Callable

from ragstone.kernel.decimals import signed_decimal, signed_decimals
from ragstone.kernel.document.numbers import (
    count,
    number,
    percent,
    percent_range,
    seconds,
    signed,
    signed_range,
    usd,
    value_range,
)
from ragstone.kernel.document.plots.values import (
    Frontier,
    Intervals,
    PlotFigure,
    PlotPoint,
    PriceUnit,
    Reliability,
    Shares,
    Slopes,
)

ALMOST = 0.995  # from here on a share is rounded to all
NumberTable = tuple[list[str], list[list[str]]]

SMALL = 0.1  # a difference that is shown with three decimals


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
                [
                    point.name,
                    count(point.n or 0),
                    _share(point.x),
                    _share(point.value),
                    _ends(point, percent_range),
                ]
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
    return signed(value) if abs(value) >= SMALL else signed_decimal(value, 3)


def difference_range(low: float, high: float) -> str:
    """Return the two ends of a difference, both with three decimals where one is small."""
    ends = abs(low), abs(high)
    if min(ends) >= SMALL or max(ends) >= 1:
        return signed_range(low, high)
    return signed_decimals(low, high, 3)


def _interval_numbers(figure: Intervals) -> NumberTable:
    several = len({point.group for point in figure.points}) > 1
    counted = any(point.n is not None for point in figure.points)
    show, ends = (difference_text, difference_range) if figure.is_signed else (number, value_range)
    rows = [
        [
            point.name,
            *([point.group] if several else []),
            show(point.value) if point.is_known and point.value is not None else "unknown",
            _ends(point, ends),
            *([count(point.n) if point.n is not None else ""] if counted else []),
        ]
        for point in figure.points
    ]
    value = "Difference" if figure.is_signed else figure.value
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
            _ends(point, value_range),
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


def _ends(point: PlotPoint, show: Callable[[float, float], str]) -> str:
    if point.low is None or point.high is None:
        return "no interval"
    return show(point.low, point.high)
