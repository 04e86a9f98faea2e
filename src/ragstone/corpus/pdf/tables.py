"""Rows -> rows of tables: which gaps part cells, and which lines a cell goes over."""

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from ragstone.corpus.pdf.rows import Cell, Row, row_of

STRIP = 0.4  # ems of white that three rows must share for their gaps to part cells
PAIR_GAP = 2.0  # ems; two such gaps one above the other suffice
SURE_GAP = 3.0  # ems; such a gap parts cells by itself
MOST_GAPS = 0.7  # of a row's gaps must part cells
WRAP = 1.5  # ems between the baselines of a cell's lines
FAR = 3.0  # ems between the baselines of two rows of one table, at most
SAME_EDGE = 0.3  # ems
MIN_NUMBERED = 8  # lines that are counted at the margin

_INTEGER = re.compile(r"\d{1,3}")

Gap = tuple[float, float]


def mark_tables(rows: list[Row]) -> list[Row]:
    """Return the rows, those of tables marked, and lines that continue a cell joined to it.

    A gap parts cells where it lies in one strip with those of the rows around, or is very wide. Other gaps
    are spaces: between justified words, around a picture.
    """
    several = [number for number, row in enumerate(rows) if len(row.cells) > 1]
    if not several:
        return rows
    gaps = [_gaps(rows[number]) for number in several]
    found = list(rows)
    for place, number in enumerate(several):
        near = [
            gaps[other] if 0 <= other < len(several) and abs(several[other] - number) <= 3 else []
            for other in range(place - 2, place + 3)
        ]
        size = rows[number].size
        parting = [gap for gap in gaps[place] if _parts_cells(gap, near, size)]
        if len(parting) >= MOST_GAPS * len(gaps[place]):
            found[number] = msgspec.structs.replace(rows[number], tabular=True)
    return list(_with_wrapped_cells(_with_neighbours(found)))


def _with_neighbours(rows: list[Row]) -> list[Row]:
    """Return the rows, with those marked too that share half of their gaps with a table's row beside them."""
    found = list(rows)
    for step in (1, -1):
        places = range(1, len(found)) if step == 1 else range(len(found) - 2, -1, -1)
        for place in places:
            row, beside = found[place], found[place - step]
            if row.tabular or len(row.cells) < 2 or not beside.tabular:
                continue
            gaps, others = _gaps(row), _gaps(beside)
            shared = [
                gap for gap in gaps if any(_overlap(gap, other) >= STRIP * row.size for other in others)
            ]
            near = abs(row.base - beside.base) < FAR * row.size
            if near and len(shared) >= 0.5 * len(gaps):
                found[place] = msgspec.structs.replace(row, tabular=True)
    return found


def _overlap(gap: Gap, other: Gap) -> float:
    return min(gap[1], other[1]) - max(gap[0], other[0])


def _gaps(row: Row) -> list[Gap]:
    cells = sorted(row.cells, key=lambda cell: cell.x0)
    return [(one.x1, after.x0) for one, after in pairwise(cells)]


def _parts_cells(gap: Gap, near: list[list[Gap]], size: float) -> bool:
    """near: the gaps of the two rows above, the row itself and the two rows below."""
    if gap[1] - gap[0] >= SURE_GAP * size:
        return True
    before2, before, _, after, after2 = near
    for one, other in ((before, after), (before, before2), (after, after2)):
        for first in one:
            shared = (max(gap[0], first[0]), min(gap[1], first[1]))
            if shared[1] - shared[0] < STRIP * size:
                continue
            if min(gap[1] - gap[0], first[1] - first[0]) >= PAIR_GAP * size:
                return True
            if any(min(shared[1], last[1]) - max(shared[0], last[0]) >= STRIP * size for last in other):
                return True
    return False


def _with_wrapped_cells(rows: list[Row]) -> Iterator[Row]:
    """Yield the rows; a line that stands under a cell of a table, but the first, is a part of that cell."""
    held: Row | None = None
    base = 0.0
    for row in rows:
        under = _cell_above(held, row) if held and row.base - base < WRAP * row.size else None
        if held and under is not None:
            cells = list(held.cells)
            cell = cells[under]
            cells[under] = Cell(cell.x0, max(cell.x1, row.x1), f"{cell.text} {row.text}")
            held = msgspec.structs.replace(row_of(cells, held), tabular=True)
        else:
            if held:
                yield held
            held = row
        base = row.base
    if held:
        yield held


def _cell_above(above: Row, row: Row) -> int | None:
    if not above.tabular or len(row.cells) > 1 or abs(above.size - row.size) > 0.05 * row.size:
        return None
    edge = SAME_EDGE * row.size
    if row.rtl:
        return next((n for n, cell in enumerate(above.cells) if n and abs(cell.x1 - row.x1) < edge), None)
    return next((n for n, cell in enumerate(above.cells) if n and abs(cell.x0 - row.x0) < edge), None)


def drop_line_numbers(rows: list[Row]) -> tuple[list[Row], int]:
    """Return the rows of a column without the numbers that count its lines, and how many they were.

    Told from a table's first column: lines without text are numbered too, or no other line holds cells.
    """
    chain = _longest_count(rows)
    if len(chain) < MIN_NUMBERED:
        return rows, 0
    empty = sum(len(rows[number].cells) == 1 for number in chain)
    tables = sum(len(rows[number].cells) > 2 for number in chain)
    if not empty and (len(chain) < 2 * MIN_NUMBERED or tables > 0.1 * len(chain)):
        return rows, 0
    counted = set(chain)
    kept = []
    for number, row in enumerate(rows):
        if number not in counted:
            kept.append(row)
        elif len(row.cells) > 1:
            kept.append(row_of(row.cells[1:], row))
    return kept, len(chain)


def _longest_count(rows: list[Row]) -> list[int]:
    """Return the places of the longest series of rows that begin with n, n + 1, n + 2..."""
    longest: list[int] = []
    chain: list[int] = []
    for number, row in enumerate(rows):
        first = row.cells[0]
        if _INTEGER.fullmatch(first.text):
            last = rows[chain[-1]].cells[0] if chain else None
            follows = last and int(last.text) + 1 == int(first.text) and abs(last.x1 - first.x1) < row.size
            chain = [*chain, number] if follows else [number]
            longest = max(longest, chain, key=len)
    return longest
