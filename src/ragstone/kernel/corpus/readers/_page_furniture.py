"""What surrounds the text of an HTML page: navigation, tables of contents, marks beside headings."""

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

# ruff: noqa: SIM905 - one name a line would hide the lists
# Words in a class or id that generators of documentation give to what leads elsewhere. Such an element is
# left out only where most of its text is links: authors call boxes of text `menu` or `toc`, too.
NAMES = frozenset(
    "breadcrumb breadcrumbs contents menu menubar nav navbar navfooter navheader navigation pagination pager "
    "related sidebar skip skiplink skipnav sphinxsidebar toc toctree".split()
)
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
ROLES = frozenset({"contentinfo", "navigation", "search"})
BESIDE_HEADINGS = frozenset({"", "#", "¶", "§", "\N{LINK SYMBOL}", "\uf0c1"})  # the last is of an icon font
MOST_LINKED = 0.6  # from which share of its characters a named element is navigation
ALL_LINKED = 0.9  # from which share a list of links to its own page is a table of contents
FEWEST_LINKS = 3  # of such a list

_WORDS = re.compile(r"[^a-z]+")


class Extent(NamedTuple):
    """How much had been read when an element began, or ended.

    n_pieces: pieces of text. size, linked: characters, and those in links. n_links, n_inner: links, and those
    to the page itself.
    """

    n_pieces: int
    size: int
    linked: int
    n_links: int
    n_inner: int


def main_part(page: "LexborHTMLParser") -> "LexborNode | None":
    """Return the element that a page names as its main part, where there is one with text; else its body."""
    named = page.css("main, [role=main]")
    if named and named[0].text(strip=True):
        within = {node.mem_id for node in named[0].css("main, [role=main]")} | {named[0].mem_id}
        if all(node.mem_id in within for node in named):
            return named[0]
    return page.body


def is_furniture(node: "LexborNode") -> bool:
    """Return whether an element is none of the text, whatever it holds."""
    attributes = node.attributes
    if "hidden" in attributes or (attributes.get("role") or "") in ROLES:
        return True
    return node.tag == "a" and is_inner(node) and node.text(strip=True) in BESIDE_HEADINGS


def is_inner(link: "LexborNode") -> bool:
    """Return whether a link leads to a place of its own page."""
    return (link.attributes.get("href") or "").startswith("#")


def is_named_so(node: "LexborNode") -> bool:
    """Return whether the class or id of an element says that it leads elsewhere."""
    named = f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}".lower()
    return not NAMES.isdisjoint(_WORDS.split(named))


def leads_elsewhere(node: "LexborNode", start: Extent, end: Extent) -> bool:
    """Return whether what an element holds is links to other places and no text."""
    size, linked = end.size - start.size, end.linked - start.linked
    if not size:
        return node.tag == "tr"
    if node.tag in {"ul", "ol"}:
        n_links = end.n_links - start.n_links
        if n_links >= FEWEST_LINKS and n_links == end.n_inner - start.n_inner and linked >= ALL_LINKED * size:
            return True
    # Some generators make a link to itself of each heading, and "Menu" may well be one.
    return linked >= MOST_LINKED * size and node.tag not in HEADINGS and is_named_so(node)
