"""What moved from before to after, a line each: an open point before, a filled one after."""

from ragstone.kernel.document.numbers import number
from ragstone.kernel.document.plots._axes import captions, spread, tick_label, tick_text, ticks
from ragstone.kernel.document.plots._pen import WIDE, Sketch, dot, path, place, write
from ragstone.kernel.document.plots._text import FONT, column, text_width
from ragstone.kernel.document.plots.values import Slopes
from ragstone.kernel.errors import plural

NAMES, VALUES, EDGE, ROW = 380, 110, 10, 24
UP, DOWN = 0, 1  # colours of those that rose, and that fell


def draw_slopes(figure: Slopes, width: int) -> Sketch:
    """Return the drawing: those that fell most first, then those that rose, then the ones that are alike."""
    points = [point for point in figure.points if point.is_known and point.x is not None]
    beside = width >= WIDE
    names = column([point.name for point in points], NAMES)
    left, right = (names, width - VALUES - EDGE) if beside else (EDGE, width - EDGE)
    low, high = spread(
        [end for point in points for end in (point.x, point.value) if end is not None], figure.ends
    )

    def x_of(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    key = [(DOWN, f"lower in {figure.after}"), (UP, f"higher in {figure.after}")]
    parts, x_key = [], 7.0
    for group, name in key:
        parts += [
            path(f"M{place(x_key)} 12H{place(x_key + 26)}", f"line g{group}"),
            dot(x_key, 12, group, "", is_open=True),
            dot(x_key + 26, 12, group, ""),
            write(x_key + 38, 16, name),
        ]
        x_key += 56 + text_width(name)
    row, top = (ROW if beside else 42), 30.0
    bottom = top + row * len(points)
    middles = [top + row * at + (ROW / 2 if beside else 30) for at in range(len(points))]
    runs = [(top, bottom)] if beside else [(y - 10, y + 10) for y in middles]
    for tick in ticks(low, high, 5 if beside else 4):
        x = place(x_of(tick))
        parts.append(path("".join(f"M{x} {place(up)}V{place(down)}" for up, down in runs), "grid"))
        parts.append(tick_label(x_of(tick), bottom + 18, tick_text(tick), width))
    for at, point in enumerate(points):
        before, after = point.x or 0.0, point.value or 0.0
        y = middles[at]
        group = UP if after > before else DOWN
        text = f"{number(before)} → {number(after)}"
        parts.append(path(f"M{place(x_of(before))} {place(y)}H{place(x_of(after))}", f"line g{group}"))
        parts.append(dot(x_of(before), y, group, f"{point.name}: {text}", is_open=True))
        parts.append(dot(x_of(after), y, group, f"{point.name}: {text}"))
        if beside:
            parts += [write(0, y + 4, point.name, room=names), write(width, y + 4, text, "muted", "end")]
        else:
            parts.append(write(0, y - 14, point.name, room=width - text_width(text) - 8))
            parts.append(write(width, y - 14, text, "muted", "end"))
    axis, height = captions(figure.axis, (left + right) / 2, bottom + 36, width)
    parts += axis
    height -= FONT
    rest = [
        *([f"Not drawn: {plural(figure.n_more, 'question')} that moved no further"] if figure.n_more else []),
        f"{plural(figure.n_same, 'question')} with the same score in both",
    ]
    for line in rest:
        height += FONT + 6
        parts.append(write(0, height - 6, line, "strong", room=width))
    return Sketch(width, round(height + 4), parts, (left, top, right, bottom))
