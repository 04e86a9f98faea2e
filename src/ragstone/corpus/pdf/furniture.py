"""Page furniture: the running headers, footers and page numbers that no page's text consists of.

It is told by repetition: the same words at the same place of several pages, near an edge. A number in them
must be the same on all, or count the pages, so that the rows of a table that goes over many pages are none.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from ragstone.corpus.pdf.rows import clean, lines_of
from ragstone.corpus.pdf.runs import Page, Run

EDGE = 0.14  # of the page's height, above and below
SAME_PLACE = 3.0  # points
FEW_PAGES = 4  # up to so many, two that agree are enough
MIN_REPEATS = 3
NEAR = 2  # pages; left and right pages may differ
LARGE = 1.3  # of the size of the text; what is larger is a title unless half of the pages have it
MOST = 0.8  # of the pages; a number must be the same on so many, or count them
ALONE = 1.5  # ems of white around the page number of a single page

_NUMBER = re.compile(r"\d+")
_ROMAN = re.compile(r"[ivxlc]{1,8}", re.IGNORECASE)
_BARE = re.compile(
    r"\W*(?:(?:page|seite|p\u00e1gina|pagina|p\.|\u7b2c)\s*)?(?:[a-z]-)?\d{1,4}"
    r"(?:\s*(?:-|/|of|von|de|di|sur)\s*\d{1,5})?\s*\u9875?\W*",
    re.IGNORECASE,
)
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


class Furniture(msgspec.Struct, frozen=True):
    """A text that was removed, as its first page has it, and the number of pages that had it."""

    text: str
    n_pages: int


class _Line(msgspec.Struct, frozen=True, gc=False):
    """A line near an edge, or one that stands on its side."""

    page: int
    place: float
    size: float
    text: str
    numbers: tuple[str, ...]
    runs: list[Run]


def remove_furniture(pages: list[Page], size: float) -> tuple[list[Page], list[Furniture]]:
    """Return the pages without their furniture, and what it was.

    size: that of the document's text in points. A single page loses no more than a bare page number.
    """
    taken = _repeated(pages, size) if len(pages) > 1 else list(_page_number(pages))
    gone = {(line.page, run.start) for lines in taken for line in lines for run in line.runs}
    if not gone:
        return pages, []
    left = [_without(page, number, gone) for number, page in enumerate(pages)]
    return left, [Furniture(lines[0].text, len({line.page for line in lines})) for lines in taken]


def _without(page: Page, number: int, gone: set[tuple[int, int]]) -> Page:
    runs = [run for run in page.runs if (number, run.start) not in gone]
    turned = [run for run in page.turned if (number, run.start) not in gone]
    return msgspec.structs.replace(page, runs=runs, turned=turned)


def _repeated(pages: list[Page], size: float) -> list[list[_Line]]:
    alike: dict[str, list[_Line]] = defaultdict(list)
    for number, page in enumerate(pages):
        for line in _edge_lines(page, number):
            alike[_pattern(line)].append(line)
    found = [
        group
        for lines in alike.values()
        if len(lines) > 1
        for group in _at_one_place(lines)
        if _is_furniture(group, len(pages), size)
    ]
    numbers = [line for line in alike["#"] if not any(line in group for group in found)]
    offsets = {_offset(group) for group in found}
    return found + [[line] for line in numbers if int(line.numbers[0][-9:]) - line.page in offsets]


def _offset(lines: list[_Line]) -> int | None:
    """Return by how much the page numbers in furniture lead the pages' places, None without any."""
    for slot in zip(*(line.numbers for line in lines), strict=True):
        counts = Counter(int(value[-9:]) - line.page for value, line in zip(slot, lines, strict=True))
        offset, most = counts.most_common(1)[0]
        if most >= MOST * len(lines):
            return offset
    return None


def _edge_lines(page: Page, number: int) -> Iterator[_Line]:
    top, bottom = EDGE * page.height, (1 - EDGE) * page.height
    # Of pages with wide margins the outermost lines count as well, if they are bare numbers.
    bases = [run.base for run in page.runs] or [0.0]
    first, last = min(bases), max(bases)
    head = [run for run in page.runs if run.base < max(top, first + 1)]
    foot = [run for run in page.runs if run.base > min(bottom, last - 1)]
    for runs in (*lines_of(head), *lines_of(foot)):
        line = _line(page, number, max(run.base for run in runs), runs)
        if not top <= line.place <= bottom or _BARE.fullmatch(line.text):
            yield line
    for run in page.turned:
        yield _line(page, number, run.x0, [run])


def _line(page: Page, number: int, place: float, runs: list[Run]) -> _Line:
    runs.sort(key=lambda run: run.x0)
    text = clean(" ".join(page.text[run.start : run.end] for run in runs))
    roman = _ROMAN.fullmatch(text)
    numbers = (str(_value(text.lower())),) if roman else tuple(_NUMBER.findall(text))
    return _Line(number, place, max(run.size for run in runs), text, numbers, runs)


def _pattern(line: _Line) -> str:
    return "#" if _ROMAN.fullmatch(line.text) else _NUMBER.sub("#", line.text)


def _value(roman: str) -> int:
    values = [_ROMAN_DIGITS[letter] for letter in roman]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def _at_one_place(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Yield the lines in groups that stand at one place, each in the order of the pages."""
    group: list[_Line] = []
    for line in sorted(lines, key=lambda line: line.place):
        if group and line.place - group[-1].place > SAME_PLACE:
            yield sorted(group, key=lambda line: line.page)
            group = []
        group.append(line)
    yield sorted(group, key=lambda line: line.page)


def _is_furniture(lines: list[_Line], n_pages: int, size: float) -> bool:
    numbers = [line.page for line in lines]
    if len(set(numbers)) < (2 if n_pages <= FEW_PAGES else MIN_REPEATS):
        return False
    if lines[0].size > LARGE * size and 2 * len(set(numbers)) < n_pages:
        return False
    near = any(after - before <= NEAR for before, after in pairwise(numbers))
    slots = list(zip(*(line.numbers for line in lines), strict=True))
    counting = [
        _agree(int(value[-9:]) - page for value, page in zip(slot, numbers, strict=True)) for slot in slots
    ]
    steady = all(counts or _agree(slot) for counts, slot in zip(counting, slots, strict=True))
    return near and steady and (any(counting) or any(letter.isalpha() for letter in lines[0].text))


def _agree(values: Iterable[str | int]) -> bool:
    """Return whether most values are the same, so that one odd page does not keep a footer."""
    (_, most), *others = Counter(values).most_common()
    return most >= MOST * (most + sum(count for _, count in others))


def _page_number(pages: list[Page]) -> Iterator[list[_Line]]:
    """Yield the bare number at the top or the foot of a single page, if white sets it apart."""
    for page in pages:
        lines = list(lines_of(page.runs))
        # The last line and the first, or, if a name stands there, the one within.
        for outer, inner in ((-1, -2), (0, 1), (-2, -3), (1, 2)):
            if len(lines) < 3:
                continue
            line = _line(page, 0, 0.0, lines[outer])
            far = abs(lines[outer][0].base - lines[inner][0].base) > (1 + ALONE) * line.size
            edge = min(lines[outer][0].base, page.height - lines[outer][0].base) < EDGE * page.height
            if far and edge and _BARE.fullmatch(line.text):
                yield [line]
                return
