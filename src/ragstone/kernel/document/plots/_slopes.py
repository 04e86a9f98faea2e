"""What moved from before to after, a line each: an open point before, a filled one after."""

from ragstone.kernel.document.numbers import number
from ragstone.kernel.document.plots._pen import (
    FONT,
    WIDE,
    Sketch,
    dot,
    path,
    place,
    spread,
    text_width,
    tick_text,
    ticks,
    write,
)
from ragstone.kernel.document.plots.values import Slopes
from ragstone.kernel.errors import plural

NAMES, VALUES, EDGE, ROW = 280, 110, 10, 24
UP, DOWN = 0, 1  # colours of those that rose, and that fell


def draw_slopes(figure: Slopes, width: int) -> Sketch:
    """Return the drawing: those that fell most first, then those that rose, then the ones that are alike."""
    points = [point for point in figure.points if point.is_known and point.x is not None]
    beside = width >= WIDE
    left, right = (NAMES + EDGE, width - VALUES - EDGE) if beside else (EDGE, width - EDGE)
    low, high = spread(
        [end for point in points for end in (point.x, point.value) if end is not None], figure.ends
    )

    def x_of(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    key = [(DOWN, f"lower in {figure.after}"), (UP, f"higher in {figure.after}")]
    parts, x = [], 4.0
    for group, name in key:
        parts += [
            path(f"M{place(x)} 12H{place(x + 26)}", f"line g{group}"),
            dot(x, 12, group, "", is_open=True),
            dot(x + 26, 12, group, ""),
            write(x + 38, 16, name),
        ]
        x += 56 + text_width(name)
    row, top = (ROW if beside else 42), 30.0
    bottom = top + row * len(points)
    for tick in ticks(low, high, 5 if beside else 4):
        parts.append(path(f"M{place(x_of(tick))} {place(top)}V{place(bottom + 4)}", "grid"))
        parts.append(write(x_of(tick), bottom + 18, tick_text(tick), "muted", "middle"))
    for at, point in enumerate(points):
        before, after = point.x or 0.0, point.value or 0.0
        y = top + row * at + (ROW / 2 if beside else 30)
        group = UP if after > before else DOWN
        text = f"{number(before)} → {number(after)}"
        parts.append(path(f"M{place(x_of(before))} {place(y)}H{place(x_of(after))}", f"line g{group}"))
        parts.append(dot(x_of(before), y, group, f"{point.name}: {text}", is_open=True))
        parts.append(dot(x_of(after), y, group, f"{point.name}: {text}"))
        if beside:
            parts += [write(0, y + 4, point.name, room=NAMES), write(width, y + 4, text, "muted", "end")]
        else:
            parts.append(write(0, y - 14, point.name, room=width - text_width(text) - 8))
            parts.append(write(width, y - 14, text, "muted", "end"))
    height = bottom + 42
    parts.append(write((left + right) / 2, bottom + 36, figure.axis, "muted", "middle", room=width))
    rest = [
        *([f"{plural(figure.n_more, 'question')} moved less or as far, not drawn"] if figure.n_more else []),
        f"{plural(figure.n_same, 'question')} with the same score in both",
    ]
    for line in rest:
        height += FONT + 6
        parts.append(write(0, height - 6, line, "strong", room=width))
    return Sketch(width, round(height + 4), parts, (left, top, right, bottom))
