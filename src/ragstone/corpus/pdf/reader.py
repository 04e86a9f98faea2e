"""A PDF -> a document: its text in reading order, page after page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import msgspec

from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.pdf.aside import front_matter
from ragstone.corpus.pdf.columns import main_size
from ragstone.corpus.pdf.furniture import Furniture, remove_furniture
from ragstone.corpus.pdf.headings import Entry, find_headings, largest_text, metadata_title, read_outline
from ragstone.corpus.pdf.joining import Words
from ragstone.corpus.pdf.pages import Laid, lay_out
from ragstone.corpus.pdf.paragraphs import joined
from ragstone.corpus.pdf.runs import EMPTY, Page, read_page
from ragstone.corpus.pdf.text import Text, write_text
from ragstone.corpus.prose import first_line
from ragstone.errors import MissingExtra
from ragstone.records import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument


class _Contents(msgspec.Struct, frozen=True):
    """What is read from the file before it is closed; damaged: places of pages that cannot be loaded."""

    pages: list[Page]
    damaged: list[int]
    outline: list[Entry]
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
    words = Words(page.text for page in contents.pages)
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
        source=str(file.path),
        metadata=_notes(contents, text, laid, front, furniture, size),
    )


def _without_front(laid: list[Laid], size: float) -> tuple[list[Laid], str]:
    """Return the pages without the authors and addresses on the first one with text, and these."""
    number = next((n for n, page in enumerate(laid) if page.blocks), None)
    if number is None:
        return laid, ""
    blocks = laid[number].blocks
    taken = front_matter(blocks, size)
    left = [block for place, block in enumerate(blocks) if place not in taken]
    page = msgspec.structs.replace(laid[number], blocks=left)
    return [*laid[:number], page, *laid[number + 1 :]], joined(blocks[taken.start : taken.stop])


def _read(file: File) -> _Contents:
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra(f"reading {file.path}", "pdf") from None
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


def _read_pages(pdf: "PdfDocument") -> tuple[list[Page], list[int]]:
    from pypdfium2 import PdfiumError

    pages: list[Page] = []
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
    contents: _Contents, text: Text, laid: list[Laid], front: str, furniture: list[Furniture], size: float
) -> dict[str, object]:
    headings = find_headings(contents.outline, text.blocks, size)
    blank = [n for n, page in enumerate(laid, 1) if not page.blocks and not page.margin_notes]
    notes = {
        "headings": [{"start": one.start, "level": one.level, "title": one.title} for one in headings],
        "page_furniture": [{"text": one.text, "n_pages": one.n_pages} for one in furniture],
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
    return f"it is no PDF or a damaged one ({mistake.rstrip('.')})"
