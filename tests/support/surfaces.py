"""What a document is on each surface, for tests."""

import io
from collections.abc import Iterable, Iterator

import msgspec
from rich.cells import cell_len
from rich.console import Console
from tests.features.report.test_page import Page

from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Fold,
    Heading,
    Link,
    Listing,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
)
from ragstone.kernel.document.charts import Chart, ChartPanel, ChartPanels
from ragstone.kernel.document.html import render_page
from ragstone.kernel.document.plots.values import Frontier, Plot, PlotPoint
from ragstone.kernel.document.terminal import render_terminal
from ragstone.kernel.statistics import Estimate


def shown(document: ReportDocument, width: int = 100) -> str:
    """Return what a terminal shows, which is no wider than it."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(render_terminal(document))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert max(map(cell_len, text.splitlines()), default=0) <= width
    return text


def page_text(document: ReportDocument) -> str:
    """Return what a page says."""
    return Page(render_page(document)).text


def plots_in(document: ReportDocument) -> dict[str, Plot]:
    """Return the plots of a page, by name."""

    def of(blocks: Iterable[Block]) -> Iterator[Plot]:
        for block in blocks:
            if isinstance(block, Plot):
                yield block
            elif isinstance(block, SurfacePart | Fold):
                yield from of(block.blocks)

    return {plot.name: plot for plot in of(document.blocks)}


def document(*blocks: Block) -> ReportDocument:
    """Return a document of these blocks."""
    return ReportDocument(
        title="run",
        kind="test",
        about="",
        version="0",
        blocks=list(blocks),
        skip=("board", "board"),
        made=[],
        source="run.json",
        last="No model was called.",
    )


def every_block(words: str) -> ReportDocument:
    """Return a document of every kind of block, with these words wherever text from outside can stand."""
    found = Estimate(value=0.5, low=0.4, high=0.6, n=10, method="bootstrap")
    cells = [
        Cell(words, words, "open"),
        Cell(words, words, "best", at=found, share=0.5, heat=2, framed=True),
        Cell(words, links=(Link(words, words, words),)),
    ]
    columns = [Column(words, text=True), Column(words, ends=(0, 1), bars=True, beside=words), Column(words)]
    inner: list[Block] = [
        Heading(words, level=3, anchor="a"),
        *(Paragraph(words, tone) for tone in ("", "strong", "muted", "lead", "outcome", "warn")),
        Paragraph(words, link=Link(words, words, words)),
        Listing([words], prose=True),
        Pairs([(words, words)]),
        Table(columns, [[words], cells], words, words),
        Plot(name="p", title=words, figure=_frontier(words, found), said=[words]),
    ]
    return ReportDocument(
        title=words,
        kind="test",
        about=words,
        version="0",
        blocks=[
            *inner,
            Notes([words]),
            Heading(words, anchor="b"),
            Fold(words, inner),
            SurfacePart(inner, "charts"),
        ],
        skip=("a", "a"),
        made=[(words, words)],
        source="test.json",
        last=words,
        back=Link(words, words),
    )


def _frontier(words: str, found: Estimate) -> Frontier:
    points = [
        PlotPoint(name=words, value=found.value, low=found.low, high=found.high, x=x) for x in (0.1, None)
    ]
    return Frontier(points=points, unit="usd", across=words, upwards=words, nothing=words)


def every_block_and_chart(words: str) -> ReportDocument:
    """Return the same with charts, which bring scripts and a form."""
    chart = Chart(name="c", title=words, said=words, spec={"title": words}, head=[words], rows=[[words]])
    panel = ChartPanel(
        metric=words,
        tag=words,
        span=words,
        charts=[(words, words, chart)],
        head=[words],
        rows=[[words]],
        more=0,
    )
    whole = every_block(words)
    return msgspec.structs.replace(whole, blocks=[*whole.blocks, chart, ChartPanels(panels=[panel])])
