"""Sixty files that are made to hurt: thirty by hand, thirty by grammars, always the same."""

import random
import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

File = tuple[str, bytes]

WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
SHEET = (
    'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
SLIDE = (
    'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
BOOK = f'<workbook {SHEET}><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>'
SHOW = f'<p:presentation {SLIDE}><p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst></p:presentation>'


def packed(parts: dict[str, str]) -> bytes:
    """Return an archive of parts; long runs of one letter become short."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return made.getvalue()


def relations(kind: str, target: str) -> str:
    """Return the part that names one other part."""
    return f'<Relationships><Relationship Id="r1" Type="{RELATION}{kind}" Target="{target}"/></Relationships>'


def docx(body: str, head: str = "") -> bytes:
    """Return a Word file with this body."""
    text = f"{head}<w:document {WORD}><w:body>{body}</w:body></w:document>"
    return packed(
        {"_rels/.rels": relations("officeDocument", "word/document.xml"), "word/document.xml": text}
    )


def xlsx(rows: str, shared: str = "") -> bytes:
    """Return a workbook of one sheet with these rows."""
    main, others = relations("officeDocument", "xl/workbook.xml"), relations("worksheet", "s.xml")
    if shared:
        others = others.replace(
            "</", f'<Relationship Id="r2" Type="{RELATION}sharedStrings" Target="t.xml"/></', 1
        )
    sheet = f"<worksheet {SHEET}><sheetData>{rows}</sheetData></worksheet>"
    parts = {"_rels/.rels": main, "xl/workbook.xml": BOOK, "xl/_rels/workbook.xml.rels": others}
    return packed({**parts, "xl/s.xml": sheet, "xl/t.xml": f"<sst {SHEET}>{shared}</sst>"})


def pptx(tree: str) -> bytes:
    """Return a presentation of one slide with this tree of shapes."""
    main, others = relations("officeDocument", "ppt/presentation.xml"), relations("slide", "s.xml")
    slide = f"<p:sld {SLIDE}><p:cSld><p:spTree>{tree}</p:spTree></p:cSld></p:sld>"
    parts = {"_rels/.rels": main, "ppt/presentation.xml": SHOW, "ppt/_rels/presentation.xml.rels": others}
    return packed({**parts, "ppt/s.xml": slide})


def pdf(drawing: bytes, outline: str = "", *, kids: str = "4 0 R", filtered: str = "") -> bytes:
    """Return a page with this drawing, and an outline of one entry with this title."""
    catalogue = "<< /Type /Catalog /Pages 2 0 R /Outlines 6 0 R >>"
    fonts = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
    objects = [
        catalogue.encode(),
        f"<< /Type /Pages /Kids [{kids}] /Count {len(kids.split()) // 3} >>".encode(),
        b"<< /Title (Guide) >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] {fonts} /Contents 5 0 R >>".encode(),
        f"<< /Length {len(drawing)} {filtered} >>\nstream\n".encode() + drawing + b"\nendstream",
        b"<< /First 7 0 R /Last 7 0 R >>",
        f"<< /Title ({outline}) /Parent 6 0 R /Dest [4 0 R /XYZ 0 792 0] >>".encode(),
    ]
    made, offsets = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        offsets.append(len(made))
        made += b"%d 0 obj\n" % number + one + b"\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    return made + f"{end}<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(made)}\n%%EOF".encode()


def drawn(*texts: str) -> bytes:
    """Return what draws lines of text, one below the other."""
    lines = (
        f"BT /F 10 Tf 72 {700 - 12 * n % 690} Td ({text}) Tj ET"
        for n, text in enumerate(texts or ("Maize.",))
    )
    return "\n".join(lines).encode()


def by_hand() -> Iterator[File]:
    """Yield thirty files that break what is known to break."""
    text = "Maize is sown in May. "
    yield "bookmark.pdf", pdf(drawn(), "x" * 30 + "!")
    yield "numbers.pdf", pdf(drawn(), "1" * 200 + "!")
    yield "leaders.pdf", pdf(drawn(*["." * 3000 + "x"] * 60))
    yield "pieces.pdf", pdf(drawn(*(f"{n}" for n in range(40_000))))
    yield "loop.pdf", pdf(drawn(), kids="2 0 R 2 0 R 4 0 R")
    yield "pages.pdf", pdf(drawn("Maize."), kids=" ".join(["4 0 R"] * 3000))
    yield (
        "bomb.pdf",
        pdf(zlib.compress(drawn("Maize.") + b" " * 200_000_000), filtered="/Filter /FlateDecode"),
    )
    yield "xref.pdf", pdf(drawn())[:-40] + b"startxref\n99999999999\n%%EOF"
    paragraph = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
    yield "bomb.docx", docx(paragraph.format("a" * 300_000_000))
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    yield "laughs.docx", docx(paragraph.format("&l9;"), f'<!DOCTYPE d [<!ENTITY l0 "ha">{laughs}]>')
    cell = "<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>"
    yield "nested.docx", docx(cell.split("{}")[0] * 20_000 + cell.split("{}")[1] * 20_000)
    yield "paragraphs.docx", docx("".join(paragraph.format(f"Row {n}.") for n in range(200_000)))
    wide = "".join(f'<c t="inlineStr"><is><t>{n}</t></is></c>' for n in range(16_384))
    yield "wide.xlsx", xlsx(f"<row>{wide}</row>" * 40)
    yield "far.xlsx", xlsx('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')
    yield "shared.xlsx", xlsx("<row/>", "<si><t>" + "a" * 200_000_000 + "</t></si>")
    yield "deep.pptx", pptx("<p:grpSp>" * 100_000 + "</p:grpSp>" * 100_000)
    yield "zip.pptx", packed({f"{n}/ppt/presentation.xml": "x" for n in range(50_000)})
    yield "divs.html", b"<div>" * 300_000 + text.encode()
    yield "comment.html", b"<!--" * 60_000 + text.encode()
    yield "span.html", b"<table><tr><td colspan=999999999 rowspan=999999999>" + text.encode() + b"</table>"
    yield "attribute.html", b"<p " + b"a=" * 500_000 + b">" + text.encode()
    yield "atx.md", b"# " * 100_000 + b"!"
    yield "links.md", b"[" * 200_000 + b"](" * 100_000
    yield "pipes.md", b"|" * 500_000 + b"\n" + b"|-" * 250_000
    yield "columns.csv", b",".join(b"c%d" % n for n in range(100_000)) + b"\n" + b"x," * 99_999 + b"x\n"
    yield "quote.csv", b'a,b\n"' + b"x,\n" * 500_000
    yield "rows.csv", b"id,text\n" + b"".join(b"%d,Row %d.\n" % (n, n) for n in range(200_000))
    yield "deep.jsonl", b'{"id": "a", "text": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    yield "number.jsonl", b'{"id": "a", "text": "x", "n": ' + b"9" * 500_000 + b"}"
    yield "spaces.txt", (b" " * 4000 + b"x.\n") * 500


TEXT = st.text(
    st.one_of(
        st.sampled_from("#*_`|[]()<>!-=+.,:;\"'@{}\\/& \n\t0123456789"),
        st.characters(codec="utf-8", exclude_categories=["Cc"]),
    ),
    min_size=1,
    max_size=12,
)
TAGS = st.sampled_from(
    ("div", "table", "tr", "td", "p", "b", "h1", "ul", "li", "pre", "a", "script", "title")
)


def _element(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda tag, texts: f"<{tag}>{''.join(texts)}</{tag}>", TAGS, st.lists(inside, max_size=4)
    )


PLAIN = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Z")), max_size=12).map(
    lambda text: text.replace("&", "").replace("<", "")
)


def _xml(names: tuple[str, ...], leaf: str) -> st.SearchStrategy[str]:
    """Return trees of elements of these names, in any order, with texts in the leaves."""
    leaves = PLAIN.map(lambda text: leaf.format(text))
    made = st.deferred(
        lambda: st.one_of(
            leaves,
            st.builds(
                lambda name, inside: f"<{name}>{''.join(inside)}</{name}>",
                st.sampled_from(names),
                st.lists(made, max_size=5),
            ),
        )
    )
    return made


def _often(strategy: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return what a grammar gives, over and over, up to some 200 KB."""
    times = st.sampled_from((1, 300, 20_000))
    return st.builds(
        lambda text, n: (text * n)[:200_000] if len(text) * n > 200_000 else text * n, strategy, times
    )


HTML = _often(st.recursive(TEXT, _element, max_leaves=30))
WORDS = _often(st.lists(TEXT, min_size=1, max_size=30).map("".join))
TREES = st.integers(1, 3000)
DOCX = st.builds(
    lambda text, n: text * n,
    _xml(("w:p", "w:tbl", "w:tr", "w:tc", "w:sdt", "w:sdtContent"), "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"),
    TREES,
)
XLSX = st.builds(
    lambda text, n: text * n,
    _xml(("row", "c", "v", "is", "f"), '<row><c t="inlineStr"><is><t>{}</t></is></c></row>'),
    TREES,
)
PPTX = st.builds(
    lambda text, n: text * n,
    _xml(
        ("p:sp", "p:grpSp", "p:txBody", "a:p", "a:tbl", "a:tr", "a:tc"), "<a:p><a:r><a:t>{}</a:t></a:r></a:p>"
    ),
    TREES,
)
PDF = st.lists(
    st.one_of(
        st.text("abc.·0123456789-() []", max_size=40).map(lambda text: f"({text}) Tj"),
        st.tuples(st.integers(-999, 999), st.integers(-999, 999)).map(lambda at: f"{at[0]} {at[1]} Td"),
        st.sampled_from(("BT /F 10 Tf", "ET", "q", "Q", "0 Tf", "1 0 0 1 9e99 0 Tm", "-1 0 0 -1 0 0 cm")),
    ),
    min_size=1,
    max_size=40,
).map(lambda steps: ("\n".join(steps) + "\n").encode() * 300)

GRAMMARS: tuple[tuple[str, st.SearchStrategy[bytes]], ...] = (
    (".html", HTML.map(str.encode)),
    (".md", WORDS.map(str.encode)),
    (".csv", WORDS.map(str.encode)),
    (".docx", DOCX.map(docx)),
    (".xlsx", XLSX.map(xlsx)),
    (".pptx", PPTX.map(pptx)),
    (".pdf", PDF.map(pdf)),
)


def by_grammar(n_files: int) -> list[File]:
    """Return files that grammars make, in turn, always the same."""
    made: list[File] = []
    each = -(-n_files // len(GRAMMARS))
    for ending, grammar in GRAMMARS:
        found: list[bytes] = []
        _draw(grammar, found.append, 8 * each)
        largest = sorted(set(found), key=len, reverse=True)
        chosen = random.Random(1).sample(largest[: 4 * each], min(each, len(largest)))
        made += [(f"grammar{n}{ending}", content) for n, content in enumerate(chosen)]
    return made[:n_files]


def _draw(grammar: st.SearchStrategy[bytes], take: Callable[[bytes], None], n: int) -> None:
    @seed(1)
    @settings(
        max_examples=n,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(grammar)
    def drawn_once(content: bytes) -> None:
        take(content)

    drawn_once()


def hostile_files() -> list[File]:
    """Return the sixty."""
    return [*by_hand(), *by_grammar(30)]
