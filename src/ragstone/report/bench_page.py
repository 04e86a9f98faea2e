"""leaderboard.json -> report.html beside it: one file that asks nothing of any network."""

from pathlib import Path

from ragstone.report import bench_words
from ragstone.report.bench import BenchSummary, read_leaderboard
from ragstone.report.bench_words import lead_of
from ragstone.report.render.html import asset, environment, policy, put_page, safe
from ragstone.report.scatter import Chart, Point, draw_scatter


def write_leaderboard(folder: Path) -> Path:
    """Write report.html from leaderboard.json of a folder, and return its path. Raises DataError."""
    return put_page(folder / "report.html", render_leaderboard(read_leaderboard(folder)))


def render_leaderboard(summary: BenchSummary) -> str:
    """Return the leaderboard as one HTML document."""
    css = asset("page.css") + asset("bench.css")
    words = {name: value for name, value in vars(bench_words).items() if callable(value)}
    return (
        environment()
        .get_template("leaderboard.html")
        .render(
            words,
            summary=summary,
            board=summary.leaderboard,
            chart=draw(summary),
            css=safe(css),
            policy=policy(css),
        )
    )


def draw(summary: BenchSummary) -> Chart:
    """Return the chart: the median seconds of a question on a logarithmic scale, the measure upwards."""
    board = summary.leaderboard
    points = [
        Point(
            place=row.place,
            name=row.configuration.name,
            verdict=row.verdict,
            x=max(row.timing.p50_s, 1e-6),
            value=lead.value,
            low=lead.low,
            high=lead.high,
        )
        for row in board.standings
        for lead in [lead_of(row, board)]
    ]
    return draw_scatter(points, decade_s)


def decade_s(power: int) -> str:
    """Return a power of ten of seconds in a fitting unit."""
    if power >= 0:
        return f"{10**power:,} s"
    return f"{10 ** (power + 3):g} ms" if power >= -3 else f"{10 ** (power + 6):g} µs"
