"""The runs of a page -> its columns in reading order.

A gutter is a strip without ink that has text on both sides over several lines. What stands above and below
it is read before and after the two sides, and each of the four parts may hold gutters of its own. A strip
between the columns of a table is no gutter: its sides are the two halves of each row.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from statistics import median

import msgspec

from ragstone.corpus.pdf.runs import Run

GUTTER = 0.7  # ems
MIN_LINES = 4  # on each side of a gutter
MIN_WINDOW = 6  # baselines along a gutter
PROSE_CHARACTERS = 18  # in half of the lines of a column of text, at least
PROSE_INK = 0.55  # of the width of a column of text, on average
WIDE_GAP = 0.8  # ems; a column ends where a line has a wider one
NEAR = 4.0  # ems from a strip to the lines of the column beside it
SAME_LINE = 0.12  # ems between the baselines of the two halves of a table's row
MARGIN_TEXT = 0.4  # of the other side's characters; a column with fewer stands in the margin
BAND = 1.3  # ems of white across the page; they part what stands above columns from the columns
HEAD = 0.15  # of the runs along a gutter may stand above such a band
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
    tried: set[_Gutter] = set()
    while height >= MIN_WINDOW:
        for first, ink in _windows(tables, height):
            for x0, x1 in _strips(ink, strip):
                found = _extended(bases, masks, first, height, (x0, x1))
                if found not in tried and _is_gutter(runs, found):
                    return _without_band(runs, found)
                tried.add(found)
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
    lines: dict[float, list[Run]] = {}
    for run in runs:
        if strip.y0 <= run.base <= strip.y1:
            lines.setdefault(round(run.base, 1), []).append(run)
    left, right = [], []
    for base, line in lines.items():
        line.sort(key=lambda run: run.x0)
        place = next((n for n, run in enumerate(line) if run.x0 >= strip.x0 + 1), len(line))
        if place:
            left.append(_words(base, line[:place][::-1]))
        if place < len(line):
            right.append(_words(base, line[place:]))
    sides = (_beside(left, strip), _beside(right, strip))
    if min(map(len, sides)) < MIN_LINES:
        return False
    return _aligned(*sides) < 0.5 or all(map(_is_prose, sides))


class _Words(msgspec.Struct, frozen=True, gc=False):
    """What stands on one line next to a strip, up to the first wide gap."""

    base: float
    x0: float
    x1: float
    ink: float
    characters: int
    size: float


def _words(base: float, line: list[Run]) -> _Words:
    """line: the runs on one side of a strip, the one next to it first."""
    first = line[0]
    x0, x1, ink, characters = first.x0, first.x1, first.x1 - first.x0, first.end - first.start
    for run in line[1:]:
        if max(run.x0 - x1, x0 - run.x1) > WIDE_GAP * first.size:
            break
        x0, x1 = min(x0, run.x0), max(x1, run.x1)
        ink += run.x1 - run.x0
        characters += run.end - run.start
    return _Words(base, x0, x1, ink, characters, first.size)


def _beside(side: list[_Words], strip: _Gutter) -> list[_Words]:
    """Return the lines of the column next to a strip, without those of columns beyond."""
    near = [one for one in side if max(strip.x0 - one.x1, one.x0 - strip.x1) < NEAR * one.size]
    if not near:
        return []
    left, right = median(one.x0 for one in near), median(one.x1 for one in near)
    return [one for one in side if one.x0 < right and one.x1 > left]


def _is_prose(side: list[_Words]) -> bool:
    """Return whether most lines are filled with text, as the cells of a table's column are not."""
    n = len(side)
    # The widest tenth are headings over several columns, or tables.
    left = sorted(one.x0 for one in side)[n // 10]
    right = sorted(one.x1 for one in side)[n - 1 - n // 10]
    filled = sum(one.ink for one in side) >= PROSE_INK * (right - left) * n
    return filled and median(one.characters for one in side) >= PROSE_CHARACTERS


def _aligned(one: list[_Words], other: list[_Words]) -> float:
    """Return the share of the lines of the side with fewer that have a partner on the other."""
    few, many = sorted((one, other), key=len)
    tolerance = SAME_LINE * min(max(words.size for words in side) for side in (few, many))
    bases = sorted(words.base for words in many)
    partners = at = 0
    for base in sorted(words.base for words in few):
        while at < len(bases) and bases[at] < base - tolerance:
            at += 1
        partners += at < len(bases) and bases[at] <= base + tolerance
    return partners / len(few)


def _without_band(runs: list[Run], strip: _Gutter) -> _Gutter:
    """Return a gutter without the head that a band of white across the page parts from it."""
    inside = sorted((run for run in runs if strip.y0 <= run.base <= strip.y1), key=lambda run: run.base)
    band = BAND * median(run.size for run in inside)
    bottom = inside[0].base
    y0 = strip.y0
    for run in inside[: 1 + int(HEAD * len(inside))]:
        if run.base - run.size - bottom > band:
            y0 = run.base - 0.06
        bottom = run.base
    return _Gutter(strip.x0, strip.x1, y0, strip.y1)
