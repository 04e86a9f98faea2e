"""The runs of a page -> its columns in reading order.

What stands above and below a gutter is read before and after its two sides, and each of the four parts may
hold gutters of its own.
"""

from collections.abc import Iterable, Iterator

import msgspec

from ragstone.corpus.pdf.gutters import Gutter, Piece, find_gutter, pieces_of
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
    columns = list(_columns(pieces_of(runs), rtl=rtl))
    return [one for one in columns if not one.margin] + [one for one in columns if one.margin]


def _columns(pieces: list[Piece], *, rtl: bool) -> Iterator[Column]:
    found = find_gutter(pieces)
    if found is None:
        if pieces:
            yield Column([piece.run for piece in pieces])
        return
    above, left, right, below = _parts(pieces, found)
    yield from _columns(above, rtl=rtl)
    sides = [right, left] if rtl else [left, right]
    margin = _margin_of(*([piece.run for piece in side] for side in sides))
    for number, side in enumerate(sides):
        for column in _columns(side, rtl=rtl):
            yield Column(column.runs, margin=column.margin or number == margin)
    yield from _columns(below, rtl=rtl)


def _parts(pieces: list[Piece], gutter: Gutter) -> tuple[list[Piece], ...]:
    """Return what stands above a gutter, on its left, on its right and below it, each in the same order."""
    above: list[Piece] = []
    left: list[Piece] = []
    right: list[Piece] = []
    below: list[Piece] = []
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
    counts: dict[float, int] = {}
    for run in runs:
        counts[run.size] = counts.get(run.size, 0) + run.end - run.start
    sizes: dict[float, int] = {}
    for size, count in counts.items():
        rounded = round(size, 1)
        sizes[rounded] = sizes.get(rounded, 0) + count
    return max(sizes, key=sizes.__getitem__, default=0.0)
