"""Documents -> the outputs of a notebook's cell: the words and tables of a terminal as HTML, and its charts.

So every summary has one wording: whatever a command prints, a notebook can show. A chart is Vega-Lite, with a
drawing (SVG) for who does not show that; a plot is that drawing alone. Both have a white ground of their own,
for neither knows whether the page around them is dark.
"""

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.kernel.document.blocks import Block, Fold, ReportDocument, SurfacePart
from ragstone.kernel.document.charts import Dot, Dots
from ragstone.kernel.document.plots.drawing import lone_svg
from ragstone.kernel.document.plots.values import Intervals, Plot, PlotPoint
from ragstone.kernel.document.terminal import render_terminal
from ragstone.kernel.errors import harmless
from ragstone.kernel.tables.shown import Bundle

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.style import Style
    from rich.table import Column, Table
    from rich.text import Text

VEGA_LITE = "application/vnd.vegalite.v5+json"
SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # a name; nothing is loaded from there
MOST_DOTS = 30  # a chart that fits a screen; the table has them all
# Dark enough on white, and apart for people who see no red or green (Okabe and Ito 2008, in darker shades).
COLOURS = ("#00527a", "#a34700", "#00664b", "#8f3d70", "#5c4b00", "#404040")
LEFT, WIDTH = 250, 320
PLAIN_WIDTH = 100
# No colour of text or ground is set: both are the notebook's, so that light and dark work.
STYLE = """\
.ragstone{font-size:13px;line-height:1.4;max-width:72rem}
.ragstone p{margin:0;white-space:pre-wrap;text-align:left}
.ragstone p.gap{margin-top:.8em}
.ragstone table{border-collapse:collapse;margin:.4em 0;font-size:inherit;color:inherit}
.ragstone th,.ragstone td{border:0;padding:.15em .7em .15em 0;text-align:left;vertical-align:top;\
white-space:pre-wrap;max-width:32rem;overflow-wrap:anywhere}
.ragstone th,.ragstone .right{overflow-wrap:normal}
.ragstone td:not(.right){min-width:4.5em}
.ragstone thead th{border-bottom:1px solid currentColor;font-weight:normal;opacity:.75}
.ragstone .right{text-align:right;font-variant-numeric:tabular-nums}
.ragstone .dim{opacity:.75}
.ragstone .warn{border-left:3px solid #d97706;padding-left:.4em}
"""


def render_bundles(documents: Sequence[ReportDocument]) -> list[Bundle]:
    """Return the words and tables, then each chart, every one with a plain text beside."""
    plain_texts = list(map(render_terminal, documents))
    drawn = [
        {VEGA_LITE: vega_lite(chart), "image/svg+xml": svg(chart), "text/plain": f"Chart: {chart.title}"}
        if isinstance(chart, Dots)
        else {"image/svg+xml": _fitted(chart), "text/plain": f"Chart: {chart.title}. {' '.join(chart.said)}"}
        for chart in _charts(documents)
    ]
    return [{"text/html": fragment(plain_texts), "text/plain": plain(plain_texts)}, *drawn]


def render_html(documents: Sequence[ReportDocument]) -> str:
    """Return the words, the tables and the drawn charts as one piece of HTML."""
    charts = "".join(
        f"<div>{svg(chart) if isinstance(chart, Dots) else _fitted(chart)}</div>\n"
        for chart in _charts(documents)
    )
    return fragment(map(render_terminal, documents)) + charts


def render_svgs(documents: Sequence[ReportDocument]) -> dict[str, str]:
    """Return every plot of the documents by name, those of their parts too, as drawings that stand alone."""

    def plots(blocks: Iterable[Block]) -> Iterator[Plot]:
        for block in blocks:
            if isinstance(block, Plot):
                yield block
            elif isinstance(block, SurfacePart | Fold):
                yield from plots(block.blocks)

    return {plot.name: lone_svg(plot) for document in documents for plot in plots(document.blocks)}


def _charts(documents: Sequence[ReportDocument]) -> list[Dots | Plot]:
    return [
        block
        for document in documents
        for block in document.blocks
        if isinstance(block, Dots) or (isinstance(block, Plot) and block.where == "everywhere")
    ]


def fragment(parts: "Iterable[RenderableType]") -> str:
    """Return what rich would print as one element of HTML. It holds no script and no address."""
    body = "".join(_html(part) for part in parts)
    return f'<style>{STYLE}</style>\n<div class="ragstone">\n{body}</div>\n'


def plain(parts: "Iterable[RenderableType]") -> str:
    """Return what rich would print as plain text, 100 columns wide."""
    console = _console()
    for part in parts:
        console.print(part)
    file = console.file
    assert isinstance(file, StringIO)
    lines = (line.rstrip() for line in harmless(file.getvalue()).splitlines())
    return "\n".join(lines).rstrip()


def _console() -> "Console":
    from rich.console import Console

    return Console(
        file=StringIO(),
        width=PLAIN_WIDTH,
        color_system=None,
        highlight=False,
        markup=False,
        force_jupyter=False,  # else rich hands what it prints to the notebook, in place of to the file
    )


def _html(part: "RenderableType") -> str:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    if isinstance(part, Group):
        return "".join(map(_html, part.renderables))
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, str):
        return _paragraph(Text(part))
    if isinstance(part, Text):
        return _paragraph(part)
    return f"<pre>{escape(plain([part]))}</pre>\n"


def _paragraph(text: "Text") -> str:
    """Return a line of words; one that begins with a line break stands apart from what is above it."""
    content = text.plain.strip("\n")
    if not content.strip():
        return ""
    kinds = [*(["gap"] if text.plain.startswith("\n") else []), *_kinds(_base(text))]
    inner = _spans(text)
    return f'<p dir="auto"{_class(kinds)}>{inner}</p>\n'


def _table(table: "Table") -> str:
    """Return a table with the cells of rich's, its heads and its alignment."""
    heads = "".join(_cell("th", column.header, column) for column in table.columns)
    rows = zip(*(list(column.cells) for column in table.columns), strict=True)
    body = "".join(
        "<tr>" + "".join(_cell("td", cell, column) for cell, column in zip(row, table.columns, strict=True))
        + "</tr>\n"
        for row in rows
    )  # fmt: skip
    head = f"<thead><tr>{heads}</tr></thead>\n" if table.show_header else ""
    return f"<table>\n{head}<tbody>\n{body}</tbody>\n</table>\n"


def _cell(tag: str, content: "RenderableType", column: "Column") -> str:
    from rich.text import Text

    kinds = ["right"] if column.justify == "right" else []
    if isinstance(content, str):
        content = Text(content)
    inner = _html(content)
    if isinstance(content, Text):
        kinds += _kinds(_base(content))
        inner = _spans(content)
    return f'<{tag} dir="auto"{_class(kinds)}>{inner}</{tag}>'


def _spans(text: "Text") -> str:
    """Return the words, those in bold marked so."""
    parts = []
    for segment in text.render(_console()):
        if segment.text:
            inner = escape(harmless(segment.text))
            parts.append(f"<b>{inner}</b>" if segment.style and segment.style.bold else inner)
    content = "".join(parts).strip("\n")
    return f"<b>{content}</b>" if _base(text).bold and content.strip() else content


def _base(text: "Text") -> "Style":
    from rich.style import Style

    return Style.parse(text.style) if isinstance(text.style, str) else text.style


def _kinds(style: "Style") -> list[str]:
    warned = style.color is not None and style.color.name in ("yellow", "red")
    return [*(["dim"] if style.dim else []), *(["warn"] if warned else [])]


def _class(kinds: list[str]) -> str:
    return f' class="{" ".join(kinds)}"' if kinds else ""


def vega_lite(chart: Dots) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification with its data in it."""
    dots = _shown(chart)
    low, high = _ends(chart)
    axis = {"field": "value", "type": "quantitative", "title": None, "scale": {"domain": [low, high]}}
    names: dict[str, Any] = {"field": "name", "type": "nominal", "title": None, "sort": None}
    names["axis"] = {"labelLimit": LEFT}
    groups = list(dict.fromkeys(dot.group for dot in dots))
    colour: dict[str, Any] = {"value": COLOURS[0]}
    if len(groups) > 1:
        colour = {"field": "group", "type": "nominal", "title": None}
        colour["scale"] = {
            "domain": groups,
            "range": [COLOURS[n % len(COLOURS)] for n, _ in enumerate(groups)],
        }
    tips = [{"field": field} for field in ("name", "group", "value", "low", "high")]
    span = {"x": axis | {"field": "low"}, "x2": {"field": "high"}}
    line = {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": span}
    point = {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {"x": axis}}
    rows: dict[str, Any] = {"y": names, "color": colour, "tooltip": tips}
    if len({dot.name for dot in dots}) < len(dots):  # side by side, not one upon the other
        rows["yOffset"] = {"field": "group", "sort": groups}
    return {
        "$schema": SCHEMA,
        "title": chart.title,
        "background": "white",
        "width": WIDTH,
        "data": {"values": [msgspec.structs.asdict(dot) for dot in dots]},
        "encoding": rows,
        "layer": [line, point],
    }


def svg(chart: Dots) -> str:
    """Return the chart as a drawing that needs no script and no font."""
    points = [
        PlotPoint(name=dot.name, value=dot.value, low=dot.low, high=dot.high, group=dot.group)
        for dot in _shown(chart)
    ]
    figure = Intervals(points=points, axis="", of="Name", ends=_ends(chart))
    return _fitted(Plot(name="dots", title=chart.title, figure=figure))


def _fitted(plot: Plot) -> str:
    """Return the drawing of a plot, no wider than the cell that shows it."""
    return lone_svg(plot).replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)


def _shown(chart: Dots) -> list[Dot]:
    return chart.dots[:MOST_DOTS]


def _ends(chart: Dots) -> tuple[float, float]:
    """Return the ends of the axis: those given, and those of every interval."""
    values = [end for dot in chart.dots for end in (dot.value, dot.low, dot.high) if end is not None]
    low, high = min([*values, *(chart.ends or ())]), max([*values, *(chart.ends or ())])
    return (low, high) if low < high else (low - 1, high + 1)
