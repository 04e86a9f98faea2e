"""A PDF -> a document: the blocks of each page in reading order, and all pages as one text.

A paragraph that goes over columns or pages is in one piece.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.corpus.readers.pdf._columns import main_size, read_columns
from ragstone.kernel.corpus.readers.pdf._furniture import (
    Furniture,
    are_publication_notes,
    front_matter,
    remove_furniture,
)
from ragstone.kernel.corpus.readers.pdf._headings import (
    OutlineEntry,
    PlacedBlock,
    find_headings,
    largest_text,
    metadata_title,
    read_outline,
)
from ragstone.kernel.corpus.readers.pdf._paragraphs import (
    BETWEEN_BLOCKS,
    SAME_SIZE,
    DocumentWords,
    PdfBlock,
    ends_open,
    join,
    joined,
    make_blocks,
)
from ragstone.kernel.corpus.readers.pdf._rows import clean, drop_line_numbers, make_rows, mark_tables
from ragstone.kernel.corpus.readers.pdf._runs import EMPTY, PageRuns, read_page
from ragstone.kernel.corpus.readers.text import first_line
from ragstone.kernel.errors import optional_package
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.records import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument


class Laid(msgspec.Struct, frozen=True):
    """The blocks of a page; left out of them: notes on the publication, and how many line numbers."""

    blocks: list[PdfBlock]
    margin_notes: list[str]
    n_line_numbers: int


def lay_out(page: PageRuns, words: DocumentWords) -> Laid:
    """Return the blocks of a page: columns, then margins, then what stands on its side."""
    blocks: list[PdfBlock] = []
    ends: dict[float, int] = {}  # size -> the last block of that size in the columns before
    notes: list[str] = []
    n_line_numbers = 0
    for column in read_columns(page.runs, rtl=page.rtl):
        rows, n = drop_line_numbers(make_rows(page, column.runs))
        n_line_numbers += n
        made = make_blocks(mark_tables(rows), words, margin=column.margin)
        if column.margin and are_publication_notes(made):
            notes.append(joined(made))
        else:
            _add_column(blocks, ends, made, words)
    turned = [clean(page.text[run.start : run.end]) for run in page.turned]
    if any(turned):
        text = "\n".join(line for line in turned if line)
        blocks.append(PdfBlock(text, 0.0, frozenset(), 0, len(turned), True, False, False, True, True))
    return Laid(blocks, notes, n_line_numbers)


def _add_column(
    blocks: list[PdfBlock], ends: dict[float, int], column: list[PdfBlock], words: DocumentWords
) -> None:
    """Add the blocks of a column, the first of each size to the paragraph of that size that it continues.

    What stood in between, a caption or a note, comes after the paragraph.
    """
    begun: set[float] = set()
    last: dict[float, int] = {}
    for block in column:
        size = round(block.size, 1)
        first = size not in begun
        begun.add(size)
        if first and size in ends and goes_on(blocks[ends[size]], block):
            last[size] = ends[size]
            blocks[ends[size]] = merged(blocks[ends[size]], block, words)
        else:
            last[size] = len(blocks)
            blocks.append(block)
    ends.update(last)


def goes_on(before: PdfBlock, after: PdfBlock) -> bool:
    """Return whether a block is the rest of the paragraph that another one of its size begins."""
    if not before.open or after.tabular or before.margin != after.margin:
        return False
    first = after.text[0]
    if first.islower() or ends_open(before.text):
        return True
    return (
        before.full
        and not after.fresh
        and before.style == after.style == 0
        and before.rows > 1
        and after.rows > 1
    )


def merged(before: PdfBlock, after: PdfBlock, words: DocumentWords) -> PdfBlock:
    """Return a paragraph and its rest as one block."""
    return msgspec.structs.replace(
        before,
        text=join(before.text, after.text, words),
        rows=before.rows + after.rows,
        open=after.open,
        full=after.full,
        style=before.style & after.style,
    )


def is_text(block: PdfBlock, size: float) -> bool:
    """Return whether a block is set as the text of a document; captions, notes and titles are not."""
    return not block.margin and not block.tabular and abs(block.size - size) <= SAME_SIZE * size


class DocumentText(msgspec.Struct, frozen=True):
    """A document's text; page_starts: the offset of each page's first character; blocks: in its order."""

    text: str
    page_starts: list[int]
    blocks: list[PlacedBlock]


def write_text(pages: list[list[PdfBlock]], words: DocumentWords, size: float) -> DocumentText:
    """Return the text of the pages, a paragraph that goes over a page's end in one piece.

    A page without blocks has an empty text between two blank lines. size: that of the document's text.
    """
    pages = [list(blocks) for blocks in pages]
    goes_over: list[bool] = []
    for before, after in pairwise(pages):
        held = bool(goes_over) and goes_over[-1]
        goes_over.append(_brought_together(before, after, size, held=held))
    pieces: list[str] = []
    starts: list[int] = []
    placed: list[PlacedBlock] = []
    length = 0
    for number, blocks in enumerate(pages):
        rest = blocks
        if number and goes_over[number - 1]:
            begun = pieces.pop()
            whole = join(begun, blocks[0].text, words)
            pieces.append(whole)
            length += len(whole) - len(begun)
            starts.append(length - len(blocks[0].text))
            rest = blocks[1:]
        elif number:
            pieces.append(BETWEEN_BLOCKS)
            length += len(BETWEEN_BLOCKS)
        if len(starts) == number:
            starts.append(length)
        for at, block in enumerate(rest):
            if at or rest is not blocks:
                pieces.append(BETWEEN_BLOCKS)
                length += len(BETWEEN_BLOCKS)
            placed.append(PlacedBlock(number, length, block))
            pieces.append(block.text)
            length += len(block.text)
    # What is left of hyphens at line ends, once all lines are joined, becomes as long a one.
    whole = "".join(pieces).replace("\ufffe", "-").replace("\u00ad", "-")
    return DocumentText(whole, starts, placed)


def _brought_together(before: list[PdfBlock], after: list[PdfBlock], size: float, *, held: bool) -> bool:
    """Return whether a paragraph goes from one page to the next, with its ends moved to where they meet.

    What stands below its beginning (notes, captions) comes to stand before it, what stands above its rest
    after it. held: the first block is the rest of one on the page before, and has to stay the first.
    """
    last = next((n for n in range(len(before) - 1, -1, -1) if is_text(before[n], size)), None)
    first = next((n for n, block in enumerate(after) if is_text(block, size)), None)
    if last is None or first is None or not goes_on(before[last], after[first]):
        return False
    if held and last == 0 and len(before) > 1:
        return False
    before.append(before.pop(last))
    after.insert(0, after.pop(first))
    return True


class _Contents(msgspec.Struct, frozen=True):
    """What is read from the file before it is closed; damaged: places of pages that cannot be loaded."""

    pages: list[PageRuns]
    damaged: list[int]
    outline: list[OutlineEntry]
    title: str | None


def read_pdf(file: File) -> Iterator[Document]:
    """Yield the one document of a PDF, titled by its metadata, its largest text or its first line.

    The text is in reading order: columns one after the other, notes in the margin after a page's text. A
    paragraph is one line, with a blank line after it, also where it goes over columns and pages; lists keep
    their lines, and the row of a table is a line with " | " between its cells. Running headers, footers and
    page numbers are left out.

    metadata: `page_starts`, the offset of each page's first character in the text; and, where there are any,
    `headings`, each with start, level and title; `page_furniture`, each text that was left out and the number
    of its pages; `front_matter`, the authors and addresses of a paper; `margin_notes`, what a margin says of
    the publication, each with page and text; `line_numbers_removed`, how many; `pages_without_text` and
    `damaged_pages`, their numbers from 1.

    Raises Unreadable for a file that is damaged, encrypted, or without any text; MissingExtra without
    pypdfium2.
    """
    contents = _read(file)
    size = main_size(run for page in contents.pages for run in page.runs)
    words = DocumentWords(page.text for page in contents.pages)
    pages, furniture = remove_furniture(contents.pages, size)
    laid = [lay_out(page, words) for page in pages]
    laid, front = _without_front(laid, size)
    text = write_text([page.blocks for page in laid], words, size)
    if not text.text.strip():
        raise Unreadable("it holds no text, only images: run it through OCR first")
    yield Document(
        id=file.id,
        text=text.text,
        title=contents.title or largest_text(pages, size) or first_line(text.text),
        source=file.source,
        metadata=_notes(contents, text, laid, front, furniture, size),
    )


def _without_front(laid: list[Laid], size: float) -> tuple[list[Laid], str]:
    """Return the pages without the authors and addresses on the first one with text, and these."""
    number = next((n for n, page in enumerate(laid) if page.blocks), None)
    if number is None:
        return laid, ""
    blocks = laid[number].blocks
    taken = front_matter(blocks, size)
    left = [block for at, block in enumerate(blocks) if at not in taken]
    page = msgspec.structs.replace(laid[number], blocks=left)
    return [*laid[:number], page, *laid[number + 1 :]], joined(blocks[taken.start : taken.stop])


def _read(file: File) -> _Contents:
    with optional_package(f"reading {file.path}", "pdf"):
        import pypdfium2
    try:
        # PDFium reads from the path what it needs, so that a large file is never in memory as a whole.
        pdf = pypdfium2.PdfDocument(file.path if file.content is None else file.content)
    except pypdfium2.PdfiumError as mistake:
        raise Unreadable(_reason(str(mistake))) from None
    try:
        pages, damaged = _read_pages(pdf)
        if not pages or len(damaged) == len(pages):
            raise Unreadable("it is damaged: none of its pages can be read")
        return _Contents(pages, damaged, read_outline(pdf), metadata_title(pdf))
    except pypdfium2.PdfiumError as mistake:
        raise Unreadable(_reason(str(mistake))) from None
    finally:
        pdf.close()


def _read_pages(pdf: "PdfDocument") -> tuple[list[PageRuns], list[int]]:
    from pypdfium2 import PdfiumError

    pages: list[PageRuns] = []
    damaged: list[int] = []
    for number in range(len(pdf)):
        try:
            page = pdf[number]
        except PdfiumError:
            damaged.append(number)
            pages.append(EMPTY)
            continue
        try:
            pages.append(read_page(page))
        except PdfiumError:
            damaged.append(number)
            pages.append(EMPTY)
        finally:
            page.close()
    return pages, damaged


def _notes(
    contents: _Contents,
    text: DocumentText,
    laid: list[Laid],
    front: str,
    furniture: list[Furniture],
    size: float,
) -> dict[str, object]:
    headings = find_headings(contents.outline, text.blocks, size)
    blank = [n for n, page in enumerate(laid, 1) if not page.blocks and not page.margin_notes]
    notes = {
        "headings": [{"start": each.start, "level": each.level, "title": each.title} for each in headings],
        "page_furniture": [{"text": each.text, "n_pages": each.n_pages} for each in furniture],
        "front_matter": front,
        "margin_notes": [
            {"page": n, "text": note} for n, page in enumerate(laid, 1) for note in page.margin_notes
        ],
        "line_numbers_removed": sum(page.n_line_numbers for page in laid),
        "pages_without_text": blank,
        "damaged_pages": [n + 1 for n in contents.damaged],
    }
    return {"page_starts": text.page_starts, **{name: note for name, note in notes.items() if note}}


def _reason(mistake: str) -> str:
    if "password" in mistake.lower():
        return "it is encrypted: remove its password first"
    return f"it is not a PDF, or is a damaged one ({mistake.rstrip('.')})"
