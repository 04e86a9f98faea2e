"""Values against a price, with a line through those that no other one beats on both."""

import math
from collections.abc import Mapping, Sequence

from ragstone.kernel.document.numbers import number
from ragstone.kernel.document.plots._axes import spread, tick_label, tick_text, ticks
from ragstone.kernel.document.plots._pen import WIDE, Sketch, dot, path, place, write
from ragstone.kernel.document.plots._text import FONT, cut, text_width
from ragstone.kernel.document.plots.tables import price_text
from ragstone.kernel.document.plots.values import Frontier, PlotPoint, PriceUnit

MOST = 60
LEFT, TOP, EDGE, TALL, FREE = 52, 26, 16, 260, 70
NEAR, SHOWN_UNDER = (
    7,
    8,
)  # points that lie so near are one on the other; of those under one, so many are named
LABELS = 10  # up to so many points are named in the drawing, those on the frontier first
ROOM = 0.04  # of the axis, above and below what is drawn
BEST, OTHER = 0, 5  # colours


class _Axes:
    """Where prices and values lie. free: whether a point costs nothing, and is left of the scale."""

    def __init__(self, figure: Frontier, points: Sequence[PlotPoint], width: int) -> None:
        self.right, self.bottom = width - EDGE, TOP + TALL
        self.unit = figure.unit
        self.is_log = figure.unit != "share"
        self.free = self.is_log and any(point.x == 0 for point in points)
        self.left = LEFT + (FREE if self.free else EDGE)
        prices = [
            price for point in points for price in (point.x, point.x_low, point.x_high) if price is not None
        ]
        self.start, self.end = spread(prices, (0.0, 1.0))
        if self.is_log:
            powers = [math.log10(price) for price in prices if price > 0] or [0.0, 1.0]
            self.start, self.end = math.floor(min(powers)), math.ceil(max(powers))
            self.end = max(self.end, self.start + 1)
        values = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
        low, high = spread(values, None)
        self.low, self.high = low - ROOM * (high - low), high + ROOM * (high - low)

    def x(self, price: float) -> float:
        """Return where a price lies."""
        if self.is_log and price <= 0:
            return LEFT + FREE / 2 if self.free else self.left
        at = math.log10(price) if self.is_log else price
        share = (at - self.start) / (self.end - self.start)
        return self.left + min(max(share, 0.0), 1.0) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return where a value lies."""
        return self.bottom - (min(max(value, self.low), self.high) - self.low) / (self.high - self.low) * TALL

    def price_ticks(self) -> list[float]:
        """Return the prices that have a line."""
        if not self.is_log:
            return ticks(self.start, self.end, 5)
        prices = [10.0**power for power in range(round(self.start), round(self.end) + 1)]
        wide = max(text_width(_tick(price, self.unit)) for price in prices) + 12
        most = max(int((self.right - self.left) / wide), 1)
        return prices[:: math.ceil(len(prices) / most)]


def draw_frontier(figure: Frontier, width: int) -> Sketch:
    """Return the drawing: price to the right, the value upwards, what has no known price under it."""
    known = [point for point in figure.points if point.is_known and point.x is not None and point.x >= 0]
    points = known[:MOST]
    axes = _Axes(figure, points, width)
    front = [point for point in figure.best if point in points]
    parts = [write(0, 14, f"Upwards: {figure.upwards}", "muted", room=width), *_grid(figure, axes, width)]
    if len(front) > 1:
        steps = [(place(axes.x(point.x or 0.0)), place(axes.y(point.value or 0.0))) for point in front]
        turns = "".join(f"H{x}V{y}" for x, y in steps[1:])
        parts.append(path(f"M{steps[0][0]} {steps[0][1]}{turns}", "front"))
    ordered = [*front, *(point for point in points if point not in front)]
    under = _under(ordered, axes)
    parts += _names([point for point in ordered if id(point) in under], under, axes, width)
    for point in reversed(ordered):
        parts += _point(figure, point, axes, is_best=point in front or not figure.has_frontier)
    across = f"To the right: {figure.across}"
    parts.append(write(width, axes.bottom + 38, across, "muted", "end", room=width))
    height = axes.bottom + 46.0
    for line in _not_drawn(figure, len(known)):
        height += FONT + 6
        parts.append(write(0, height - 6, line, "strong", room=width))
    return Sketch(width, round(height + 4), parts, (LEFT, TOP, axes.right, axes.bottom))


def _grid(figure: Frontier, axes: _Axes, width: int) -> list[str]:
    parts = []
    for tick in ticks(axes.low, axes.high, 6):
        parts.append(path(f"M{LEFT} {place(axes.y(tick))}H{axes.right}", "grid"))
        parts.append(write(LEFT - 8, axes.y(tick) + 4, tick_text(tick), "muted", "end"))
    labels = [(axes.x(mark), _tick(mark, figure.unit)) for mark in axes.price_ticks()]
    for x, label in [*([(axes.x(0.0), figure.nothing)] if axes.free else []), *labels]:
        parts.append(path(f"M{place(x)} {TOP}V{axes.bottom + 4}", "grid"))
        parts.append(tick_label(x, axes.bottom + 18, label, width))
    return parts


def _tick(price: float, unit: PriceUnit) -> str:
    """Return a round price; of US dollars, that of a thousand."""
    if unit == "usd":
        return f"{round(1000 * price, 9):,g} USD"
    if unit == "share":
        return price_text(price, unit)
    return f"{price:,.0f} s" if price >= 1 else f"{round(1000 * price, 6):g} ms"


def _point(figure: Frontier, point: PlotPoint, axes: _Axes, *, is_best: bool) -> list[str]:
    x, y = axes.x(point.x or 0.0), axes.y(point.value or 0.0)
    kind, parts = f"line g{BEST if is_best else OTHER}", []
    if point.low is not None and point.high is not None:
        parts.append(path(f"M{place(x)} {place(axes.y(point.low))}V{place(axes.y(point.high))}", kind))
    if point.x_low is not None and point.x_high is not None:
        start, end = place(axes.x(point.x_low)), place(axes.x(point.x_high))
        parts.append(path(f"M{start} {place(y)}H{end}", kind))
    tip = f"{point.name}: {number(point.value or 0.0)}, {price_text(point.x or 0.0, figure.unit)}"
    group = BEST if is_best else OTHER
    if point.place is None:
        return [*parts, dot(x, y, group, tip, is_open=not is_best)]
    parts.append(dot(x, y, group, tip, is_open=True, r=9))
    return [*parts, write(x, y + 4, str(point.place), "place", "middle")]


def _under(points: Sequence[PlotPoint], axes: _Axes) -> dict[int, list[str]]:
    """Return for each point on top, by id, what the points are called that lie under it."""
    tops: list[PlotPoint] = []
    under: dict[int, list[str]] = {}
    for point in points:
        x, y = axes.x(point.x or 0.0), axes.y(point.value or 0.0)
        top = next(
            (
                other
                for other in tops
                if abs(axes.x(other.x or 0.0) - x) < NEAR and abs(axes.y(other.value or 0.0) - y) < NEAR
            ),
            None,
        )
        if top is None:
            tops.append(point)
            under[id(point)] = []
        else:
            under[id(top)].append(point.name if point.place is None else str(point.place))
    return under


def _names(
    points: Sequence[PlotPoint], under: Mapping[int, Sequence[str]], axes: _Axes, width: int
) -> list[str]:
    """Return names beside points, the first of these first, each where no other name is.

    Beside a name stand the points that lie under its own.
    """
    parts: list[str] = []
    used: list[tuple[float, float, float]] = []
    room = 150 if width >= WIDE else 96
    for point in points[:LABELS]:
        x, y = axes.x(point.x or 0.0), axes.y(point.value or 0.0) - 8
        others = [*under[id(point)][:SHOWN_UNDER], *(["…"] if len(under[id(point)]) > SHOWN_UNDER else [])]
        label = f"{', '.join(others)} under {cut(point.name, room)}" if others else cut(point.name, room)
        wide = text_width(label) + 4
        is_left = x + 12 + wide > width
        start = x - 12 - wide if is_left else x + 12
        if any(abs(y - line) < FONT and start < stop and begin < start + wide for line, begin, stop in used):
            continue
        used.append((y, start, start + wide))
        parts.append(write(x - 12 if is_left else x + 12, y, label, "label", "end" if is_left else ""))
    return parts


def _not_drawn(figure: Frontier, n_known: int) -> list[str]:
    unknown = [point.name for point in figure.points if point.is_known and point.x is None]
    rest = f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""
    lines = [f"Unknown, so not drawn: {', '.join(unknown[:3])}{rest}"] if unknown else []
    return [*lines, *([f"{n_known - MOST:,} more are in the table."] if n_known > MOST else [])]
