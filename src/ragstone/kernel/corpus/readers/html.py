"""An HTML page -> a document: the text that a reader sees, in lines and paragraphs."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragstone.kernel.corpus.readers._page_furniture import (
    Extent,
    is_furniture,
    is_inner,
    leads_elsewhere,
    main_part,
)
from ragstone.kernel.corpus.readers.text import first_line
from ragstone.kernel.errors import optional_package
from ragstone.kernel.files.decoding import decode
from ragstone.kernel.files.digits import whole_number
from ragstone.kernel.files.file import File
from ragstone.kernel.files.office import REPEATED
from ragstone.kernel.records import Document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# ruff: noqa: SIM905 - one name a line would hide the lists
DROPPED = frozenset("button head iframe nav noscript script select style svg template".split())
PARAGRAPHS = frozenset(
    "address article aside blockquote body dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main "
    "ol p pre section table ul".split()
)
LINES = frozenset("br caption dd details div dt figcaption legend li option summary tr".split())
CELLS = frozenset({"td", "th"})
MOST_SPAN = 1000  # columns or rows of a cell, as in browsers
STRUCTURED = "dl, h1, h2, h3, h4, h5, h6, ol, pre, table, ul"  # a cell with one of them is page layout

# In the text while it is made, before a heading: the character of this number.
LEVELS = {f"h{level}": chr(level) for level in range(1, 7)}
_MARKS = "".join(LEVELS.values())
_MARKED = re.compile(f"[{_MARKS}]")
_TITLE = re.compile(f"[^{_MARKS}\n]*+")
_EMPTY_HEADING = re.compile(f"[{_MARKS}](?=\\s*(?:\\n|$))")
_SPACES = re.compile(r"[ \t\n\f]+")
_SITE = re.compile(r"\s+[-–—|·:]\s")
_BLANK_LINES = re.compile(r"\n{3,}")
_LANG = re.compile(r"([a-z]{2})(?:[-_]|$)", re.IGNORECASE)


def read_html(file: File) -> Iterator[Document]:
    """Yield the one document of an HTML file, titled by its title, first h1 or first line.

    It is the text of the page's main part, where it names one. Navigation, tables of contents, scripts,
    styles, controls and hidden elements are left out. Blocks are separated by a blank
    line, lines and table rows by a line end, cells by " | "; `pre` keeps its spaces. `lang` is the page's
    own declaration. Raises MissingExtra without selectolax.
    """
    with optional_package(f"reading {file.path}", "html"):
        from selectolax.lexbor import LexborHTMLParser
    decoded = decode(file.read_bytes(), html=True)
    page = LexborHTMLParser(decoded.text)
    text, headings = _headings(_visible_text(page))
    html = page.css_first("html")
    declared = _LANG.match((html.attributes.get("lang") or "").strip()) if html else None
    yield Document(
        id=file.id,
        text=text,
        title=_title(page) or first_line(text),
        lang=declared[1].lower() if declared else None,
        source=file.source,
        metadata={**({"headings": headings} if headings else {}), **decoded.notes()} or None,
    )


def _visible_text(page: "LexborHTMLParser") -> str:
    pieces: list[str] = []
    root = main_part(page)
    if root is None:
        return ""
    spanning = _spanning_cells(page)
    size = linked = n_links = n_inner = 0
    # A stack, because pages nest deeper than Python recurses. A number is a break that is due after an
    # element's children, a pair an element that ends, with where it began; the second value tells what stands
    # around: "pre", "cell" or nothing.
    todo: list[tuple[LexborNode | int | tuple[LexborNode, Extent], str]] = [(root, "")]
    while todo:
        node, inside = todo.pop()
        if isinstance(node, int):
            _add_break(pieces, node)
        elif isinstance(node, tuple):
            ended, start = node
            if ended.tag == "a":
                linked += size - start.size
            if n_links == start.n_links and ended.tag != "tr":
                continue  # as most elements: without a link they are text
            end = Extent(len(pieces), size, linked, n_links, n_inner)
            if ended.mem_id != root.mem_id and leads_elsewhere(ended, start, end):
                del pieces[start.n_pieces :]
        elif node.is_text_node:
            text = node.text_content or ""
            size += len(text.strip())
            _add_text(pieces, text, inside)
        elif node.is_element_node and node.tag not in DROPPED and not is_furniture(node):
            size += _add_cells(pieces, spanning.get(node.mem_id, ()))
            start = Extent(len(pieces), size, linked, n_links, n_inner)
            inside = _enter(pieces, node, inside)
            n_links += node.tag == "a"
            n_inner += node.tag == "a" and is_inner(node)
            todo.append((_break_of(node, inside), ""))
            todo.append(((node, start), ""))
            children = list(node.iter(include_text=True, skip_empty=False))
            todo += [(child, inside) for child in reversed(children)]
    return _BLANK_LINES.sub("\n\n", _EMPTY_HEADING.sub("", "".join(pieces))).strip()


def _headings(marked: str) -> tuple[str, list[dict[str, Any]]]:
    """Return a text without the marks of its headings, and the headings as they stand in metadata."""
    headings = []
    for n_before, mark in enumerate(_MARKED.finditer(marked)):
        title = _TITLE.match(marked, mark.end())
        headings.append(
            {
                "start": mark.start() - n_before,
                "level": ord(mark[0]),
                "title": title[0].strip() if title else "",
            }
        )
    return _MARKED.sub("", marked), headings


def _spanning_cells(page: "LexborHTMLParser") -> dict[int, list[str]]:
    """Return node of a cell -> texts of the cells from rows above that stand before it in its row."""
    texts_of: dict[int, list[str]] = {}
    for table in page.css("table:has([rowspan])"):
        below: dict[int, tuple[int, str]] = {}  # column -> how many rows it still reaches, and its text
        for row in table.css("tr"):
            column = 0
            reached: dict[int, tuple[int, str]] = {}
            for cell in (node for node in row.iter() if node.tag in CELLS):
                while column in below:
                    n_rows, text = below.pop(column)
                    texts_of.setdefault(cell.mem_id, []).append(text)
                    if n_rows > 1:
                        reached[column] = (n_rows - 1, text)
                    column += 1
                n_rows, text = _span(cell, "rowspan"), " ".join(cell.text().split())
                if n_rows > 1 and 0 < len(text) <= REPEATED:
                    reached[column] = (n_rows - 1, text)
                column += _span(cell, "colspan")
            below = {**{at: (n - 1, text) for at, (n, text) in below.items() if n > 1}, **reached}
    return texts_of


def _span(cell: "LexborNode", name: str) -> int:
    return min(whole_number(cell.attributes.get(name), 1), MOST_SPAN)


def _add_cells(pieces: list[str], texts: Sequence[str]) -> int:
    """Write cells from rows above; return how many characters they have."""
    for text in texts:
        if pieces and not pieces[-1].endswith("\n"):
            pieces[-1] = pieces[-1].rstrip(" ") + " | "
        pieces.append(text)
    return sum(map(len, texts))


def _enter(pieces: list[str], node: "LexborNode", inside: str) -> str:
    """Write what comes before an element's children; return what stands around them."""
    if node.tag in CELLS:
        if pieces and not pieces[-1].endswith("\n"):
            pieces[-1] = pieces[-1].rstrip(" ") + " | "
        return "" if node.css_first(STRUCTURED) else "cell"
    _add_break(pieces, _break_of(node, inside))
    if node.tag in LEVELS and inside != "cell":
        pieces.append(LEVELS[node.tag])
    if node.tag in LINES | PARAGRAPHS and inside == "cell":
        _add_text(pieces, " ", inside)
    return "pre" if node.tag == "pre" else inside


def _break_of(node: "LexborNode", inside: str) -> int:
    """Return how many line ends set an element apart."""
    if inside == "cell":
        return 0
    return 2 if node.tag in PARAGRAPHS else int(node.tag in LINES)


def _add_text(pieces: list[str], text: str, inside: str) -> None:
    text = _MARKED.sub("", text)
    if inside != "pre":
        text = _SPACES.sub(" ", text)
        if not pieces or pieces[-1][-1] in f" \n{_MARKS}":
            text = text.lstrip(" ")
    if text:
        pieces.append(text)


def _add_break(pieces: list[str], line_ends: int) -> None:
    if not line_ends or not pieces:
        return
    already = 0
    while pieces and not pieces[-1].strip(" \n"):
        already = max(already, pieces.pop().count("\n"))
    if pieces:
        pieces[-1] = pieces[-1].rstrip(" ")
        pieces.append("\n" * max(already, line_ends))


def _title(page: "LexborHTMLParser") -> str | None:
    """Return the title of a page; where that is its first heading and the name of the site, the heading."""
    title, heading = _first_text(page, "title"), _first_text(page, "h1")
    first = page.css_first("h1")
    for link in first.css("a") if first else ():
        if heading and is_furniture(link):
            heading = heading.removesuffix(link.text(strip=True)).rstrip() or None
    if title and heading and title.startswith(heading) and _SITE.match(title, len(heading)):
        return heading
    return title or heading


def _first_text(page: "LexborHTMLParser", selector: str) -> str | None:
    node = page.css_first(selector)
    return " ".join(node.text().split()) or None if node else None
