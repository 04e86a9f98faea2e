"""What a judge says against what people say of the same answers, by bins; under it how many each bin has."""

from collections.abc import Callable

from ragstone.kernel.document.numbers import percent, percent_range
from ragstone.kernel.document.plots._axes import tick_label
from ragstone.kernel.document.plots._pen import Sketch, box, dot, path, place, write
from ragstone.kernel.document.plots._text import FONT, wrapped
from ragstone.kernel.document.plots.values import PlotPoint, Reliability

LEFT, TOP, COUNTS, EDGE = 62, 30, 56, 12
MOST_SIDE = 340


def draw_reliability(figure: Reliability, width: int) -> Sketch:
    """Return the drawing: a square, its diagonal where both say the same, and bars of the counts under it."""
    side = min(MOST_SIDE, width - LEFT - EDGE)
    points = [point for point in figure.points if point.is_known and point.x is not None]
    bottom = TOP + side
    right = LEFT + side

    def x_of(value: float) -> float:
        return LEFT + min(max(value, 0.0), 1.0) * side

    def y_of(value: float) -> float:
        return bottom - min(max(value, 0.0), 1.0) * side

    floor = bottom + 14 + COUNTS
    parts = [write(0, 14, f"Upwards: {figure.upwards}", "muted", room=width)]
    for n in range(0, 11, 2):
        at, y, label = place(x_of(n / 10)), y_of(n / 10), f"{10 * n} %"
        parts.append(
            path(f"M{at} {TOP}V{bottom}M{at} {bottom + 14}V{floor}M{LEFT} {place(y)}H{right}", "grid")
        )
        parts.append(tick_label(x_of(n / 10), floor + 16, label, width))
        parts.append(write(LEFT - 8, y + 4, label, "muted", "end"))
    parts.append(path(f"M{LEFT} {bottom}L{right} {TOP}", "ideal"))
    most = max((point.n or 0 for point in points), default=0)
    for point in points:
        x = x_of(point.x or 0.0)
        if point.low is not None and point.high is not None:
            parts.append(path(f"M{place(x)} {place(y_of(point.low))}V{place(y_of(point.high))}", "line g0"))
        parts.append(dot(x, y_of(point.value or 0.0), 0, _tip(figure, point)))
        if point.n and most:
            tall = 2 + (COUNTS - 18) * point.n / most
            parts.append(box(x - 5, floor - tall, 10, tall, "count"))
    parts += _counts(points, x_of, floor, most)
    across = f"To the right: {figure.across}. Bars: how many answers each bin has"
    height = floor + 36
    for line in wrapped(across, width):
        parts.append(write(0, height, line, "muted"))
        height += FONT + 4
    return Sketch(width, height - 6, parts, (LEFT, TOP, right, bottom))


def _counts(points: list[PlotPoint], x_of: Callable[[float], float], floor: float, most: int) -> list[str]:
    """Return the counts over their bars, one left out where it would be written on the one before."""
    parts, free = [], 0.0
    for point in sorted(points, key=lambda point: point.x or 0.0):
        if not point.n:
            continue
        text, x = f"{point.n:,}", x_of(point.x or 0.0)
        half = 4 * len(text)
        if x - half < free:
            continue
        free = x + half + 2
        tall = 2 + (COUNTS - 18) * point.n / most
        parts.append(write(x, floor - tall - 4, text, "muted", "middle"))
    return parts


def _tip(figure: Reliability, point: PlotPoint) -> str:
    ends = (
        f" ({percent_range(point.low, point.high)})"
        if point.low is not None and point.high is not None
        else ""
    )
    return (
        f"{figure.across}: {percent(point.x or 0.0)}; {figure.upwards}: {percent(point.value or 0.0)}{ends}, "
        f"of {point.n or 0:,} answers"
    )
