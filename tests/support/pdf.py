"""PDFs with text where a test wants it."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict, Unpack

from ragstone.kernel.corpus.readers.pdf.reader import read_pdf
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document

FONTS = {"F": "Helvetica", "B": "Helvetica-Bold", "I": "Times-Italic", "C": "Courier"}


class At(NamedTuple):
    """A piece of text whose baseline begins at (x, y) from the lower left corner, in points.

    gap: points of white in place of each "|" of the text, within one drawing. turn: a quarter upwards.
    """

    x: float
    y: float
    text: str
    size: float = 10
    font: str = "F"
    gap: float = 0
    turn: bool = False


ITALIC_X = "\N{MATHEMATICAL ITALIC SMALL X}"
# The font M shows an "x" that stands for ITALIC_X, a character beyond U+FFFF.
TO_UNICODE = (
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
    "1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <78> <D835DC65> endbfchar "
    "endcmap end end"
)


class Mark(NamedTuple):
    """An entry of the outline: a title and its page from 0; its children follow it with a higher level."""

    title: str
    page: int
    level: int = 0


def write_pdf(
    pages: Sequence[Sequence[At]],
    *,
    title: str = "",
    marks: Sequence[Mark] = (),
    rotate: int = 0,
    encrypted: bool = False,
) -> bytes:
    """Return a PDF of Letter pages (612 x 792 points)."""
    fonts = " ".join(f"/{key} << /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
                     for key, name in FONTS.items())  # fmt: skip
    fonts += " /M << /Type /Font /Subtype /Type1 /BaseFont /Times-Italic /ToUnicode 4 0 R >>"
    first_page = 5
    kids = " ".join(f"{first_page + 2 * n} 0 R" for n in range(len(pages)))
    first_mark = first_page + 2 * len(pages)
    outlines = f" /Outlines {first_mark} 0 R" if marks else ""
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R{outlines} >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        f"<< /Title ({_escaped(title)}) >>",
        f"<< /Length {len(TO_UNICODE)} >>\nstream\n{TO_UNICODE}\nendstream",
    ]
    for n, page in enumerate(pages):
        drawing = "\n".join(_drawn(piece) for piece in page)
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Rotate {rotate} "
            f"/Resources << /Font << {fonts} >> >> /Contents {first_page + 2 * n + 1} 0 R >>",
            f"<< /Length {len(drawing.encode('latin-1'))} >>\nstream\n{drawing}\nendstream",
        ]
    objects += _outline(marks, first_mark, first_page) if marks else []
    return _file(objects, encrypted=encrypted)


def _drawn(piece: At) -> str:
    matrix = f"0 1 -1 0 {piece.x} {piece.y}" if piece.turn else f"1 0 0 1 {piece.x} {piece.y}"
    move = -1000 * piece.gap / piece.size
    parts = piece.text.split("|") if piece.gap else [piece.text]
    shown = f" {move:.1f} ".join(f"({_escaped(part)})" for part in parts)
    return f"BT /{piece.font} {piece.size} Tf {matrix} Tm [{shown}] TJ ET"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _outline(marks: Sequence[Mark], root: int, first_page: int) -> list[str]:
    """Return the objects of an outline: the root, then one a mark."""
    numbers = range(len(marks))
    parents = [max((m for m in range(n) if marks[m].level < marks[n].level), default=-1) for n in numbers]
    objects = []
    for n in range(-1, len(marks)):
        children = [m for m in numbers if parents[m] == n]
        entry = f"/First {root + 1 + children[0]} 0 R /Last {root + 1 + children[-1]} 0 R" if children else ""
        if n >= 0:
            mark = marks[n]
            siblings = [m for m in numbers if parents[m] == parents[n]]
            after = siblings[siblings.index(n) + 1 :]
            entry += f" /Title ({_escaped(mark.title)}) /Parent {root + 1 + parents[n]} 0 R"
            entry += f" /Dest [{first_page + 2 * mark.page} 0 R /XYZ 0 792 0]"
            entry += f" /Next {root + 1 + after[0]} 0 R" if after else ""
        objects.append(f"<< {entry} >>")
    return objects


def _file(objects: Sequence[str], *, encrypted: bool) -> bytes:
    body, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body.encode("latin-1")))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    secret = f" /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{'41' * 32}> /U <{'42' * 32}> >>"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    trailer = f"/Size {len(objects) + 1} /Root 1 0 R /Info 3 0 R"
    trailer += f"{secret} /ID [<01> <01>]" if encrypted else ""
    return (
        f"{body}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
        f"trailer\n<< {trailer} >>\nstartxref\n{len(body.encode('latin-1'))}\n%%EOF"
    ).encode("latin-1")


class Kind(TypedDict, total=False):
    """How a text is set, as in At."""

    size: float
    font: str
    gap: float
    turn: bool


def lines(x: float, y: float, *texts: str, pitch: float = 12, **kind: Unpack[Kind]) -> list[At]:
    """Return lines one below the other, `pitch` points apart."""
    return [At(x, y - pitch * n, text, **kind) for n, text in enumerate(texts)]


def read_pages(tmp_path: Path, *pages: list[At]) -> Document:
    """Return the document that a PDF with these pages becomes."""
    path = tmp_path / "a.pdf"
    path.write_bytes(write_pdf(pages))
    (document,) = read_pdf(File(path, "a.pdf"))
    return document
