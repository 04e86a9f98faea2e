"""Page furniture: the running headers, footers and page numbers that no page's text consists of.

It is told by repetition: the same words at the same place of several pages, near an edge. A number in them
must be the same on all, or count the pages, so that the rows of a table that goes over many pages are none.

What else is no body text stands around a paper's first page: publication notes in the margin, authors and
addresses. Both are told by marks that other text lacks; where the marks are missing the text stays.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from ragstone.kernel.corpus.readers.pdf._headings import TITLE_SIZE, is_heading
from ragstone.kernel.corpus.readers.pdf._paragraphs import SAME_SIZE, PdfBlock
from ragstone.kernel.corpus.readers.pdf._rows import clean, lines_of
from ragstone.kernel.corpus.readers.pdf._runs import PageRuns, TextRun

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


class _EdgeLine(msgspec.Struct, frozen=True, gc=False):
    """A line near an edge, or one that stands on its side."""

    page: int
    place: float
    size: float
    text: str
    numbers: tuple[str, ...]
    runs: list[TextRun]


def remove_furniture(pages: list[PageRuns], size: float) -> tuple[list[PageRuns], list[Furniture]]:
    """Return the pages without their furniture, and what it was.

    size: that of the document's text in points. A single page loses no more than a bare page number.
    """
    taken = _repeated(pages, size) if len(pages) > 1 else list(_page_number(pages))
    gone = {(line.page, run.start) for lines in taken for line in lines for run in line.runs}
    if not gone:
        return pages, []
    left = [
        msgspec.structs.replace(
            page,
            runs=[run for run in page.runs if (number, run.start) not in gone],
            turned=[run for run in page.turned if (number, run.start) not in gone],
        )
        for number, page in enumerate(pages)
    ]
    return left, [Furniture(lines[0].text, len({line.page for line in lines})) for lines in taken]


def _repeated(pages: list[PageRuns], size: float) -> list[list[_EdgeLine]]:
    alike: dict[str, list[_EdgeLine]] = defaultdict(list)
    for number, page in enumerate(pages):
        for line in _edge_lines(page, number):
            pattern = "#" if _ROMAN.fullmatch(line.text) else _NUMBER.sub("#", line.text)
            alike[pattern].append(line)
    groups = [
        group
        for lines in alike.values()
        if len(lines) > 1
        for group in _at_one_place(lines)
        if _is_furniture(group, len(pages), size)
    ]
    numbers = [line for line in alike["#"] if not any(line in group for group in groups)]
    offsets = {_offset(group) for group in groups}
    return groups + [[line] for line in numbers if int(line.numbers[0][-9:]) - line.page in offsets]


def _offset(lines: list[_EdgeLine]) -> int | None:
    """Return by how much the page numbers in furniture lead the pages' places, None without any."""
    for slot in zip(*(line.numbers for line in lines), strict=True):
        counts = Counter(int(value[-9:]) - line.page for value, line in zip(slot, lines, strict=True))
        offset, most = counts.most_common(1)[0]
        if most >= MOST * len(lines):
            return offset
    return None


def _edge_lines(page: PageRuns, number: int) -> Iterator[_EdgeLine]:
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


def _line(page: PageRuns, number: int, edge: float, runs: list[TextRun]) -> _EdgeLine:
    runs.sort(key=lambda run: run.x0)
    text = clean(" ".join(page.text[run.start : run.end] for run in runs))
    roman = _ROMAN.fullmatch(text)
    numbers = (str(_value(text.lower())),) if roman else tuple(_NUMBER.findall(text))
    return _EdgeLine(number, edge, max(run.size for run in runs), text, numbers, runs)


def _value(roman: str) -> int:
    values = [_ROMAN_DIGITS[letter] for letter in roman]
    return sum(
        -digit if digit < after else digit for digit, after in zip(values, [*values[1:], 0], strict=True)
    )


def _at_one_place(lines: list[_EdgeLine]) -> Iterator[list[_EdgeLine]]:
    """Yield the lines in groups that stand at one place, each in the order of the pages."""
    group: list[_EdgeLine] = []
    for line in sorted(lines, key=lambda line: line.place):
        if group and line.place - group[-1].place > SAME_PLACE:
            yield sorted(group, key=lambda line: line.page)
            group = []
        group.append(line)
    yield sorted(group, key=lambda line: line.page)


def _is_furniture(lines: list[_EdgeLine], n_pages: int, size: float) -> bool:
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


def _page_number(pages: list[PageRuns]) -> Iterator[list[_EdgeLine]]:
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


MARKS = 2  # of different kinds, in the notes on a publication
PROSE = 12  # words; a paragraph in a margin with more is prose, unless it is labelled or has a mark
BODY = 25  # words; a paragraph of as many, mostly small ones, is a page's text

_DATE = (
    r"(?:\d{1,2}\.?\s+(?:de\s+)?[^\W\d]{3,}\.?,?\s+(?:de\s+)?\d{4}"  # 13 October 2023, 3. Mai 2021
    r"|[^\W\d]{3,}\.?\s+\d{1,2},?\s+\d{4}"  # October 13, 2023
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{4}|\d{4}\u5e74)"
)
_PUBLICATION = (
    re.compile(r"\bdoi\b|\b10\.\d{4,9}/\S", re.IGNORECASE),
    re.compile(r"\bIS[SB]N\b"),
    re.compile(rf"[^\W\d][\w ]{{2,24}}(?::|\uff1a)\s*{_DATE}"),  # Published: 26 December 2024
    re.compile(r"\bCC[ -]BY\b|\bCC0\b|creative commons|\u00a9|\bcopyright\b|\bopen access\b", re.IGNORECASE),
    re.compile(r"\b(?:citation|cite (?:this|as)|editor|reviewed by)\s*:", re.IGNORECASE),
)
_LABEL = re.compile(r"[^\W\d][^.:\n]{1,38}(?::|\uff1a)\s")
# A list of names is read from its beginning alone: what ends it is the same for each of them.
_LISTED = r"(?<![\w.+-])(?<![\w.+-],)(?<![\w.+-]\s,)(?<![\w.+-],\s)(?<![\w.+-]\s,\s)"
_ADDRESS = re.compile(rf"(?:\{{|{_LISTED})[\w.+-]++(?:\s?,\s?[\w.+-]++)*+\}}?@[\w.-]+\.\w{{2,}}")
_ORCID = re.compile(r"\b000[09]-\d{4}-\d{4}-\d{3}[\dX]\b")
_WEB = re.compile(r"\b(?:https?://|www\.)\S+")
_WORD = re.compile(r"[^\W\d_]{2,}")
_KEY = r"\d{1,2}|[a-h]|[*\u2020\u2021\u00a7\u00b6]"
_AUTHOR_KEY = re.compile(rf"(?<=[^\W\d_.,;])(?:\s?(?:\d{{1,2}}|[*\u2020\u2021\u00a7\u00b6])|\s[a-h])"
                         rf"(?:\s?,\s?(?:{_KEY}))*(?=\s*(?:[,;&\n]|and\b|$))")  # fmt: skip
_ADDRESS_KEY = re.compile(rf"(?:^|(?<=[\s;,]))({_KEY})\s?(?=[^\W\d_a-z])")
_BEGINNING = re.compile(
    r"(?:(?:\d{1,2}|I)\.?\s+)?(?:abstract|summary|introduction|resumen|introducci\u00f3n|r\u00e9sum\u00e9"
    r"|zusammenfassung|kurzfassung|einleitung|resumo|introdu\u00e7\u00e3o|riassunto|sommario|introduzione"
    r"|\u0430\u043d\u043d\u043e\u0442\u0430\u0446\u0438\u044f|\u00f6zet)\b",
    re.IGNORECASE,
)


def are_publication_notes(blocks: list[PdfBlock]) -> bool:
    """Return whether a column in the margin says only how its page was published.

    The column is smaller and narrower than the one beside it (`read_columns`). It must have marks of two
    kinds: a DOI, an ISSN or ISBN, a date with its label, a licence, an editor or citation. A long paragraph
    that has neither a mark nor a label before a colon is prose, and the whole column stays in the text: notes
    to the text, definitions, pull quotes.
    """
    whole = "\n".join(block.text for block in blocks)
    if sum(bool(mark.search(whole)) for mark in _PUBLICATION) < MARKS:
        return False
    return not any(_is_loose_prose(line) for block in blocks for line in block.text.split("\n"))


def _is_loose_prose(text: str) -> bool:
    if len(_WORD.findall(text)) <= PROSE or _LABEL.match(text):
        return False
    return not any(mark.search(text) for mark in _PUBLICATION)


def front_matter(blocks: list[PdfBlock], size: float) -> range:
    """Return the places of the blocks with authors and addresses on a document's first page; maybe none.

    They follow the title, the largest text, or the one block that may stand below it as a subtitle, and go up
    to the next heading or paragraph of text. Most of their words begin with a capital, so scripts without
    capitals have none. Their marks are either raised signs behind names that return before addresses, or an
    e-mail address or ORCID with an abstract or introduction next; a line that ends like a salutation is a
    letter's. A paragraph of text must follow.

    size: that of the document's text in points.
    """
    if not any(block.raised or _is_addressed(block) for block in blocks):
        return range(0)
    first = _after_title(blocks, size)
    if first < len(blocks) and not _is_of_names(blocks[first], size) and not _is_body(blocks[first]):
        first += 1
    last = first
    while last < len(blocks) and _is_of_names(blocks[last], size):
        last += 1
    run, rest = blocks[first:last], blocks[last:]
    while run and not _begins_names(run[0], run):
        run = run[1:]
    if not run or not rest or run[-1].text[-1] in ",:":
        return range(0)
    keyed = _returning_keys(run)
    addressed = any(_is_addressed(block) for block in run) and _BEGINNING.match(rest[0].text)
    surely = (keyed or addressed) and any(_is_body(block) for block in rest)
    return range(last - len(run), last) if surely else range(0)


def _after_title(blocks: list[PdfBlock], size: float) -> int:
    """Return the place after the title; the number of blocks where there is none."""
    sizes = [block.size if _WORD.search(block.text) and not block.margin else 0.0 for block in blocks]
    largest = max(sizes, default=0.0)
    if largest < TITLE_SIZE * size:
        return len(blocks)
    number = sizes.index(largest)
    while number < len(blocks) and abs(sizes[number] - largest) <= SAME_SIZE * largest:
        number += 1
    return number


def _is_of_names(block: PdfBlock, size: float) -> bool:
    text = block.text
    if block.margin or _BEGINNING.match(text) or (is_heading(block, size) and not block.raised):
        return False
    if "@" in text:
        text = _ADDRESS.sub("", text)
    words: list[str] = _WORD.findall(_WEB.sub("", text))
    return 2 * sum(word[0].isupper() for word in words) >= len(words)


def _is_body(block: PdfBlock) -> bool:
    words: list[str] = [] if block.margin else _WORD.findall(block.text)
    return len(words) >= BODY and 2 * sum(word[0].islower() for word in words) > len(words)


def _is_addressed(block: PdfBlock) -> bool:
    text = block.text
    return bool(("@" in text and _ADDRESS.search(text)) or ("000" in text and _ORCID.search(text)))


def _begins_names(block: PdfBlock, run: list[PdfBlock]) -> bool:
    """Return whether authors begin here: the block has marks, or the next one has, and it is no subtitle."""
    if _is_addressed(block) or (block.raised and _AUTHOR_KEY.search(block.text)):
        return True
    words = _WORD.findall(block.text)
    return len(run) > 1 and _is_addressed(run[1]) and all(word[0].isupper() for word in words)


def _returning_keys(run: list[PdfBlock]) -> bool:
    """Return whether raised signs behind the names return, all of them, before addresses below."""
    if not run[0].raised:
        return False
    text = "\n".join(block.text for block in run)
    places = {match[1]: match.start() for match in reversed(list(_ADDRESS_KEY.finditer(text)))}
    addresses = min(places.values(), default=0)
    named = [key for match in _AUTHOR_KEY.finditer(text, 0, addresses) for key in re.findall(_KEY, match[0])]
    # A sign such as * may lead to a note at the foot of the page.
    return any(key in places for key in named) and all(key in places or not key.isalnum() for key in named)
