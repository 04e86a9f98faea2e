"""The runs of a page -> its columns in reading order.

What stands above and below a gutter is read before and after its two sides, and each of the four parts may
hold gutters of its own. A gutter is a strip without ink that has text on both sides over several lines. A
strip between the columns of a table is none: the two halves of each row stand on one line, and no text fills
its column.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter
from statistics import median

import msgspec

from ragstone.kernel.corpus.readers.pdf._runs import TextRun

GUTTER = 0.7  # ems
MIN_LINES = 4  # on each side of a gutter
MIN_WINDOW = 6  # baselines along a gutter
SHRINK = 0.8  # of the lines of a window, those of the next that is tried
PROSE_CHARACTERS = 18  # in half of the lines of a column of text, at least
PROSE_INK = 0.55  # of the width of a column of text, on average
WIDE_GAP = 0.8  # ems; a column ends where a line has a wider one
NEAR = 4.0  # ems from a strip to the lines of the column beside it
SAME_LINE = 0.12  # ems between the baselines of the two halves of a table's row
ALIGNED = 0.5  # of a column's lines; if fewer have a partner, the columns do not belong to one table
BAND = 1.3  # ems of white across the page; they part what stands above columns from the columns
HEAD = 0.15  # of the runs along a gutter may stand above such a band
EDGE = 0.06  # points; baselines are compared by their first decimal


class Gutter(msgspec.Struct, frozen=True):
    """A strip from x0 to x1 that no run from the baseline y0 to the baseline y1 touches."""

    x0: int
    x1: int
    y0: float
    y1: float


class InkPiece(msgspec.Struct, frozen=True, gc=False):
    """A run, its baseline to a tenth of a point, and its ink: a bit for each point that it covers across."""

    run: TextRun
    base: float
    ink: int


class _InkLine(msgspec.Struct, frozen=True, gc=False):
    """The runs on one baseline from left to right, where they start, and their ink.

    words: what `_words` found before, for most strips of a table end at the same runs.
    """

    base: float
    ink: int
    runs: list[TextRun]
    starts: list[float]
    words: "dict[tuple[int, int], _LineWords]"


class _Strip(msgspec.Struct, frozen=True):
    """A strip from x0 to x1, whose bits are set in `bits`, between the lines of two places, both included."""

    x0: int
    x1: int
    bits: int
    first: int
    last: int


def pieces_of(runs: list[TextRun]) -> list[InkPiece]:
    """Return the runs of a page as `find_gutter` wants them: downwards, and on a line rightwards."""
    pieces = []
    for run in runs:
        x0, x1 = max(int(run.x0), 0), max(int(run.x1) + 1, 0)
        pieces.append(InkPiece(run, round(run.base, 1), (1 << x1) - (1 << x0) if x1 > x0 else 0))
    pieces.sort(key=_place_of)
    return pieces


_place_of = attrgetter("base", "run.x0")


def find_gutter(pieces: list[InkPiece]) -> Gutter | None:
    """Return the tallest gutter in a page or a part of it, None where there is none.

    pieces: in the order of `pieces_of`.
    """
    if len(pieces) < 2 * MIN_LINES:
        return None
    width = max(round(GUTTER * median([piece.run.size for piece in pieces])), 3)
    if not any(_has_strip(ink, width) for _, ink in _windows({0: _inks(pieces)}, MIN_WINDOW)):
        return None
    lines = _lines(pieces)
    strip = next((candidate for candidate in _candidates(lines, width) if _is_gutter(lines, candidate)), None)
    if strip is None:
        return None
    y0, y1 = lines[strip.first].base - EDGE, lines[strip.last].base + EDGE
    return _without_head(pieces, Gutter(strip.x0, strip.x1, y0, y1))


def _inks(pieces: list[InkPiece]) -> list[int]:
    """Return the ink of each line, which shows for most parts of a page that there is no gutter."""
    inks: list[int] = []
    last = None
    for piece in pieces:
        if piece.base == last:
            inks[-1] |= piece.ink
        else:
            inks.append(piece.ink)
            last = piece.base
    return inks


def _lines(pieces: list[InkPiece]) -> list[_InkLine]:
    lines = []
    base, ink = pieces[0].base, 0
    runs: list[TextRun] = []
    for piece in pieces:
        if piece.base != base:
            lines.append(_InkLine(base, ink, runs, [run.x0 for run in runs], {}))
            base, ink, runs = piece.base, 0, []
        runs.append(piece.run)
        ink |= piece.ink
    lines.append(_InkLine(base, ink, runs, [run.x0 for run in runs], {}))
    return lines


def _candidates(lines: list[_InkLine], width: int) -> Iterator[_Strip]:
    """Yield strips at least as wide as `width`, those through many lines first, each as tall as it goes."""
    inks = [line.ink for line in lines]
    tables, height = {0: inks}, len(lines)
    pattern = re.compile(f"0{{{width},}}")
    seen: list[_Strip] = []
    while height >= MIN_WINDOW:
        for first, ink in _windows(tables, height):
            last = first + height - 1
            for strip in seen:  # a part of a strip is as little a gutter as the whole
                if strip.first <= first and last <= strip.last:
                    ink |= strip.bits
            if _has_strip(ink, width):
                for x0, x1 in _strips(ink, pattern):
                    seen.append(_extended(inks, x0, x1, first, last))
                    yield seen[-1]
        height = min(height - 1, int(height * SHRINK))


def _windows(tables: dict[int, list[int]], height: int) -> Iterator[tuple[int, int]]:
    """Yield the first line and the ink of every window of `height` lines.

    tables: level -> the ink of the windows of 2**level lines; filled as needed.
    """
    level = height.bit_length() - 1
    for lower in range(level):
        if lower + 1 not in tables:
            below, step = tables[lower], 1 << lower
            tables[lower + 1] = [bits | other for bits, other in zip(below, below[step:], strict=False)]
    inks, second = tables[level], height - (1 << level)
    stride = max(height // 8, 1)
    for first in range(0, len(tables[0]) - height + 1, stride):
        yield first, inks[first] | inks[first + second]


def _has_strip(ink: int, width: int) -> bool:
    """Return whether ink has ink on both sides of a strip as wide as `width`."""
    free = ~ink & ((1 << ink.bit_length()) - 1) & -(ink & -ink)
    step = 1
    while free and width > 1:  # a bit stays set where all of the next `width` are
        step = min(step, width - 1)
        free &= free >> step
        width -= step
        step *= 2
    return free != 0


def _strips(ink: int, strip: re.Pattern[str]) -> list[tuple[int, int]]:
    """Return start and end of the strips without ink that have ink on both sides, the middle ones first."""
    bits = bin(ink)[:1:-1]
    start = bits.index("1")
    middle = (start + len(bits)) / 2
    spans = [match.span() for match in strip.finditer(bits, start)]
    return sorted(spans, key=lambda span: abs((span[0] + span[1]) / 2 - middle))


def _extended(inks: list[int], x0: int, x1: int, first: int, last: int) -> _Strip:
    """Return the strip from x0 to x1 with all lines around the first and the last that leave it free."""
    bits = ((1 << (x1 - x0)) - 1) << x0
    while first > 0 and not inks[first - 1] & bits:
        first -= 1
    while last + 1 < len(inks) and not inks[last + 1] & bits:
        last += 1
    return _Strip(x0, x1, bits, first, last)


def _is_gutter(lines: list[_InkLine], strip: _Strip) -> bool:
    along = lines[strip.first : strip.last + 1]
    left, right = _halves(along, strip)
    if min(len(left), len(right)) < MIN_LINES:
        return False
    sides = (_beside(left, strip), _beside(right, strip))
    if min(map(len, sides)) < MIN_LINES:
        return False
    return _aligned(*sides) < ALIGNED or all(map(_is_prose, sides))


def _halves(lines: list[_InkLine], strip: _Strip) -> "tuple[list[_LineWords], list[_LineWords]]":
    left, right = [], []
    for line in lines:
        number = bisect_left(line.starts, strip.x0 + 1)
        if number:
            left.append(_words(line, number - 1, -1))
        if number < len(line.runs):
            right.append(_words(line, number, 1))
    return left, right


class _LineWords(msgspec.Struct, frozen=True, gc=False):
    """What stands on one line next to a strip, up to the first wide gap."""

    base: float
    x0: float
    x1: float
    ink: float
    characters: int
    size: float


def _words(line: _InkLine, number: int, step: int) -> _LineWords:
    """number: of the run next to a strip; step: 1 on the strip's right, -1 on its left."""
    key = number, step
    if key in line.words:
        return line.words[key]
    runs = line.runs
    first = runs[number]
    x0, x1, ink, characters = first.x0, first.x1, first.x1 - first.x0, first.end - first.start
    gap = WIDE_GAP * first.size
    number += step
    while 0 <= number < len(runs):
        run = runs[number]
        left, right = run.x0, run.x1
        if left - x1 > gap or x0 - right > gap:
            break
        if left < x0:
            x0 = left
        if right > x1:
            x1 = right
        ink += right - left
        characters += run.end - run.start
        number += step
    line.words[key] = _LineWords(line.base, x0, x1, ink, characters, first.size)
    return line.words[key]


def _beside(side: list[_LineWords], strip: _Strip) -> list[_LineWords]:
    """Return the lines of the column next to a strip, without those of columns beyond."""
    near = [
        words_of
        for words_of in side
        if strip.x0 - words_of.x1 < NEAR * words_of.size and words_of.x0 - strip.x1 < NEAR * words_of.size
    ]
    if not near:
        return []
    left, right = median([words_of.x0 for words_of in near]), median([words_of.x1 for words_of in near])
    return [words_of for words_of in side if words_of.x0 < right and words_of.x1 > left]


def _is_prose(side: list[_LineWords]) -> bool:
    """Return whether most lines are filled with text, as the cells of a table's column are not."""
    n = len(side)
    # The widest tenth are headings over several columns, or tables.
    left = sorted(line.x0 for line in side)[n // 10]
    right = sorted(line.x1 for line in side)[n - 1 - n // 10]
    filled = sum(line.ink for line in side) >= PROSE_INK * (right - left) * n
    return filled and median(line.characters for line in side) >= PROSE_CHARACTERS


def _aligned(left: list[_LineWords], other: list[_LineWords]) -> float:
    """Return the share of the lines of the side with fewer that have a partner on the other."""
    few, many = sorted((left, other), key=len)
    tolerance = SAME_LINE * min(max(piece.size for piece in side) for side in (few, many))
    bases = sorted(piece.base for piece in many)
    partners = at = 0
    for base in sorted(piece.base for piece in few):
        while at < len(bases) and bases[at] < base - tolerance:
            at += 1
        partners += at < len(bases) and bases[at] <= base + tolerance
    return partners / len(few)


def _without_head(pieces: list[InkPiece], strip: Gutter) -> Gutter:
    """Return a gutter without the head that a band of white across the page parts from it."""
    inside = [piece.run for piece in pieces if strip.y0 <= piece.base <= strip.y1]
    band = BAND * median([run.size for run in inside])
    bottom = inside[0].base
    y0 = strip.y0
    for run in inside[: 1 + int(HEAD * len(inside))]:
        if run.base - run.size - bottom > band:
            y0 = run.base - EDGE
        bottom = run.base
    return Gutter(strip.x0, strip.x1, y0, strip.y1)


MARGIN_TEXT = 0.4  # of the other side's characters; a column with fewer stands in the margin
MARGIN_WIDTH = 0.6  # of the other side's width, at most
MARGIN_SIZE = 0.97  # of its size, at most


class PdfColumn(msgspec.Struct, frozen=True):
    """Runs that are read from top to bottom; `margin` is text beside the text."""

    runs: list[TextRun]
    margin: bool = False


def read_columns(runs: list[TextRun], *, rtl: bool) -> list[PdfColumn]:
    """Return the columns of a page in reading order, those in its margin last."""
    columns = list(_columns(pieces_of(runs), rtl=rtl))
    return [column for column in columns if not column.margin] + [
        column for column in columns if column.margin
    ]


def _columns(pieces: list[InkPiece], *, rtl: bool) -> Iterator[PdfColumn]:
    gutter = find_gutter(pieces)
    if gutter is None:
        if pieces:
            yield PdfColumn([piece.run for piece in pieces])
        return
    above, left, right, below = _parts(pieces, gutter)
    yield from _columns(above, rtl=rtl)
    sides = [right, left] if rtl else [left, right]
    margin = _margin_of(*([piece.run for piece in side] for side in sides))
    for number, side in enumerate(sides):
        for column in _columns(side, rtl=rtl):
            yield PdfColumn(column.runs, margin=column.margin or number == margin)
    yield from _columns(below, rtl=rtl)


def _parts(pieces: list[InkPiece], gutter: Gutter) -> tuple[list[InkPiece], ...]:
    """Return what stands above a gutter, on its left, on its right and below it, each in the same order."""
    above: list[InkPiece] = []
    left: list[InkPiece] = []
    right: list[InkPiece] = []
    below: list[InkPiece] = []
    for piece in pieces:
        if piece.base < gutter.y0:
            above.append(piece)
        elif piece.base > gutter.y1:
            below.append(piece)
        elif piece.run.x0 < gutter.x0 + 1:
            left.append(piece)
        else:
            right.append(piece)
    return above, left, right, below


def _margin_of(first: list[TextRun], second: list[TextRun]) -> int | None:
    """Return which of two sides is margin text, 0 or 1: smaller and much less; None where neither is."""
    counts = [sum(run.end - run.start for run in side) for side in (first, second)]
    sizes = [main_size(side) for side in (first, second)]
    widths = [max(run.x1 for run in side) - min(run.x0 for run in side) for side in (first, second)]
    fewer = 0 if counts[0] < counts[1] else 1
    other = 1 - fewer
    small = counts[fewer] < MARGIN_TEXT * counts[other] and widths[fewer] < MARGIN_WIDTH * widths[other]
    return fewer if small and sizes[fewer] < MARGIN_SIZE * sizes[other] else None


def main_size(runs: Iterable[TextRun]) -> float:
    """Return the size of most characters in points; 0 without any."""
    counts: dict[float, int] = {}
    for run in runs:
        counts[run.size] = counts.get(run.size, 0) + run.end - run.start
    sizes: dict[float, int] = {}
    for size, count in counts.items():
        rounded = round(size, 1)
        sizes[rounded] = sizes.get(rounded, 0) + count
    return max(sizes, key=sizes.__getitem__, default=0.0)
