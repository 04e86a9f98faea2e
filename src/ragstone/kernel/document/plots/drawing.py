"""Plots -> SVG: for a page, whose style colours it, and alone, for a file, a notebook or an e-mail."""

from html import escape
from urllib.parse import quote

from ragstone.kernel.document.plots._frontier import draw_frontier
from ragstone.kernel.document.plots._intervals import draw_intervals
from ragstone.kernel.document.plots._pen import NARROW, WIDE, Sketch, lone, write
from ragstone.kernel.document.plots._reliability import draw_reliability
from ragstone.kernel.document.plots._shares import draw_shares
from ragstone.kernel.document.plots._slopes import draw_slopes
from ragstone.kernel.document.plots.values import Frontier, Intervals, Plot, PlotFigure, Reliability, Slopes
from ragstone.kernel.document.room import shortened
from ragstone.kernel.errors import harmless

MARGIN, TITLE = 16, 34  # of a drawing that stands alone: around it, and for its title
LONGEST_ABOUT = 2_000  # characters; the page beside a drawing has the whole text
SAFE = " =;,.()!$*@-_~+'?"


def sketch(figure: PlotFigure, width: int) -> Sketch:
    """Return a figure drawn so many units wide."""
    match figure:
        case Intervals():
            return draw_intervals(figure, width)
        case Slopes():
            return draw_slopes(figure, width)
        case Reliability():
            return draw_reliability(figure, width)
        case Frontier():
            return draw_frontier(figure, width)
        case _:
            return draw_shares(figure, width)


def page_svgs(plot: Plot) -> list[str]:
    """Return the drawing of a page twice: with room, and for a narrow place. page.css shows one of both."""
    return [_page_svg(plot, width, kind) for width, kind in ((WIDE, "wide"), (NARROW, "narrow"))]


def _page_svg(plot: Plot, width: int, kind: str) -> str:
    drawn = sketch(plot.figure, width)
    title, about = f"{plot.name}-{kind}-title", f"{plot.name}-{kind}-about"
    return (
        f'<svg class="chart {kind}" viewBox="0 0 {width} {drawn.height}" width="{width}" '
        f'height="{drawn.height}" role="img" aria-labelledby="{title} {about}">'
        f'<title id="{title}">{_read_aloud(plot.title)}</title>'
        f'<desc id="{about}">{_read_aloud(_about(plot))}</desc>{"".join(drawn.parts)}</svg>'
    )


def lone_svg(plot: Plot) -> str:
    """Return the drawing as a file of its own: on white, with its title, no style, no script and no font."""
    drawn = sketch(plot.figure, WIDE)
    width, height = WIDE + 2 * MARGIN, drawn.height + TITLE + 2 * MARGIN
    title = lone([write(0, 14, plot.title, "strong", room=WIDE)])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="13">'
        f"<title>{_read_aloud(plot.title)}</title><desc>{_read_aloud(_about(plot))}</desc>"
        f'<rect width="100%" height="100%" fill="#fff"/><g transform="translate({MARGIN} {MARGIN})">'
        f'{title}<g transform="translate(0 {TITLE})">{lone(drawn.parts)}</g></g></svg>'
    )


def svg_address(plot: Plot) -> str:
    """Return the drawing as an address (data:) to download it from: no server, no script."""
    return f"data:image/svg+xml;charset=utf-8,{quote(lone_svg(plot), safe=SAFE)}"


def _read_aloud(text: str) -> str:
    """Return what a screen reader says of a drawing: no longer than anybody would listen to."""
    return escape(harmless(shortened(text, LONGEST_ABOUT)[0]))


def _about(plot: Plot) -> str:
    return " ".join([*plot.said, "The numbers follow as a table."])
