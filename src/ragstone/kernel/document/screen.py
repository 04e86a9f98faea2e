"""Documents -> the screen that a terminal shows first: the answer, what fits of the rest, what more there is.

Nothing that changes how an answer may be read is lost: a caution is shown, or the last line counts it.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Findings,
    Heading,
    Listing,
    Notes,
    Paragraph,
    Part,
    ReportDocument,
    Row,
    Table,
    Tone,
    flat,
)
from ragstone.kernel.document.numbers import count
from ragstone.kernel.document.terminal import STYLES, render_blocks, text
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from rich.console import Console, Group, RenderableType

LINES = 25  # of a short screen
ANSWER_LINES = 10  # that answers may take of it, all that are free where several documents answer, and
CAUTION_LINES = 6  # that cautions may; the first of each stands whole
NAMED_SECTIONS = 4  # of those that are left out
LONGEST_NAME = 40
SPENT = "models, calls and tokens"  # what `brief` leaves out of `last`
NAMING = 4  # level of headings that name whom an answer is of
PARTS: dict[str, Part] = {"outcome": "answer", "warn": "caution", "bad": "caution"}


@dataclass
class _Section:
    """What stands under one heading, or with one table that has none."""

    name: str
    blocks: list[Block] = field(default_factory=list)
    is_main: bool = False


@dataclass
class _Reading:
    """A document taken apart: its answers, its cautions, and the sections of all else.

    is_section: it answers nothing and is one section, which begins with its title.
    """

    document: ReportDocument
    answers: list[Block] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    sections: list[_Section] = field(default_factory=list)
    is_section: bool = False


@dataclass
class _LeftOut:
    """What a short screen does not show. warned: of the rows, those with a caution. columns: their heads."""

    answers: int = 0
    columns: list[str] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    cautions: int = 0
    rows: int = 0
    warned: int = 0

    def line(self) -> str:
        """Return one sentence on it; empty if there is nothing."""
        names = list(dict.fromkeys(self.sections))
        listed = "; ".join(names[:NAMED_SECTIONS])
        beyond = f"; and {count(len(names) - NAMED_SECTIONS)} more" if len(names) > NAMED_SECTIONS else ""
        warned = f" ({count(self.warned)} with a caution)" if self.warned else ""
        parts = [
            *([plural(self.answers, "more verdict")] if self.answers else []),
            *([plural(self.cautions, "more caution")] if self.cautions else []),
            *([plural(self.rows, "more row") + warned] if self.rows else []),
            *(
                [f"{plural(len(self.columns), 'more column')} ({', '.join(self.columns)})"]
                if self.columns
                else []
            ),
            *([f"more of {plural(len(names), 'section')}: {listed}{beyond}"] if names else []),
        ]
        return f"--all shows {', '.join(parts)}" + ("" if names else ".") if parts else ""


def render_screen(documents: Sequence[ReportDocument], width: int, most: int = LINES) -> "Group":
    """Return the answers, and what fits of the rest into so many lines of this width.

    What fits stands whole. Else tables are cut, and a last line says what more there is. A first answer, a
    first caution or a last word is never cut, even where it alone takes more lines.
    """
    from rich.console import Group

    readings = [_read(document, alone=len(documents) == 1) for document in documents]
    several = sum(bool(reading.answers) for reading in readings) > 1
    every = [part for reading in readings for part in _whole(reading, several=several)]
    if _fits(every, width, most):
        return Group(*every)
    left = _LeftOut()
    cautions = _cautions(readings, several=several)
    noted = _fitting(cautions, min(CAUTION_LINES, most // 4), width)
    left.cautions = len(cautions) - len(noted)
    below = [*render_blocks([Notes(noted)]), *_last(readings, brief=True)]
    sections = [section for reading in readings for section in reading.sections]
    spent = [SPENT for reading in readings if reading.document.brief not in ("", reading.document.last)]
    left.sections = [*(section.name for section in sections), *spent]  # at most: the last line may grow to it
    left.answers = sum(len(reading.answers) for reading in readings)
    free = most - _height([*below, text(left.line(), before=1)], width)
    left.answers = 0
    answers = _answers(readings, max(ANSWER_LINES, free * several), width, left, several=several)
    room = most - _height([*answers, *below, text(left.line(), before=1)], width)
    before = left
    while True:
        left = replace(before, sections=[], columns=[])
        parts = _filled(sections, room, width, left, hidden=several)
        left.sections += spent
        more = [text(left.line(), "dim", before=1)] if left.line() else []
        over = _height([*answers, *parts, *below, *more], width) - most
        if over <= 0 or not parts:
            return Group(*answers, *parts, *below, *more)
        room -= over  # rows and columns that are left out made the last line longer


def _cautions(readings: Sequence[_Reading], *, several: bool) -> list[str]:
    """Return each caution once. Of several documents it says of which, unless it is of all that answer."""
    titles: dict[str, list[str]] = {}
    for reading in readings:
        for caution in dict.fromkeys(reading.cautions):
            titles.setdefault(caution, []).append(reading.document.title)
    answering = {reading.document.title for reading in readings if reading.answers}
    return [
        caution if not several or answering <= {*own} or not all(own) else f"{'; '.join(own)}: {caution}"
        for caution, own in titles.items()
    ]


def _height(parts: "Sequence[RenderableType]", width: int) -> int:
    """Return the lines that rich makes of them."""
    from rich.console import Console

    console = Console(width=width, file=io.StringIO(), color_system=None, markup=False, emoji=False)
    return sum(
        _height_unwrapped(part, console) or len(console.render_lines(part, console.options, pad=False))
        for part in parts
    )


def _height_unwrapped(part: "RenderableType", console: "Console") -> int | None:
    """Return the lines of a text or table that is no wider than the console; None for what may wrap.

    To lay a part out takes several times as long, and each is asked about again and again.
    """
    from rich.cells import cell_len
    from rich.table import Table as RichTable
    from rich.text import Text

    if isinstance(part, Text):
        lines = part.plain.split("\n")
        fits = all(line.isprintable() and cell_len(line) <= console.width for line in lines)
        return len(lines) if fits else None
    if isinstance(part, RichTable):
        cells = (str(each) for column in part.columns for each in (column.header, *column.cells))
        wide = console.options.update_width(10 * console.width)  # nothing is measured as wider than there is
        if all(map(str.isprintable, cells)) and console.measure(part, options=wide).maximum <= console.width:
            return part.row_count + part.show_header
    return None


def _fits(parts: "Sequence[RenderableType]", width: int, lines: int) -> bool:
    """Say whether they take so many lines at most. A table of more rows is not laid out to see that."""
    from rich.table import Table as RichTable

    n_rows = sum(part.row_count for part in parts if isinstance(part, RichTable))
    return n_rows <= lines and _height(parts, width) <= lines


def _read(document: ReportDocument, *, alone: bool) -> _Reading:
    """Take a document apart. Where no paragraph answers, the first of its findings does.

    alone: no other is shown with it. Beside others, one that answers nothing is a section by its title.
    """
    reading = _Reading(document)
    section, named, notes = _Section("details"), "", list[str]()
    reading.sections.append(section)
    for block in flat(document.blocks, "terminal"):
        part = block.part or PARTS.get(block.tone if isinstance(block, Paragraph | Listing) else "", "")
        if isinstance(block, Notes):
            notes += block.items
        elif part == "answer" and isinstance(block, Paragraph):
            sentence = f"{named}: {block.words}" if named else block.words
            reading.answers.append(msgspec.structs.replace(block, words=sentence))
        elif part == "caution" and isinstance(block, Paragraph | Listing):
            reading.cautions += block.items if isinstance(block, Listing) else [block.words]
        else:
            if _begins(block, section):
                section = _Section(_name(block) or "details")
                reading.sections.append(section)
            if isinstance(block, Heading):
                named = block.words if block.level == NAMING else ""
            section.is_main |= block.part == "main"
            section.blocks.append(block)
    reading.cautions += notes
    reading.sections = [each for each in reading.sections if any(map(_says, each.blocks))]
    reading.answers = reading.answers or [*_found(document)]
    if not alone and not reading.answers:
        blocks = [block for each in reading.sections for block in each.blocks]
        reading.is_section = True
        reading.sections = [_Section(_short(document.title), [Heading(_title(document)), *blocks])]
    elif not any(each.is_main for each in reading.sections):
        tables = (each for each in reading.sections if any(isinstance(block, Table) for block in each.blocks))
        for first in [*tables][:1]:
            first.is_main = True
    return reading


def _begins(block: Block, section: _Section) -> bool:
    """Say whether a block begins a section: a heading, or a table that is not the first under one."""
    if isinstance(block, Heading):
        return block.level < 4
    return isinstance(block, Table) and (
        section.name == "details" or any(isinstance(each, Table) for each in section.blocks)
    )


def _name(block: Block) -> str:
    match block:
        case Heading(words=words):
            name = words
        case Table():
            name = block.caption or block.label
        case _:
            name = ""
    return _short(name)


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1].rstrip()}…"


def _says(block: Block) -> bool:
    """Say whether a terminal shows anything of a block but a heading."""
    return not isinstance(block, Heading) and (isinstance(block, Table) or bool(render_blocks([block])))


def _found(document: ReportDocument) -> Iterator[Paragraph]:
    """Yield the findings of a page, each in one line, also that nothing was measured; no bare counts."""
    for block in document.blocks:
        for finding in block.findings if isinstance(block, Findings) else ():
            if finding.figures and not any(figure.interval for figure in finding.figures):
                continue
            if not finding.figures and not finding.instead:  # advice: a terminal has it under "Next"
                continue
            figures = "; ".join(
                f"{each.label}: {each.value}{f' ({each.interval})' * bool(each.interval)}, {each.rests_on}"
                for each in finding.figures
            )
            yield Paragraph(f"{finding.question} {figures or finding.instead}.", "strong")


def _title(document: ReportDocument) -> str:
    return f"{document.title}: {document.about}" if document.about else document.title


def _whole(reading: _Reading, *, several: bool) -> "list[RenderableType]":
    """Return all of a document, the answer first."""
    blocks = [block for section in reading.sections for block in section.blocks]
    return [
        *_head(reading, several=several),
        *render_blocks([*blocks, Notes(reading.cautions)]),
        *_last([reading]),
    ]


def _head(reading: _Reading, *, several: bool) -> "list[RenderableType]":
    """Return what answers, then the title; of several documents each answer stands under its title."""
    answers, title = render_blocks(reading.answers), _title(reading.document)
    if not title or reading.is_section:
        return answers
    style = "bold" if several or not answers else "dim"
    return [text(title, style), *answers] if several else [*answers, text(title, style)]


def _answers(
    readings: Sequence[_Reading], lines: int, width: int, left: _LeftOut, *, several: bool
) -> "list[RenderableType]":
    """Return the answers that fit into so many lines, the first one in any case."""
    parts: list[RenderableType] = []
    for reading in readings:
        if len(readings) > 1 and not reading.answers:
            continue
        fitting: list[Block] = []
        for block in reading.answers:
            more = [*fitting, block]
            drawn = _head(_Reading(reading.document, more), several=True) if several else render_blocks(more)
            if (parts or fitting) and not _fits([*parts, *drawn], width, lines):
                break
            fitting.append(block)
        left.answers += len(reading.answers) - len(fitting)
        if fitting or not several:
            head = _Reading(reading.document, fitting)
            parts += _head(head, several=several)
    return parts


def _fitting(items: list[str], lines: int, width: int) -> list[str]:
    """Return as many of the items as take so many lines, one at least."""
    n = min(len(items), max(lines, 1))  # an item takes a line at least
    while n > 1 and not _fits(render_blocks([Notes(items[:n])]), width, lines):
        n -= 1
    return items[:n]


def _last(readings: Sequence[_Reading], *, brief: bool = False) -> "list[RenderableType]":
    documents = [reading.document for reading in readings if reading.document.last]
    return [
        text((document.brief if brief else "") or document.last, STYLES[document.last_tone], before=1)
        for document in documents
    ]


def _filled(
    sections: Sequence[_Section], room: int, width: int, left: _LeftOut, *, hidden: bool
) -> "list[RenderableType]":
    """Return the sections that there is room for, the main ones first. hidden: none is shown."""
    parts: list[RenderableType] = []
    for section in sorted(sections, key=lambda section: not section.is_main):
        gap = [] if isinstance(section.blocks[0], Heading) or not parts else [text("")]
        blocks_shown, n_done = ([], 0) if hidden else _fill(section, room - len(gap), width, left)
        rest = section.blocks[n_done:]
        hidden = hidden or n_done < len(section.blocks) or len(blocks_shown) > n_done
        rendered = [*gap, *render_blocks(blocks_shown)] if blocks_shown else []
        parts += rendered
        room -= _height(rendered, width)
        left.sections += [section.name] if any(map(_says, rest)) else []
        left.cautions += sum(
            block.cautions + (_warned(block.rows, ("warn",)) if isinstance(block, Table) else 0)
            for block in rest
        )
    return parts


def _fill(section: _Section, room: int, width: int, left: _LeftOut) -> tuple[list[Block], int]:
    """Return what there is room for of a section, its table cut, and how many of its blocks that is."""
    fitting: list[Block] = []
    for at, whole in enumerate(section.blocks):
        block, columns = _narrow(whole, width) if isinstance(whole, Table) else (whole, [])
        if _fits(render_blocks([*fitting, block]), width, room):
            fitting.append(block)
            left.columns += columns
            continue
        lines = room - _height(render_blocks(fitting), width)
        cut = _cut(block, lines, width, left) if isinstance(block, Table) else []
        if cut:
            left.columns += columns
            return [*fitting, *cut], at + 1
        return (fitting, at) if any(map(_says, fitting)) else ([], 0)
    return fitting, len(section.blocks)


def _narrow(table: Table, width: int) -> tuple[Table, list[str]]:
    """Return a table that is too wide without its rare columns, the last first, and the heads of these."""
    from rich.console import Console

    console = Console(width=10 * width, file=io.StringIO())
    heads: list[str] = []
    while any(column.rare for column in table.columns):
        if max(console.measure(part).maximum for part in render_blocks([table])) <= width:
            break
        last = max(at for at, column in enumerate(table.columns) if column.rare)
        heads.insert(0, table.columns[last].head)
        whole = len(table.columns)
        table = msgspec.structs.replace(
            table,
            columns=[column for at, column in enumerate(table.columns) if at != last],
            rows=[
                [cell for at, cell in enumerate(row) if at != last] if len(row) == whole else row
                for row in table.rows
            ],
        )
    return table, heads


def _cut(table: Table, lines: int, width: int, left: _LeftOut) -> list[Block]:
    """Return the first rows of a table and how many more there are; nothing where few would fit."""
    rows = list(table.rows)
    n = min(len(rows), lines)
    while n > 0 and (
        len(rows[n - 1]) < len(table.columns)  # the head of a group without its rows
        or not _fits(render_blocks([_first(table, n)]), width, lines - 1)
    ):
        n -= 1
    n = max(n, 0)
    data = [row for row in rows[:n] if len(row) == len(table.columns)]
    beyond = [row for row in rows[n:] if len(row) == len(table.columns)]
    if not data:
        return []
    left.rows += len(beyond)
    left.warned += _warned(beyond, ("warn", "bad"))
    return [_first(table, n), Paragraph(f"and {count(len(beyond))} more", "muted")]


def _warned(rows: Sequence[Row], tones: Sequence[Tone]) -> int:
    """Return how many rows have a cell with a caution, or of such a tone."""
    return sum(
        any(isinstance(cell, Cell) and (cell.caution or cell.tone in tones) for cell in row) for row in rows
    )


def _first(table: Table, n: int) -> Table:
    return msgspec.structs.replace(table, rows=table.rows[:n])
