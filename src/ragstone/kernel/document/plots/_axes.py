"""Axes of a drawing: their ends, the round numbers on them, and what they show."""

import math
from collections.abc import Sequence

from ragstone.kernel.decimals import short
from ragstone.kernel.document.plots._pen import write
from ragstone.kernel.document.plots._text import FONT, text_width, wrapped

NO_MORE = 1e-12  # of the values, or of 1, apart: no axis is as short


def captions(text: str, middle: float, y: float, width: float) -> tuple[list[str], float]:
    """Return what an axis shows, in lines under it and within the drawing, and where the next line begins."""
    parts = []
    for line in wrapped(text, width):
        half = text_width(line) / 2
        parts.append(write(min(max(middle, half), width - half), y, line, "muted", "middle"))
        y += FONT + 4
    return parts, y


def tick_label(x: float, y: float, text: str, width: float) -> str:
    """Return the label of a line of the grid, within the drawing."""
    half = text_width(text) / 2
    return write(min(max(x, half), width - half), y, text, "muted", "middle")


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return round numbers from low to high, about `most` of them at the most; both ends are finite."""
    span = high - low
    power = 10.0 ** math.floor(math.log10(span / most))
    step = next(power * n for n in (1, 2, 5, 10, 20) if span / (power * n) <= most)
    first = math.ceil(low / step - 1e-9)
    steps = range(first, math.floor(high / step + 1e-9) + 1)
    return [min(max(n * step, low), high) for n in steps]  # n * step is rounded, and may be beside an end


def tick_text(value: float, *, is_signed: bool = False) -> str:
    """Return a round number as short as it is."""
    text = short(value) if abs(value) > 1e-12 else "0"
    return ("+" if is_signed and value > 1e-12 else "") + text


def spread(values: Sequence[float], ends: tuple[float, float] | None) -> tuple[float, float]:
    """Return the ends of an axis: those given, and those of every value; never the same."""
    finite = [value for value in (*values, *(ends or ())) if math.isfinite(value)] or [0.0, 1.0]
    low, high = min(finite), max(finite)
    if high - low > NO_MORE * max(abs(low), abs(high), 1.0):
        return low, high
    wide = max(abs(low), 1.0) / 2
    return low - wide, high + wide
