"""A PowerPoint file -> a document: its slides as pages, their titles as headings, the speaker's notes."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ragstone.kernel.corpus.readers._outline import PAGE, OutlineBlock, lay_out, outline_notes
from ragstone.kernel.corpus.readers.text import first_line
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.office import REPEATED, OfficeFile, attribute, child, children, local, open_office
from ragstone.kernel.records import Document

FURNITURE = frozenset({"dt", "ftr", "hdr", "sldNum", "sldImg"})  # date, footer, header, number, thumbnail
TITLES = frozenset({"title", "ctrTitle"})
NO_TITLE = "PowerPoint Presentation"  # what PowerPoint writes for a file without one


def read_pptx(file: File) -> Iterator[Document]:
    """Yield the one document of a PowerPoint file, titled by its first slide, its properties or first line.

    metadata: `page_starts`, the offset of each slide in order; `headings`, the slides' titles. A hidden slide
    has its place and no text. A slide's title comes first, then its shapes from the back to the front;
    rows of tables are lines with cells separated by " | "; text in SmartArt follows, and the speaker's notes
    after "Notes:". Dates, footers and slide numbers are left out, and so is text in charts and pictures.

    Raises Unreadable for a damaged, encrypted or old file, and for one without any text.
    """
    with open_office(file, "ppt/presentation.xml") as opened:
        slides = [list(_slide(opened, part)) for part in _slide_parts(opened)]
        title = opened.title()
    outline = lay_out(block for slide in slides for block in (OutlineBlock(PAGE), *slide))
    if not outline.text:
        raise Unreadable("it holds no text, only pictures: run it through OCR first")
    heading = next((block.text for block in slides[0] if block.level), None)
    yield Document(
        id=file.id,
        text=outline.text,
        title=heading or (title if title != NO_TITLE else None) or first_line(outline.text),
        source=file.source,
        metadata=outline_notes(outline),
    )


def _slide_parts(opened: OfficeFile) -> list[str]:
    presentation = opened.parsed(opened.main)
    slides = child(presentation, "sldIdLst")
    if presentation is None or local(presentation) != "presentation":
        raise Unreadable("it is not a PowerPoint file: it has no presentation")
    relations = opened.relations(opened.main)
    # An entry has two attributes named id: the relation's stands in a namespace.
    names = (
        value for slide in children(slides) for key, value in slide.attrib.items() if key.endswith("}id")
    )
    return [relations[name].target for name in names if name in relations]


def _slide(opened: OfficeFile, part: str) -> Iterator[OutlineBlock]:
    slide = opened.parsed(part)
    if attribute(slide, "show") in ("0", "false"):
        return
    shapes = list(_shapes(child(slide, "cSld", "spTree")))
    for shape in shapes:
        if _placeholder(shape) in TITLES:
            yield OutlineBlock(" ".join(" ".join(_paragraphs(shape)).split()), level=1)
    for number, shape in enumerate(shapes):
        if _placeholder(shape) not in TITLES | FURNITURE:
            yield from _shape(shape, f"{part} {number}")
    for relation in opened.relations(part).values():
        if relation.kind == "diagramData":
            drawing = opened.parsed(relation.target)
            for point in drawing.iter() if drawing is not None else ():
                yield from (
                    OutlineBlock(text, kind=part) for text in _paragraphs(point) if local(point) == "t"
                )
        elif relation.kind == "notesSlide":
            yield from _notes(opened, relation.target)


def _notes(opened: OfficeFile, part: str) -> Iterator[OutlineBlock]:
    notes = list(_shapes(child(opened.parsed(part), "cSld", "spTree")))
    texts = [text for shape in notes if _placeholder(shape) not in FURNITURE for text in _paragraphs(shape)]
    if any(text.strip() for text in texts):
        yield from (OutlineBlock(text, kind=part) for text in ("Notes:", *texts))


def _shapes(parent: Element | None) -> Iterator[Element]:
    """Yield the shapes that hold text or a table, those of groups in their place."""
    for element in children(parent):
        if local(element) in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(element)
        elif local(element) in ("sp", "graphicFrame", "cxnSp"):
            yield element


def _placeholder(shape: Element) -> str | None:
    """Return what a shape is the placeholder of, None for an ordinary one."""
    mark = next((child(inner, "nvPr", "ph") for inner in shape if local(inner) == "nvSpPr"), None)
    return attribute(mark, "type")


def _shape(shape: Element, name: str) -> Iterator[OutlineBlock]:
    table = child(shape, "graphic", "graphicData", "tbl")
    if table is None:
        yield from (OutlineBlock(text, kind=name) for text in _paragraphs(shape))
        return
    above: dict[int, str] = {}
    for row in (element for element in table if local(element) == "tr"):
        texts = []
        for column, cell in enumerate(element for element in row if local(element) == "tc"):
            if attribute(cell, "hMerge") in ("1", "true"):
                continue
            goes_on = attribute(cell, "vMerge") in ("1", "true")
            text = above.get(column, "") if goes_on else " ".join(" ".join(_paragraphs(cell)).split())
            above[column] = text if len(text) <= REPEATED else ""
            texts.append(text)
        if any(texts):
            yield OutlineBlock(" | ".join(texts), kind=name)


def _paragraphs(shape: Element) -> Iterator[str]:
    for paragraph in children(shape if local(shape) == "t" else child(shape, "txBody")):
        if local(paragraph) == "p":
            yield "".join(_runs(paragraph))


def _runs(paragraph: Element) -> Iterator[str]:
    for element in paragraph:
        if local(element) == "br":
            yield "\n"
        elif local(element) == "r" or (local(element) == "fld" and attribute(element, "type") != "slidenum"):
            text = child(element, "t")
            yield (text.text or "") if text is not None else ""
