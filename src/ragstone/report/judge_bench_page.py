"""bench.json of judges -> report.html beside it: one file that asks nothing of any network."""

from collections.abc import Callable
from pathlib import Path

from ragstone.agreement.bench.board import JudgeBoard, JudgeStanding
from ragstone.report import judge_bench_words
from ragstone.report.bench_page import decade_s
from ragstone.report.judge_bench import JudgeBenchSummary, read_judge_bench
from ragstone.report.render.html import asset, environment, policy, put_page, safe
from ragstone.report.scatter import Chart, Point, draw_scatter


def write_judge_bench(folder: Path) -> Path:
    """Write report.html from bench.json of a folder, and return its path. Raises DataError."""
    return put_page(folder / "report.html", render_judge_bench(read_judge_bench(folder)))


def render_judge_bench(summary: JudgeBenchSummary) -> str:
    """Return the bench of judges as one HTML document."""
    css = asset("page.css") + asset("bench.css")
    words = {name: value for name, value in vars(judge_bench_words).items() if callable(value)}
    board = summary.board
    return (
        environment()
        .get_template("judges.html")
        .render(
            words,
            summary=summary,
            board=board,
            choice=summary.choice,
            span=_span(board),
            cost=draw_price(board, lambda row: row.spent.usd_each, _decade_usd, "0 USD"),
            time=draw_price(board, lambda row: row.spent.seconds_each, decade_s, "no model"),
            css=safe(css),
            policy=policy(css),
        )
    )


def draw_price(
    board: JudgeBoard,
    price: Callable[[JudgeStanding], float | None],
    decade: Callable[[int], str],
    nothing: str,
) -> Chart | None:
    """Return agreement against the price of a judgement; None unless a price above 0 is known.

    decade, nothing: see draw_scatter.
    """
    known = [(row, price(row)) for row in board.standings]
    points = [
        Point(
            place=row.place,
            name=row.cell.name,
            verdict=row.verdict,
            x=x,
            value=row.value.value,
            low=row.value.low,
            high=row.value.high,
        )
        for row, x in known
        if x is not None
    ]
    return draw_scatter(points, decade, nothing) if any(point.x for point in points) else None


def _span(board: JudgeBoard) -> tuple[float, float]:
    """Return the ends of the small drawings of intervals."""
    ends = [end for row in board.standings for end in (row.value.value, row.value.low, row.value.high)]
    known = [end for end in ends if end is not None]
    return min(0.0, *known, 0.0), max(1.0, *known, 1.0)


def _decade_usd(power: int) -> str:
    """Return a power of ten of US dollars a judgement, as what a thousand of them cost."""
    return f"{10.0 ** (power + 3):g} USD"
