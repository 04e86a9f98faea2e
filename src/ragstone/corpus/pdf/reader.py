"""A PDF -> a document: its text layer, page after page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.prose import first_line
from ragstone.errors import MissingExtra
from ragstone.records import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

BETWEEN_PAGES = "\n\n"


def read_pdf(file: File) -> Iterator[Document]:
    """Yield the one document of a PDF, titled by its metadata or first line.

    metadata: `page_starts`, the offset of each page's first character in the text; and, where some pages
    have no text, `pages_without_text`, their numbers from 1. Lines are the page's lines; a word that is
    hyphenated over a line end is joined where the PDF marks its hyphen as soft.

    Raises Unreadable for a file that is damaged, encrypted, or without any text; MissingExtra without
    pypdfium2.
    """
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtra(f"reading {file.path}", "pdf") from None
    try:
        pdf = pypdfium2.PdfDocument(file.path.read_bytes())
    except pypdfium2.PdfiumError as mistake:
        raise Unreadable(_reason(str(mistake))) from None
    try:
        title = " ".join(pdf.get_metadata_value("Title").split())
        pages = [_page_text(pdf, number) for number in range(len(pdf))]
    except pypdfium2.PdfiumError as mistake:
        raise Unreadable(_reason(str(mistake))) from None
    finally:
        pdf.close()
    if not any(pages):
        raise Unreadable("it holds no text, only images: run it through OCR first")
    text = BETWEEN_PAGES.join(pages)
    yield Document(
        id=file.id,
        text=text,
        title=title or first_line(text),
        source=str(file.path),
        metadata=_page_notes(pages),
    )


def _page_text(pdf: "PdfDocument", number: int) -> str:
    page = pdf[number]
    layer = page.get_textpage()
    text: str = layer.get_text_range()
    layer.close()
    page.close()
    # PDFium writes U+FFFE for a hyphen that only the line end called for.
    text = text.replace("\ufffe", "").replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _page_notes(pages: list[str]) -> dict[str, list[int]]:
    starts: list[int] = []
    at = 0
    for page in pages:
        starts.append(at)
        at += len(page) + len(BETWEEN_PAGES)
    blank = [number for number, page in enumerate(pages, 1) if not page]
    return {"page_starts": starts, **({"pages_without_text": blank} if blank else {})}


def _reason(mistake: str) -> str:
    if "password" in mistake.lower():
        return "it is encrypted: remove its password first"
    return f"it is no PDF or a damaged one ({mistake.rstrip('.')})"
