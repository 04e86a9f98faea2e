"""The runs of a page -> its columns in reading order.

A gutter is a strip without ink that has text on both sides over several lines. What stands above and below
it is read before and after the two sides, and each of the four parts may hold gutters of its own. A strip
between the columns of a table is no gutter: its sides are the two halves of each row.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median

import msgspec

from ragstone.corpus.pdf.runs import Run

GUTTER = 0.7  # ems
MIN_LINES = 4  # on each side of a gutter
MIN_WINDOW = 6  # baselines along a gutter
PROSE_CHARACTERS = 18  # in half of the lines of a column of text, at least
PROSE_INK = 0.55  # of the width of a column of text, on average
WIDE_GAP = 2.0  # ems; most lines of a column of text have none within
SAME_LINE = 0.12  # ems between the baselines of the two halves of a table's row
MARGIN_TEXT = 0.4  # of the other side's characters; a column with fewer stands in the margin
BAND = 1.3  # ems of white across the page; they part what stands above columns from the columns
SHRINK = 0.8


class Column(msgspec.Struct, frozen=True):
    """Runs that are read from top to bottom; `margin` is text beside the text."""

    runs: list[Run]
    margin: bool = False


class _Gutter(msgspec.Struct, frozen=True):
    """A strip from x0 to x1 that no run from the baseline y0 to the baseline y1 touches."""

    x0: int
    x1: int
    y0: float
    y1: float


def read_columns(runs: list[Run], *, rtl: bool) -> list[Column]:
    """Return the columns of a page in reading order, those in its margin last."""
    columns = list(_columns(runs, rtl=rtl))
    return [one for one in columns if not one.margin] + [one for one in columns if one.margin]


def _columns(runs: list[Run], *, rtl: bool) -> Iterator[Column]:
    found = _gutter(runs) if len(runs) >= 2 * MIN_LINES else None
    if found is None:
        if runs:
            yield Column(runs)
        return
    inside = [run for run in runs if found.y0 <= run.base <= found.y1]
    left = [run for run in inside if run.x0 < found.x0 + 1]
    right = [run for run in inside if run.x0 >= found.x0 + 1]
    yield from _columns([run for run in runs if run.base < found.y0], rtl=rtl)
    sides = [right, left] if rtl else [left, right]
    margin = _margin_of(*sides)
    for number, side in enumerate(sides):
        for column in _columns(side, rtl=rtl):
            yield Column(column.runs, margin=column.margin or number == margin)
    yield from _columns([run for run in runs if run.base > found.y1], rtl=rtl)


def _margin_of(first: list[Run], second: list[Run]) -> int | None:
    """Return which of two sides is margin text, 0 or 1: smaller and much less; None where neither is."""
    counts = [sum(run.end - run.start for run in side) for side in (first, second)]
    sizes = [main_size(side) for side in (first, second)]
    widths = [max(run.x1 for run in side) - min(run.x0 for run in side) for side in (first, second)]
    fewer = 0 if counts[0] < counts[1] else 1
    other = 1 - fewer
    small = counts[fewer] < MARGIN_TEXT * counts[other] and widths[fewer] < 0.6 * widths[other]
    return fewer if small and sizes[fewer] < 0.97 * sizes[other] else None


def main_size(runs: Iterable[Run]) -> float:
    """Return the size of most characters in points; 0 without any."""
    counts = Counter[float]()
    for run in runs:
        counts[round(run.size, 1)] += run.end - run.start
    return max(counts, key=counts.__getitem__, default=0.0)


def _gutter(runs: list[Run]) -> _Gutter | None:
    """Return the tallest gutter, None where there is none."""
    lines: dict[float, int] = {}
    for run in runs:
        x0, x1 = max(int(run.x0), 0), int(run.x1) + 1
        base = round(run.base, 1)
        lines[base] = lines.get(base, 0) | ((1 << max(x1 - x0, 0)) - 1) << x0
    if len(lines) < MIN_WINDOW:
        return None
    bases = sorted(lines)
    masks = [lines[base] for base in bases]
    width = max(round(GUTTER * median(run.size for run in runs)), 3)
    strip = re.compile(f"0{{{width},}}")
    height, tables = len(masks), {0: masks}
    while height >= MIN_WINDOW:
        for first, ink in _windows(tables, height):
            for x0, x1 in _strips(ink, strip):
                found = _extended(bases, masks, first, height, (x0, x1))
                if _is_gutter(runs, found):
                    return _without_band(runs, found)
        height = min(height - 1, int(height * SHRINK))
    return None


def _windows(tables: dict[int, list[int]], height: int) -> Iterator[tuple[int, int]]:
    """Yield the first line and the ink of every window of `height` lines.

    tables: level -> the ink of the windows of 2**level lines; filled as needed.
    """
    level = height.bit_length() - 1
    for lower in range(level):
        if lower + 1 not in tables:
            below, step = tables[lower], 1 << lower
            tables[lower + 1] = [one | other for one, other in zip(below, below[step:], strict=False)]
    inks, second = tables[level], height - (1 << level)
    stride = max(height // 8, 1)
    for first in range(0, len(tables[0]) - height + 1, stride):
        yield first, inks[first] | inks[first + second]


def _strips(ink: int, strip: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield start and end of the strips without ink that have ink on both sides, the middle ones first."""
    bits = bin(ink)[:1:-1].rstrip("0")
    spans = [found.span() for found in strip.finditer(bits) if found.start() > 0]
    if spans and not bits.startswith("1"):
        start = bits.index("1")
        spans = [span for span in spans if span[0] > start]
        middle = (start + len(bits)) / 2
    else:
        middle = len(bits) / 2
    yield from sorted(spans, key=lambda span: abs((span[0] + span[1]) / 2 - middle))


def _extended(
    bases: list[float], masks: list[int], first: int, height: int, span: tuple[int, int]
) -> _Gutter:
    strip = ((1 << (span[1] - span[0])) - 1) << span[0]
    last = first + height - 1
    while first > 0 and not masks[first - 1] & strip:
        first -= 1
    while last + 1 < len(masks) and not masks[last + 1] & strip:
        last += 1
    return _Gutter(span[0], span[1], bases[first] - 0.06, bases[last] + 0.06)


def _is_gutter(runs: list[Run], strip: _Gutter) -> bool:
    inside = [run for run in runs if strip.y0 <= run.base <= strip.y1]
    left = _Side([run for run in inside if run.x0 < strip.x0 + 1])
    right = _Side([run for run in inside if run.x0 >= strip.x0 + 1])
    if min(len(left.lines), len(right.lines)) < MIN_LINES:
        return False
    return left.aligned_with(right) < 0.5 or (left.is_prose() and right.is_prose())


class _Side:
    """The lines on one side of a strip."""

    def __init__(self, runs: list[Run]) -> None:
        self.lines: dict[float, list[Run]] = {}
        for run in runs:
            self.lines.setdefault(round(run.base, 1), []).append(run)
        self.size = median(run.size for run in runs) if runs else 0.0

    def aligned_with(self, other: "_Side") -> float:
        """Return the share of the lines of the side with fewer that have a partner on the other."""
        few, many = sorted((self, other), key=lambda side: len(side.lines))
        tolerance = SAME_LINE * max(few.size, many.size)
        bases = sorted(many.lines)
        partners = 0
        at = 0
        for base in sorted(few.lines):
            while at < len(bases) and bases[at] < base - tolerance:
                at += 1
            partners += at < len(bases) and bases[at] <= base + tolerance
        return partners / len(few.lines)

    def is_prose(self) -> bool:
        """Return whether most lines are filled with text, as those of a table's column are not."""
        lines = list(self.lines.values())
        width = max(run.x1 for line in lines for run in line) - min(run.x0 for line in lines for run in line)
        ink = [sum(run.x1 - run.x0 for run in line) for line in lines]
        characters = [sum(run.end - run.start for run in line) for line in lines]
        gaps = [_has_gap(line, WIDE_GAP * self.size) for line in lines]
        return (
            median(characters) >= PROSE_CHARACTERS
            and sum(ink) >= PROSE_INK * width * len(lines)
            and sum(gaps) < 0.3 * len(lines)
        )


def _has_gap(line: list[Run], width: float) -> bool:
    if len(line) == 1:
        return False
    ordered = sorted(line, key=lambda run: run.x0)
    return any(after.x0 - before.x1 > width for before, after in pairwise(ordered))


def _without_band(runs: list[Run], strip: _Gutter) -> _Gutter:
    """Return a gutter without the head or foot that a band of white across the page parts from it."""
    inside = sorted((run for run in runs if strip.y0 <= run.base <= strip.y1), key=lambda run: run.base)
    band = BAND * median(run.size for run in inside)
    y0, y1 = strip.y0, strip.y1
    bottom = inside[0].base
    for number, run in enumerate(inside):
        if run.base - run.size - bottom > band:
            if number <= 0.15 * len(inside):
                y0 = run.base - 0.06
            elif number >= 0.85 * len(inside):
                y1 = bottom + 0.06
                break
        bottom = run.base
    return _Gutter(strip.x0, strip.x1, y0, y1)
