"""bench.json of answerers -> report.html beside it: one file that asks nothing of any network."""

from collections.abc import Callable
from pathlib import Path

from ragstone.config import Condition
from ragstone.experiments.answer_board import AnswerBoard, AnswerStanding
from ragstone.report import answer_bench_words, answer_race_words
from ragstone.report.answer_bench import AnswerBenchSummary, read_answer_bench
from ragstone.report.bench_page import decade_s
from ragstone.report.bench_words import seconds
from ragstone.report.render.html import asset, environment, policy, put_page, safe
from ragstone.report.scatter import Chart, Point, draw_scatter, draw_shares
from ragstone.statistics import Estimate


def write_answer_bench(folder: Path) -> Path:
    """Write report.html from bench.json of a folder, and return its path. Raises DataError."""
    return put_page(folder / "report.html", render_answer_bench(read_answer_bench(folder)))


def render_answer_bench(summary: AnswerBenchSummary) -> str:
    """Return the bench of answerers as one HTML document."""
    css = asset("page.css") + asset("bench.css")
    said = vars(answer_bench_words) | vars(answer_race_words)
    words = {name: value for name, value in said.items() if callable(value)}
    board = summary.board
    return (
        environment()
        .get_template("answerers.html")
        .render(
            words,
            summary=summary,
            board=board,
            groups=answer_bench_words.by_condition(board),
            names=answer_bench_words.columns(board),
            trade=draw_trade(board),
            priced=priced_condition(board),
            cost=draw_price(board, lambda row: row.spent.usd_each, _decade_usd, "0 USD"),
            time=draw_price(board, lambda row: row.seconds.p50 if row.seconds else None, decade_s, "0 s"),
            seconds=seconds,
            css=safe(css),
            policy=policy(css),
        )
    )


def draw_trade(board: AnswerBoard) -> Chart | None:
    """Return how faithful answers are against how many questions are left unanswered; None without both."""
    points = [
        _point(row, row.measures["unanswered"].value, row.measures["faithful"])
        for row in board.standings
        if {"unanswered", "faithful"} <= row.measures.keys()
    ]
    return draw_shares(points) if points else None


def priced_condition(board: AnswerBoard) -> Condition:
    """Return the condition whose scores are drawn against prices: that of an application, if it is there."""
    there = [row.cell.condition for row in board.standings]
    return "retrieved" if "retrieved" in there else there[0]


def draw_price(
    board: AnswerBoard,
    price: Callable[[AnswerStanding], float | None],
    decade: Callable[[int], str],
    nothing: str,
) -> Chart | None:
    """Return the score against the price of an answer under one condition (see priced_condition).

    Points of all conditions would stand on each other. None unless a price above 0 is known.
    """
    points = [
        _point(row, x, row.score.mean)
        for row in board.standings
        if row.cell.condition == priced_condition(board)
        and row.score is not None
        and (x := price(row)) is not None
    ]
    return draw_scatter(points, decade, nothing) if any(point.x for point in points) else None


def _point(row: AnswerStanding, x: float, estimate: Estimate) -> Point:
    return Point(
        place=row.place,
        name=row.cell.name,
        verdict=row.verdict,
        x=x,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
    )


def _decade_usd(power: int) -> str:
    """Return a power of ten of US dollars an answer, as what a thousand of them cost."""
    return f"{10.0 ** (power + 3):g} USD"
