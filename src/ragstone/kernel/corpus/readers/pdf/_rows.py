"""Runs -> rows: what stands on one line of a column, in cells; which rows are those of a table."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import pairwise
from operator import attrgetter

import msgspec

from ragstone.kernel.corpus.readers.pdf._runs import BOLD, ITALIC, RTL, PageRuns, TextRun

SAME_BASE = 0.25  # ems between the baselines of runs of one size that still stand on one line
RAISED_BASE = 0.55  # the same for a smaller run, a superscript or an index
SMALLER = 0.85
CELL_GAP = 1.0  # ems; what is wider may part two cells, what is narrower is a space between words
RAISED = 0.15  # ems above the baseline; so much lie the signs that lead to notes and addresses
SPACE = 0.15  # ems; what is narrower lies within a word

_FORMS = re.compile("[\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc]+")
_CONTROLS = re.compile("[\x00-\x1f\x7f]+")
_SPACES = re.compile(r"[ \u00a0\u2000-\u200a\u3000]{2,}|\u00a0")
# A vowel sign that PDFium took for a word, because its box overlaps its letter's; the letter is next.
_STRAY_MARK = re.compile(" ([\u064b-\u0652])([\u0621-\u064a])")
_LEADER = re.compile(r"(?:(?<!\s)\s++)?+(?:\.\s?){4,}+\s*+")
_FRACTION = re.compile(r"(\d) ?\u2044 ?(\d)")
_MARKER = re.compile(
    r"(?:[\u2022\u25cf\u25aa\u25a0\u25e6\u2023\u2043\u2219\u00b7\uf0b7\uf0a7o*\u2013\u2014-]"
    r"|\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\[\d{1,3}\])"
)


class PdfCell(msgspec.Struct, frozen=True, gc=False):
    """Text without a wide gap, and where its ink begins and ends."""

    x0: float
    x1: float
    text: str


class PdfRow(msgspec.Struct, frozen=True, gc=False):
    """The cells on one baseline in reading order.

    size and style are those of most of its text, sizes those of all of it but superscripts; raised: it has
    some; x0 and x1 are where it begins and ends; tabular: its cells are those of a table.
    """

    base: float
    size: float
    style: int
    cells: list[PdfCell]
    text: str
    x0: float
    x1: float
    sizes: frozenset[float]
    rtl: bool
    raised: bool = False
    tabular: bool = False


def row_of(cells: list[PdfCell], like: PdfRow) -> PdfRow:
    """Return a row with other cells."""
    x0, x1 = min(cell.x0 for cell in cells), max(cell.x1 for cell in cells)
    text = " ".join(cell.text for cell in cells)
    return msgspec.structs.replace(like, cells=cells, text=text, x0=x0, x1=x1)


def make_rows(page: PageRuns, runs: Iterable[TextRun]) -> list[PdfRow]:
    """Return the rows of a column from top to bottom."""
    return [row for line in lines_of(runs) if (row := _row(page, line)) is not None]


def lines_of(runs: Iterable[TextRun]) -> Iterator[list[TextRun]]:
    """Yield the runs that stand on one line, line after line; those of a line in no order."""
    line: list[TextRun] = []
    base = size = 0.0
    for run in sorted(runs, key=_base_of):
        gap, small, large = run.base - base, run.size, size
        if small > large:
            small, large = large, small
        if gap > SAME_BASE * large and line and (gap > RAISED_BASE * large or small >= SMALLER * large):
            yield line
            line, size = [], 0.0
        line.append(run)
        if run.size > size:  # a superscript comes before its line; the line's baseline is that of its text
            base, size = run.base, run.size
    if line:
        yield line


_base_of = attrgetter("base")


def _row(page: PageRuns, line: list[TextRun]) -> PdfRow | None:
    rtl = page.has_rtl and any(RTL.search(page.text, run.start, run.end) for run in line)
    if len(line) > 1:
        # PDFium has put right-to-left lines in reading order; others are read from left to right.
        line.sort(key=(lambda run: run.start) if rtl else (lambda run: run.x0))
    first = line[0]
    if len(line) == 1:
        size, style, base, sizes = first.size, first.style, first.base, frozenset((first.size,))
        raised = False
    else:
        counts: dict[float, int] = {}
        style = BOLD | ITALIC
        for run in line:
            style &= run.style
            counts[run.size] = counts.get(run.size, 0) + run.end - run.start
        size = max(counts, key=counts.__getitem__)
        base = max(line, key=lambda run: (run.size, run.end - run.start)).base
        sizes = frozenset(run.size for run in line if abs(run.base - base) < SAME_BASE * size)
        raised = len(counts) > 1 and any(
            run.size < SMALLER * size and base - run.base > RAISED * size for run in line
        )
    cells = _cells(page.text, line, size, rtl=rtl)
    if not cells:
        return None
    if len(cells) == 1:
        x0, x1, text = cells[0].x0, cells[0].x1, cells[0].text
    else:
        x0, x1 = min([cell.x0 for cell in cells]), max([cell.x1 for cell in cells])
        text = " ".join([cell.text for cell in cells])
    return PdfRow(base, size, style, cells, text, x0, x1, sizes, rtl, raised)


def _cells(text: str, line: list[TextRun], size: float, *, rtl: bool) -> list[PdfCell]:
    cells: list[PdfCell] = []
    first = line[0]
    x0, x1, content, end = first.x0, first.x1, text[first.start : first.end], first.end
    last = first
    for run in line[1:]:
        gap = max(run.x0 - x1, x0 - run.x1)
        piece = text[run.start : run.end]
        if (gap > CELL_GAP * size or content.endswith("....")) and not _MARKER.fullmatch(content.strip()):
            cells += _cell(x0, x1, content, rtl=rtl)
            x0, x1, content = run.x0, run.x1, piece
        else:
            between = text[end : run.start]
            follows = 0 <= run.start - end < 3 and not between.strip()
            # PDFium sees no space after the raised number of a note.
            spaced = bool(between) if follows and last.size > SMALLER * run.size else gap > SPACE * size
            content = f"{content} {piece}" if spaced or gap > CELL_GAP * size else content + piece
            x0, x1 = min(x0, run.x0), max(x1, run.x1)
        end, last = run.end, run
    cells += _cell(x0, x1, content, rtl=rtl)
    return cells


def _cell(x0: float, x1: float, content: str, *, rtl: bool) -> list[PdfCell]:
    """Return a cell, or those that rows of dots lead to; none for white."""
    if "...." in content or ". . . ." in content:
        return list(_led_to(x0, x1, content))
    content = clean(content)
    if rtl:
        content = _STRAY_MARK.sub(r"\2\1", content)
    return [PdfCell(x0, x1, content)] if content else []


def _led_to(x0: float, x1: float, content: str) -> Iterator[PdfCell]:
    """Yield the cells between rows of dots (as in a list of contents), placed by letters."""
    width, at = (x1 - x0) / len(content), 0
    for dots in [*_LEADER.finditer(content), None]:
        stop = dots.start() if dots else len(content)
        if content[at:stop].strip():
            yield PdfCell(x0 + at * width, x0 + stop * width, clean(content[at:stop]))
        at = dots.end() if dots else stop


def clean(text: str) -> str:
    """Return text without control characters, runs of spaces and presentation forms of letters."""
    if not text.isprintable():  # as most is; U+00A0 and the like are not
        text = _CONTROLS.sub(" ", text).replace("\uf0b7", "\u2022")
    if not text.isascii():
        text = text[:-1].replace("\u00ad", "") + text[-1:]  # soft hyphens; the last may end a line
        text = _FRACTION.sub("\\1\u2044\\2", text)
        text = _FORMS.sub(lambda form: unicodedata.normalize("NFKC", form[0]), text)
    return _SPACES.sub(" ", text).strip() if "  " in text or not text.isascii() else text.strip()


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


def mark_tables(rows: list[PdfRow]) -> list[PdfRow]:
    """Return the rows, those of tables marked, and lines that continue a cell joined to it.

    A gap parts cells where it lies in one strip with those of the rows around, or is very wide. Other gaps
    are spaces: between justified words, around a picture.
    """
    several = [number for number, row in enumerate(rows) if len(row.cells) > 1]
    if not several:
        return rows
    gaps = [_gaps(rows[number]) for number in several]
    marked = list(rows)
    for at, number in enumerate(several):
        near = [
            gaps[other] if 0 <= other < len(several) and abs(several[other] - number) <= 3 else []
            for other in range(at - 2, at + 3)
        ]
        size = rows[number].size
        parting = [gap for gap in gaps[at] if _parts_cells(gap, near, size)]
        if len(parting) >= MOST_GAPS * len(gaps[at]):
            marked[number] = msgspec.structs.replace(rows[number], tabular=True)
    return list(_with_wrapped_cells(_with_neighbours(marked)))


def _with_neighbours(rows: list[PdfRow]) -> list[PdfRow]:
    """Return the rows, with those marked too that share half of their gaps with a table's row beside them."""
    marked = list(rows)
    for step in (1, -1):
        places = range(1, len(marked)) if step == 1 else range(len(marked) - 2, -1, -1)
        for at in places:
            row, beside = marked[at], marked[at - step]
            if row.tabular or len(row.cells) < 2 or not beside.tabular:
                continue
            gaps, others = _gaps(row), _gaps(beside)
            shared = [
                gap
                for gap in gaps
                if any(min(gap[1], other[1]) - max(gap[0], other[0]) >= STRIP * row.size for other in others)
            ]
            near = abs(row.base - beside.base) < FAR * row.size
            if near and len(shared) >= 0.5 * len(gaps):
                marked[at] = msgspec.structs.replace(row, tabular=True)
    return marked


def _gaps(row: PdfRow) -> list[Gap]:
    cells = sorted(row.cells, key=lambda cell: cell.x0)
    return [(cell.x1, after.x0) for cell, after in pairwise(cells)]


def _parts_cells(gap: Gap, near: list[list[Gap]], size: float) -> bool:
    """near: the gaps of the two rows above, the row itself and the two rows below."""
    if gap[1] - gap[0] >= SURE_GAP * size:
        return True
    before2, before, _, after, after2 = near
    for near_gaps, other in ((before, after), (before, before2), (after, after2)):
        for first in near_gaps:
            shared = (max(gap[0], first[0]), min(gap[1], first[1]))
            if shared[1] - shared[0] < STRIP * size:
                continue
            if min(gap[1] - gap[0], first[1] - first[0]) >= PAIR_GAP * size:
                return True
            if any(min(shared[1], last[1]) - max(shared[0], last[0]) >= STRIP * size for last in other):
                return True
    return False


def _with_wrapped_cells(rows: list[PdfRow]) -> Iterator[PdfRow]:
    """Yield the rows; a line that stands under a cell of a table, but the first, is a part of that cell."""
    held: PdfRow | None = None
    base = 0.0
    for row in rows:
        under = _cell_above(held, row) if held and row.base - base < WRAP * row.size else None
        if held and under is not None:
            cells = list(held.cells)
            cell = cells[under]
            cells[under] = PdfCell(cell.x0, max(cell.x1, row.x1), f"{cell.text} {row.text}")
            held = msgspec.structs.replace(row_of(cells, held), tabular=True)
        else:
            if held:
                yield held
            held = row
        base = row.base
    if held:
        yield held


def _cell_above(above: PdfRow, row: PdfRow) -> int | None:
    if not above.tabular or len(row.cells) > 1 or abs(above.size - row.size) > 0.05 * row.size:
        return None
    edge = SAME_EDGE * row.size
    if row.rtl:
        return next((n for n, cell in enumerate(above.cells) if n and abs(cell.x1 - row.x1) < edge), None)
    return next((n for n, cell in enumerate(above.cells) if n and abs(cell.x0 - row.x0) < edge), None)


def drop_line_numbers(rows: list[PdfRow]) -> tuple[list[PdfRow], int]:
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
    left = []
    for number, row in enumerate(rows):
        if number not in counted:
            left.append(row)
        elif len(row.cells) > 1:
            left.append(row_of(row.cells[1:], row))
    return left, len(chain)


def _longest_count(rows: list[PdfRow]) -> list[int]:
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
