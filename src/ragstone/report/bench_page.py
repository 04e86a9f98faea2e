"""leaderboard.json -> report.html beside it: one file that asks nothing of any network."""

import math
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.report import bench_words
from ragstone.report.bench import BenchSummary, read_leaderboard
from ragstone.report.bench_words import lead_of
from ragstone.report.html import asset, environment, policy, put_page, safe

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 48, 32, 12, 36  # as in the template


class Dot(msgspec.Struct, frozen=True):
    """A configuration in the chart: where it stands, and the ends of its interval."""

    place: int
    name: str
    verdict: str
    x: float
    y: float
    low: float
    high: float


class Tick(msgspec.Struct, frozen=True):
    """A line of the chart's grid, and what it is called."""

    at: float
    label: str


class Chart(msgspec.Struct, frozen=True):
    """Quality against latency, in the units of the drawing."""

    dots: list[Dot]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


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
    leads = [lead_of(row, board) for row in board.standings]
    times = [max(row.timing.p50_s, 1e-6) for row in board.standings]
    low, high = _powers(times)
    ends = [end for lead in leads for end in (lead.value, lead.low, lead.high) if end is not None]
    floor, ceiling = math.floor(min(ends) * 10) / 10, max(math.ceil(max(ends) * 10) / 10, 0.1)
    floor = min(floor, ceiling - 0.1)

    def x_of(value: float) -> float:
        share = (math.log10(value) - low) / (high - low)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def y_of(value: float) -> float:
        return round(HEIGHT - BOTTOM - (value - floor) / (ceiling - floor) * (HEIGHT - BOTTOM - TOP), 1)

    return Chart(
        dots=[
            Dot(
                place=row.place,
                name=row.configuration.name,
                verdict=row.verdict.partition(" ")[0],
                x=x_of(time),
                y=y_of(lead.value),
                low=y_of(lead.value if lead.low is None else lead.low),
                high=y_of(lead.value if lead.high is None else lead.high),
            )
            for row, lead, time in zip(board.standings, leads, times, strict=True)
        ],
        x_ticks=[Tick(x_of(10.0**power), _decade(power)) for power in range(low, high + 1)],
        y_ticks=[
            Tick(y_of(step / 10), f"{step / 10:.1f}")
            for step in range(round(floor * 10), round(ceiling * 10) + 1)
        ],
    )


def _powers(times: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten that hold all times."""
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    return low, max(high, low + 1)


def _decade(power: int) -> str:
    """Return a power of ten of seconds in a fitting unit."""
    if power >= 0:
        return f"{10**power:,} s"
    return f"{10 ** (power + 3):g} ms" if power >= -3 else f"{10 ** (power + 6):g} µs"
