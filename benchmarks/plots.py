"""What a page with charts sends, how long a plot takes to draw, and how long an order takes to resample.

    python -m benchmarks.plots

One figure of each kind with 10 and with 200 things; the bytes are those of the whole page, with its style and
its table, plain and as a server sends them (gzip). Beside them: what the library of other charts weighs.
"""

import gzip
import time

import numpy as np

from ragstone.kernel.document.blocks import Heading, ReportDocument
from ragstone.kernel.document.html import libraries, render_page
from ragstone.kernel.document.plots.values import (
    Frontier,
    Intervals,
    Plot,
    PlotFigure,
    PlotPoint,
    Reliability,
    Slopes,
)
from ragstone.kernel.runs.order_plots import rank_plot
from ragstone.kernel.statistics.ranks import rank_shares

QUESTIONS = 1000


def _plots(n: int) -> list[Plot]:
    rng = np.random.default_rng(0)
    means = rng.uniform(0.4, 0.9, n)
    points = [
        PlotPoint(
            name=f"system number {at}",
            value=mean,
            low=mean - 0.05,
            high=mean + 0.05,
            x=10 ** rng.uniform(-5, -2),
        )
        for at, mean in enumerate(means)
    ]
    moves = [
        PlotPoint(name=f"q{at} · What is asked in question {at}?", x=0.2, value=0.9)
        for at in range(min(n, 30))
    ]
    bins = [PlotPoint(name=str(at), x=at / 10, value=at / 10, low=0.0, high=1.0, n=50) for at in range(10)]
    ranks = rank_shares(
        [point.name for point in points], rng.binomial(1, means, (QUESTIONS, n)).astype(float)
    )
    figures: dict[str, PlotFigure] = {
        "intervals": Intervals(points=points, axis="share of the scale", of="System"),
        "moves": Slopes(
            points=moves, before="A", after="B", axis="score", n_same=800, n_more=170, ends=(0, 1)
        ),
        "reliability": Reliability(
            points=bins, across="how sure the judge is", upwards="how often it is right"
        ),
        "frontier": Frontier(
            points=points, unit="usd", across="cost of 1,000 answers", upwards="correctness"
        ),
    }
    drawn = [Plot(name=name, title=name, figure=figure) for name, figure in figures.items()]
    return [*drawn, *([rank_plot(ranks, "ranks", "System", "the answers")] if ranks else [])]


def _page(*plots: Plot) -> bytes:
    blocks = [Heading("Plots", anchor="board"), *plots]
    document = ReportDocument(title="t", kind="bench", about="", version="0", blocks=blocks)
    return render_page(document).encode()


def main() -> None:
    """Print the tables."""
    none = _page()
    print(f"a page without a chart: {len(none):,} bytes, {len(gzip.compress(none)):,} sent")
    scripts = "\n".join(libraries()).encode()
    print(
        f"libraries of the charts with a script: {len(scripts):,} bytes, {len(gzip.compress(scripts)):,} sent"
    )
    print("\n| things | figure | draw | page | sent |\n|---:|---|---:|---:|---:|")
    for n in (10, 200):
        plots = _plots(n)
        for plot in [*plots, *([None] if plots else [])]:
            start = time.perf_counter()
            page = _page(*(plots if plot is None else [plot]))
            spent = time.perf_counter() - start
            name = "all" if plot is None else plot.name
            sent = len(gzip.compress(page)) - len(gzip.compress(none))
            print(f"| {n} | {name} | {1000 * spent:.0f} ms | +{len(page) - len(none):,} | +{sent:,} |")
    print("\n| systems | questions | order over 10,000 resamples |\n|---:|---:|---:|")
    for n, questions in ((5, 300), (20, 1000), (200, 1000)):
        values = np.random.default_rng(1).integers(0, 2, (questions, n)).astype(float)
        start = time.perf_counter()
        rank_shares([str(at) for at in range(n)], values)
        print(f"| {n} | {questions:,} | {time.perf_counter() - start:.2f} s |")


if __name__ == "__main__":
    main()
