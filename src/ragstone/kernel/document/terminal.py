"""A document -> what rich prints of it, in 100 columns; a notebook shows the same (fragment.py)."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Diff,
    DiffMark,
    Heading,
    Listing,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    Table,
    Tone,
    flat,
)
from ragstone.kernel.document.numbers import count

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table as RichTable
    from rich.text import Text

BAR = 24  # characters of the longest bar
STYLES: dict[Tone, str] = {
    "strong": "bold",
    "outcome": "bold",
    "good": "bold green",
    "bad": "bold red",
    "best": "bold",
    "muted": "dim",
    "lead": "dim",
    "warn": "yellow",
}
DIFF_STYLES: dict[DiffMark, str] = {"added": "green", "removed": "red", "muted": "dim"}


def render_terminal(document: ReportDocument) -> "Group":
    """Return the document: its title, its blocks, then what to know of the numbers and what was asked."""
    from rich.console import Group

    title = f"{document.title}: {document.about}" if document.about else document.title
    return Group(
        *([text(title, "bold")] if title else []),
        *render_blocks(document.blocks),
        *([text(document.last, STYLES[document.last_tone], before=1)] if document.last else []),
    )


def render_blocks(blocks: Iterable[Block]) -> "list[RenderableType]":
    """Return the blocks that a terminal shows, the notes last."""
    visible = list(flat(blocks, "terminal"))
    notes = [block for block in visible if isinstance(block, Notes)]
    others = [block for block in visible if not isinstance(block, Notes)]
    return [part for block in others + notes for part in _lines(block)]


def _lines(block: Block) -> "Iterator[RenderableType]":
    """Yield what is printed of a block; nothing of what only a page has."""
    match block:
        case Heading(words=words, level=level):
            yield text(words, "bold" if level < 4 else "dim", before=1)
        case Paragraph(words=words, tone=tone) if words:
            yield text(words, STYLES.get(tone, ""))
        case Listing():
            yield from (text(f"- {item}", STYLES.get(block.tone, "")) for item in block.items[: block.most])
            if (n_more := len(block.items) - (block.most or len(block.items))) > 0:
                yield text(f"  and {count(n_more)} more, in the report", "dim")
        case Notes(items=items) if items:
            yield text("Before you trust these numbers", "bold", before=1)
            yield from (text(f"- {item}") for item in items)
        case Diff():
            yield from (text(line, DIFF_STYLES.get(mark, "")) for mark, line in block.marked())
        case Pairs(rows=rows):
            yield from (text(f"{name}: {words}", "dim") for name, words in rows)
        case Table():
            yield from [text(block.caption, "dim")] if block.caption else []
            yield _table(block)


def _table(block: Table) -> "RichTable":
    columns = [(at, column) for at, column in enumerate(block.columns) if column.where != "page"]
    heads: list[tuple[str, bool]] = []  # (name, aligned to the right)
    for _, column in columns:
        heads += [("", False)] if column.bars else []
        heads.append((column.head if column.short is None else column.short, not column.text))
        heads += [(column.beside, not column.text)] if column.beside else []
    table = new_table(*heads)
    table.show_header = any(head for head, _ in heads)
    named = next((at for at, (_, right) in enumerate(heads) if not right), 0)
    for row in block.rows:
        cells = [each if isinstance(each, Cell) else Cell(each) for each in row]
        if len(cells) < len(block.columns):
            table.add_row(*[text("")] * named, text(cells[0].words, "dim"))
            continue
        parts = []
        for at, column in columns:
            cell = cells[at]
            parts += [text("█" * round(BAR * (cell.share or 0.0)), "dim")] if column.bars else []
            parts.append(text(cell.short or cell.words, STYLES.get(cell.tone, "")))
            parts += [text(cell.beside)] if column.beside else []
        table.add_row(*parts)
    return table


def text(content: str, style: str = "", *, before: int = 0) -> "Text":
    """Return text from outside as it is: no markup of rich's is read in it."""
    from rich.text import Text

    return Text("\n" * before + content, style=style)


def new_table(*heads: tuple[str, bool]) -> "RichTable":
    """Return a table without lines; heads are (name, aligned to the right)."""
    from rich.table import Table as RichTable

    table = RichTable(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for head, right in heads:
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(text(head), justify=justify, overflow="fold")
    return table
