"""A document -> Markdown as GitHub and GitLab know it, for a pull request.

Whatever comes from outside stands as plain text: it sets no markup, mentions nobody and links nowhere.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Diff,
    Figure,
    Findings,
    Fold,
    Heading,
    HeadlineFinding,
    Listing,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
    flat,
)
from ragstone.kernel.document.charts import Chart
from ragstone.kernel.document.plots.tables import numbers_of
from ragstone.kernel.document.plots.values import Plot
from ragstone.kernel.errors import harmless

LONGEST_CELL = 200
SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
MARKUP = re.compile(r"[\\`*_\[\]|~$]")
AT_THE_START = re.compile(r"^(?=[-+=#])|(?<=^\d)(?=[.)](?:\s|$))|(?<=^\d\d)(?=[.)](?:\s|$))")
HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# What sites make links, mentions and references of in any text, however it is escaped: broken by a space
# that nobody sees.
LINKS = re.compile(r"@|#|://|www\.|\bGH-")
UNSEEN = "\u200b"


def render_markdown(document: ReportDocument) -> str:
    """Return the document, with room for all that a page shows in words."""
    return "\n\n".join([f"## {plain(document.title)}", *_parts(document.blocks)]) + "\n"


def _parts(blocks: Iterable[Block]) -> Iterator[str]:
    for block in flat(blocks, "page"):
        match block:
            case Findings(findings=findings):
                yield from (part for finding in findings for part in _finding(finding))
            case Notes(items=items) if items:
                yield "### Before you trust these numbers"
                yield "\n".join(f"- {prose(item)}" for item in items)
            case Table():
                yield _table(block)
            case SurfacePart():
                yield from _parts(block.blocks)
            case Chart(title=title, head=head, rows=rows):
                table = Table([Column(name) for name in head], rows, title)
                yield from _parts([Fold(f"{title}: numbers", [table])])
            case Plot(title=title, figure=figure, said=said, in_markdown=True):
                head, rows = numbers_of(figure)
                yield from map(_line, said)
                table = Table([Column(name) for name in head], rows, title)
                yield from _parts([Fold(f"{title}: numbers", [table])])
            case Fold(summary=summary):
                inner = "\n\n".join(_parts(block.blocks))
                yield f"<details><summary>{_line(summary)}</summary>\n\n{inner}\n\n</details>"
            case _:
                yield from _words(block)


def _words(block: Block) -> Iterator[str]:
    match block:
        case Heading(words=text, level=level):
            yield f"{'#' * (level + 1)} {_line(text)}"
        case Paragraph(words=text, tone=tone) if text:
            line = prose(text) if block.prose else _line(text)
            yield f"**{line}**" if tone in ("strong", "outcome") else line
        case Listing(items=items) if items:
            yield "\n".join(f"- {prose(item) if block.prose else _line(item)}" for item in items)
        case Diff(lines=lines) if lines:
            yield _fenced("\n".join(map(harmless, lines)), "diff")
        case Pairs(rows=rows):
            yield "<br>".join(f"{_line(name)}: {_line(text)}" for name, text in rows)


def _fenced(text: str, kind: str) -> str:
    """Return text between fences that nothing within it can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{kind}\n{text}\n{fence}"


def _finding(finding: HeadlineFinding) -> Iterator[str]:
    yield f"**{plain(finding.question)}**"
    if finding.figures:
        yield "\n".join(map(_figure, finding.figures))
    elif finding.instead:
        yield f"{finding.instead}."
    sentences = [finding.below] * bool(finding.below) + finding.sentences
    if sentences:
        yield " ".join(map(prose, sentences))


def _figure(figure: Figure) -> str:
    around = ", ".join(plain(part) for part in (figure.interval, figure.rests_on) if part)
    return f"- {plain(figure.label)}: **{plain(figure.value)}** ({around})"


def _table(block: Table) -> str:
    """Return a table; what stands beside a cell follows it, and the head of a group is a row in bold."""
    columns = [(at, column) for at, column in enumerate(block.columns) if column.where != "terminal"]
    rows = []
    for row in block.rows:
        cells = [each if isinstance(each, Cell) else Cell(each) for each in row]
        if len(cells) < len(block.columns):
            rows.append([f"**{plain(cells[0].words)}**", *[""] * (len(columns) - 1)])
            continue
        rows.append([_cell(cells[at]) for at, _ in columns])
    text = {number for number, (_, column) in enumerate(columns) if column.text}
    heads = [plain(column.head) for _, column in columns]
    table = markdown_table(heads, rows, numbers=set(range(len(columns))) - text)
    return f"{_line(block.caption)}\n\n{table}" if block.caption else table


def _cell(cell: Cell) -> str:
    content = (
        f"**{plain(cell.words)}**"
        if cell.words and cell.tone in ("strong", "good", "bad", "best", "open")
        else plain(cell.words)
    )
    if not cell.words:  # what a page shows as links names the row
        content = ", ".join(plain(link.words) for link in cell.links)
    return " ".join(filter(None, [content, plain(cell.beside), plain(cell.caution)]))


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: set[int]) -> str:
    """Return a table of cells that are escaped; `numbers`: the columns that stand to the right."""
    rule = ["---:" if at in numbers else "---" for at in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))


def _line(text: str) -> str:
    return escape(" ".join(text.split()))


def plain(text: str) -> str:
    """Return a text from outside on one line, with everything escaped that Markdown or HTML could obey."""
    line = SPACE.sub(" ", text).strip()
    short = line if len(line) <= LONGEST_CELL else line[: LONGEST_CELL - 1].rstrip() + "…"
    return escape(AT_THE_START.sub(UNSEEN, short))


def escape(line: str) -> str:
    """Return a line of any length with everything escaped that Markdown or HTML could obey within it."""
    escaped = MARKUP.sub(lambda match: "\\" + match[0], line)
    for character, entity in HTML.items():
        escaped = escaped.replace(character, entity)
    return LINKS.sub(lambda match: match[0][0] + UNSEEN + match[0][1:], escaped)


def prose(text: str) -> str:
    """Return a sentence of ours, in which commands stand between backticks and may hold outside text."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return plain(text)
    return "".join(
        f"<code>{plain(piece)}</code>" if at % 2 else _kept(piece) for at, piece in enumerate(pieces)
    )


def _kept(text: str) -> str:
    """Return plain text with the spaces at its ends, which stand beside a command."""
    start, end = " " * text[:1].isspace(), " " * text[-1:].isspace()
    return start + plain(text) + end if text.strip() else " " * bool(text)
