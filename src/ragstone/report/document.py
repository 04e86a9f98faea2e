"""A report as a value: what it says, in order. Terminal, page and notebook are renderers of it (render/).

Text is plain everywhere: a renderer escapes it, and only `Notes` and `prose` texts read backticks as code.
A surface shows the blocks and columns that are for it: `terminal` has 100 columns and stands for a notebook
too, `page` has room for everything. What both show stands once.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragstone.report.scatter import Chart as Scatter
from ragstone.statistics import Estimate

Where = Literal["everywhere", "page", "terminal"]
Tone = Literal["", "strong", "muted", "lead", "outcome", "warn", "best", "open"]


class Link(msgspec.Struct, frozen=True):
    """A place of the same page. about: shown when the mouse rests on it."""

    words: str
    target: str
    about: str = ""


class Cell(msgspec.Struct, frozen=True):
    """A cell of a table. beside: what stands small under its words, or in a column of its own.

    at: drawn with its interval, where the column has ends; share: the length of a bar, 0 to 1; heat: how
    dark the cell is, 0 to 5; framed: the one to look at.
    """

    words: str
    beside: str = ""
    tone: Tone = ""
    at: Estimate | None = None
    share: float | None = None
    heat: int | None = None
    framed: bool = False
    links: tuple[Link, ...] = ()


class Column(msgspec.Struct, frozen=True):
    """A column. right: of numbers. short: its head where there is little room, if that is another one.

    beside: in a terminal, the head of a second column for what stands beside its cells; without one that is
    left out there. ends: of the scale on which its cells are drawn. bars: its cells have a bar before them.
    """

    head: str
    right: bool = False
    where: Where = "everywhere"
    short: str | None = None
    beside: str = ""
    ends: tuple[float, float] | None = None
    bars: bool = False


class Block(msgspec.Struct, frozen=True, kw_only=True):
    """Base of what a document is made of. where: the surface that shows it."""

    where: Where = "everywhere"


class Heading(Block, frozen=True):
    """A heading. level: 2 begins a part of the document, 3 and 4 stand within. anchor: its id in a page."""

    words: str
    level: int = 2
    anchor: str = ""


class Paragraph(Block, frozen=True):
    """A paragraph. prose: what stands between backticks is a command."""

    words: str
    tone: Tone = ""
    prose: bool = False


class Listing(Block, frozen=True):
    """Items. most: of them where there is little room; the rest is told as a number.

    heads: stand before the items, marked. prose: see Paragraph. tone: of a terminal's lines.
    """

    items: list[str]
    most: int | None = None
    heads: list[str] = []
    tone: Tone = ""
    prose: bool = False


class Notes(Block, frozen=True):
    """What to know before trusting the numbers: on a page before them, in a terminal last."""

    items: list[str]


class Pairs(Block, frozen=True):
    """What each of several things is."""

    rows: list[tuple[str, str]]


class Table(Block, frozen=True):
    """A table. A row of one cell is the head of the rows under it. The first column of text names the rows.

    label: what it is, for who cannot see it. kind: classes of its style on a page.
    """

    columns: list[Column]
    rows: Sequence[Sequence[Cell | str]]
    label: str
    caption: str = ""
    kind: str = "wide"


class Fold(Block, frozen=True):
    """Blocks to open on a page; no other surface has them."""

    summary: str
    blocks: "list[Block]"


class Part(Block, frozen=True):
    """Blocks that stand together on one surface. kind: a class of the style."""

    blocks: "list[Block]"
    kind: str = ""


class Drawing(Block, frozen=True):
    """Points with intervals against a price (scatter.py), on a page; a table beside has the same numbers."""

    chart: Scatter
    label: str
    below: str
    caption: str = ""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A report. kind: what it is (`bench of retrievers`). about: under the title.

    skip: the anchor of what a reader comes for, and what that is called. made: what was asked of whom, at
    the end of a page; calls: the same in the last line of a terminal. source: the file of its numbers.
    """

    title: str
    kind: str
    about: str
    version: str
    blocks: list[Block]
    skip: tuple[str, str]
    made: list[tuple[str, str]]
    source: str
    calls: str = ""


def cell(estimate: Estimate | None, words: str, beside: str = "", tone: Tone = "") -> Cell:
    """Return the cell of an estimate; an empty one where there is none."""
    return Cell(words, beside, tone, at=estimate) if estimate else Cell("")


def some(*blocks: Block | None) -> list[Block]:
    """Return the blocks that there are: those of nothing are left out."""
    return [block for block in blocks if block is not None]
