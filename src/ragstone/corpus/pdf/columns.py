"""The runs of a page -> its columns in reading order.

What stands above and below a gutter is read before and after its two sides, and each of the four parts may
hold gutters of its own.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from ragstone.corpus.pdf.gutters import find_gutter
from ragstone.corpus.pdf.runs import Run

MARGIN_TEXT = 0.4  # of the other side's characters; a column with fewer stands in the margin
MARGIN_WIDTH = 0.6  # of the other side's width, at most
MARGIN_SIZE = 0.97  # of its size, at most


class Column(msgspec.Struct, frozen=True):
    """Runs that are read from top to bottom; `margin` is text beside the text."""

    runs: list[Run]
    margin: bool = False


def read_columns(runs: list[Run], *, rtl: bool) -> list[Column]:
    """Return the columns of a page in reading order, those in its margin last."""
    columns = list(_columns(runs, rtl=rtl))
    return [one for one in columns if not one.margin] + [one for one in columns if one.margin]


def _columns(runs: list[Run], *, rtl: bool) -> Iterator[Column]:
    found = find_gutter(runs)
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
    small = counts[fewer] < MARGIN_TEXT * counts[other] and widths[fewer] < MARGIN_WIDTH * widths[other]
    return fewer if small and sizes[fewer] < MARGIN_SIZE * sizes[other] else None


def main_size(runs: Iterable[Run]) -> float:
    """Return the size of most characters in points; 0 without any."""
    counts = Counter[float]()
    for run in runs:
        counts[run.size] += run.end - run.start
    sizes = Counter[float]()
    for size, count in counts.items():
        sizes[round(size, 1)] += count
    return max(sizes, key=sizes.__getitem__, default=0.0)
