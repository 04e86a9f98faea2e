"""The headings and the title of a PDF: by its outline, else by their type."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.corpus.readers.pdf._paragraphs import PdfBlock
from ragstone.kernel.corpus.readers.pdf._rows import clean, lines_of
from ragstone.kernel.corpus.readers.pdf._runs import BOLD, ITALIC, PageRuns, TextRun
from ragstone.kernel.corpus.readers.text import TITLE_LENGTH

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

LARGER = 1.12  # of the size of the text
SMALLER = 0.95  # of that size, for headings that are bold or slanted
CAPITALS = 0.8  # the same for bold capitals
TITLE_SIZE = 1.2  # of the size of the text
TITLE_PITCH = 1.6  # ems between the lines of a title
MAX_LENGTH = 150
MAX_ROWS = 3
MAX_LEVEL = 6
MAX_OUTLINE = 20_000
FOUND = 0.5  # of an outline's entries; one that fits the text less is left aside

_LETTERS = re.compile(r"[^\W\d_]{2}")
_OTHER = re.compile(r"[\W_]+")
# Possessive: a title of nothing but digits would else be tried in each of its 2^n partitions.
_NUMBERING = re.compile(r"^(?:[\divxlcIVXLC]++\.?+)++\s+")
_FILE_NAME = re.compile(
    r"\.(?:docx?|dotx?|exe|pdf|indd|qxd|tex|dvi|pptx?|xlsx?|pmd?|p65|rtf|odt|txt|ps|eps)$", re.IGNORECASE
)
_PROGRAM = re.compile(
    r"^(?:microsoft (?:word|powerpoint|excel)\b.*|untitled.*|slide 1|title|document\d*)$", re.IGNORECASE
)


class PdfHeading(msgspec.Struct, frozen=True):
    """A heading, the offset of its first character in the document's text, and its level from 1."""

    start: int
    level: int
    title: str


class PlacedBlock(msgspec.Struct, frozen=True):
    """A block, its page from 0 and its offset in the document's text."""

    page: int
    start: int
    block: PdfBlock


class OutlineEntry(msgspec.Struct, frozen=True):
    """An entry of an outline: its level from 1, its page from 0."""

    level: int
    title: str
    page: int | None


def read_outline(pdf: "PdfDocument") -> list[OutlineEntry]:
    """Return the bookmarks of a PDF in their order, at most 20,000."""
    entries: list[OutlineEntry] = []
    for mark in pdf.get_toc():
        target = mark.get_dest()
        page = target.get_index() if target else None
        try:
            title = " ".join((mark.get_title() or "").split())
        except UnicodeDecodeError:  # half of a surrogate pair, in a damaged file
            continue
        entries.append(OutlineEntry(mark.level + 1, title, page))
        if len(entries) == MAX_OUTLINE:
            break
    return entries


def find_headings(
    outline: Iterable[OutlineEntry], blocks: list[PlacedBlock], size: float
) -> list[PdfHeading]:
    """Return the headings in the order of the text. size: that of the document's text in points."""
    entries = [entry for entry in outline if _key(entry.title)]
    headings = list(_outlined(entries, blocks))
    if entries and len(headings) >= FOUND * len(entries):
        return sorted(headings, key=lambda heading: heading.start)
    return _by_type(blocks, size)


def _outlined(entries: Iterable[OutlineEntry], blocks: Iterable[PlacedBlock]) -> Iterator[PdfHeading]:
    pages: dict[int, list[PlacedBlock]] = defaultdict(list)
    for placed in blocks:
        pages[placed.page].append(placed)
    taken: set[int] = set()
    for entry in entries:
        wanted = _key(entry.title)
        for placed in pages.get(entry.page if entry.page is not None else -1, ()):
            block = placed.block
            if placed.start in taken or block.tabular or len(block.text) > 2 * MAX_LENGTH:
                continue
            if wanted in (_key(block.text), _key(block.text.split("\n", 1)[0])):
                taken.add(placed.start)
                yield PdfHeading(placed.start, min(entry.level, MAX_LEVEL), entry.title)
                break


def _key(title: str) -> str:
    return _OTHER.sub("", _NUMBERING.sub("", title.strip())).casefold()


def _by_type(blocks: list[PlacedBlock], size: float) -> list[PdfHeading]:
    headings = [placed for placed in blocks[:-1] if is_heading(placed.block, size)]
    kinds = sorted({_kind(placed.block) for placed in headings}, reverse=True)
    levels = {kind: min(level, MAX_LEVEL) for level, kind in enumerate(kinds, 1)}
    return [
        PdfHeading(placed.start, levels[_kind(placed.block)], " ".join(placed.block.text.split()))
        for placed in headings
    ]


def _kind(block: PdfBlock) -> tuple[float, int]:
    return round(block.size), block.style & BOLD


def is_heading(block: PdfBlock, size: float) -> bool:
    """Return whether a block looks like a heading. size: that of the document's text in points."""
    text = block.text
    if block.tabular or block.margin or block.rows > MAX_ROWS or len(text) > MAX_LENGTH or "\n" in text:
        return False
    if text[-1] in ".,;\ufffe-" or not _LETTERS.search(text) or not text[0].isalnum():
        return False
    if block.size >= LARGER * size:
        return True
    slanted = block.style & ITALIC and block.rows == 1 and block.size >= SMALLER * size
    bold = block.style & BOLD and block.size >= (CAPITALS if text.isupper() else SMALLER) * size
    return bool(bold or slanted)


def metadata_title(pdf: "PdfDocument") -> str | None:
    """Return the title that a PDF declares, None for the name of a file or program instead of one."""
    try:
        title = " ".join(pdf.get_metadata_value("Title").split())
    except UnicodeDecodeError:  # half of a surrogate pair, in a damaged file
        return None
    title = re.sub(r"^Microsoft \w+ - ", "", title)
    return None if not title or _FILE_NAME.search(title) or _PROGRAM.match(title) else title


def largest_text(pages: Iterable[PageRuns], size: float) -> str | None:
    """Return the largest text of the first page with text, if it is larger than the document's text."""
    page = next((page for page in pages if page.runs), None)
    if page is None:
        return None
    runs = [run for run in page.runs if _LETTERS.search(page.text, run.start, run.end)]
    largest = max((run.size for run in runs), default=0.0)
    if largest < TITLE_SIZE * size:
        return None
    lines: list[list[TextRun]] = []
    for line in lines_of(run for run in page.runs if abs(run.size - largest) < 0.02 * largest):
        if lines and line[0].base - lines[-1][0].base > TITLE_PITCH * largest:
            break
        lines.append(sorted(line, key=lambda run: run.start if page.rtl else run.x0))
    title = clean(" ".join(page.text[run.start : run.end] for line in lines for run in line))
    return title if len(title) <= TITLE_LENGTH else None
