"""Values with intervals, a line each: names at the left, or above their line where there is little room."""

from collections.abc import Callable, Sequence

from ragstone.kernel.document.numbers import number, value_range
from ragstone.kernel.document.plots._axes import captions, spread, tick_label, tick_text, ticks
from ragstone.kernel.document.plots._pen import WIDE, Sketch, box, dot, legend, path, place, write
from ragstone.kernel.document.plots._text import FONT, column, text_width
from ragstone.kernel.document.plots.tables import difference_range, difference_text
from ragstone.kernel.document.plots.values import Intervals, PlotPoint

MOST = 40  # lines of a drawing; the table has them all
NAMES = 260  # the widest column of names
EDGE = 10
NARROW_EDGE = 12


def draw_intervals(figure: Intervals, width: int) -> Sketch:
    """Return the drawing."""
    known = [point for point in figure.points if point.is_known]
    points, beside = known[:MOST], width >= WIDE
    names = column([point.name for point in points], NAMES)
    left = names if beside else NARROW_EDGE
    right = width - (
        column([_text(figure, point) for point in points], NAMES) + EDGE if beside else NARROW_EDGE
    )
    values = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    null = [figure.null[0]] if figure.null else []
    low, high = spread([*values, *null, *(figure.band or ())[:2]], figure.ends)

    def x_of(value: float) -> float:
        return left + (min(max(value, low), high) - low) / (high - low) * (right - left)

    groups = list(dict.fromkeys(point.group for point in points))
    parts, top = legend(groups, width, 16) if len(groups) > 1 else ([], 4.0)
    notes = [(x_of(figure.null[0]), figure.null[1])] if figure.null else []
    if figure.band:
        notes.append(((x_of(figure.band[0]) + x_of(figure.band[1])) / 2, figure.band[2]))
    for at, note in notes:  # each above the drawing, whole
        half = text_width(note) / 2
        middle = min(max(at, half), width - half)
        parts.append(write(middle, top + FONT, note, "muted", "middle"))
        top += FONT + 4
    top += 4
    row = 28 if beside else 46
    bottom = top + row * len(points)
    tall = 8 if beside else 11  # of the grid in a row: it does not run through names above their line
    middles = [top + row * at + (14 if beside else 32) for at in range(len(points))]
    runs = [(top, bottom)] if beside else [(y - tall, y + tall) for y in middles]
    if figure.band:
        start, end = sorted(map(x_of, figure.band[:2]))
        parts += [box(start, up, end - start, down - up, "band") for up, down in runs]
    for tick in ticks(low, high, 5 if beside else 4):
        parts.append(path(_upright(x_of(tick), runs), "grid"))
        label = tick_text(tick, is_signed=figure.is_signed)
        parts.append(tick_label(x_of(tick), bottom + 18, label, width))
    if figure.null:
        parts.append(path(_upright(x_of(figure.null[0]), runs), "null"))
    last = None
    for at, point in enumerate(points):
        y = middles[at]
        name = point.name if point.name != last or not beside else ""
        last = point.name
        parts += _line(figure, point, groups.index(point.group), y, x_of)
        text = _text(figure, point)
        if beside:
            parts += [write(0, y + 4, name, room=names), write(right + EDGE, y + 4, text, "muted")]
        else:
            parts.append(write(0, y - 14, name, room=width - text_width(text) - 8))
            parts.append(write(width, y - 14, text, "muted", "end"))
    axis, height = captions(figure.axis, (left + right) / 2, bottom + 38, width)
    parts += axis
    height -= 6
    if len(known) > MOST:
        parts.append(write(0, height + 10, f"In the table: {len(known) - MOST:,} more.", "muted"))
        height += 20
    return Sketch(width, round(height), parts, (left, top, right, bottom))


def _upright(x: float, runs: Sequence[tuple[float, float]]) -> str:
    return "".join(f"M{place(x)} {place(up)}V{place(down)}" for up, down in runs)


def _line(
    figure: Intervals, point: PlotPoint, group: int, y: float, x_of: Callable[[float], float]
) -> list[str]:
    parts = []
    if point.low is not None and point.high is not None:
        start, end = place(x_of(point.low)), place(x_of(point.high))
        up, down = place(y - 4), place(y + 4)
        parts.append(
            path(f"M{start} {up}V{down}M{end} {up}V{down}M{start} {place(y)}H{end}", f"line g{group % 8}")
        )
    name = f"{point.name}, {point.group}" if point.group else point.name
    tip = f"{name}: {_text(figure, point)}"
    return [*parts, dot(x_of(point.value or 0.0), y, group, tip, is_open=point.is_open)]


def _text(figure: Intervals, point: PlotPoint) -> str:
    show, ends = (difference_text, difference_range) if figure.is_signed else (number, value_range)
    value = show(point.value or 0.0)
    if point.low is None or point.high is None:
        return value
    return f"{value} ({ends(point.low, point.high)})"
