"""Every figure in Chromium: light and dark, wide and narrow, without a finding of axe; no text on another."""

from pathlib import Path

import pytest
from tests.support.browser import opened_tab
from tests.support.surfaces import document

from ragstone.kernel.document.blocks import Heading
from ragstone.kernel.document.output import write_document
from ragstone.kernel.document.plots.values import (
    Frontier,
    Intervals,
    Plot,
    PlotPoint,
    Reliability,
    ShareRow,
    Shares,
    Slopes,
)

pytestmark = pytest.mark.browser
LONG = "قياس الري بالتنقيط <b>نص</b> a name that nobody can read to its end in one line"
POINTS = [
    PlotPoint(
        name=LONG if at == 3 else f"system {at}",
        value=0.3 + at / 20,
        low=0.2 + at / 20,
        high=0.4 + at / 20,
        x=None if at == 5 else 0.001 * 3**at,
        n=40 * at,
        group="ab"[at % 2],
        is_open=at % 3 == 0,
    )
    for at in range(10)
]
FIGURES = {
    "intervals": Intervals(
        points=POINTS,
        axis="share of the scale with the 95 % interval, as it is on a phone",
        of="n",
        null=(0.0, "no difference"),
        band=(-0.05, 0.0, "margin of 5 %"),
        is_signed=True,
    ),
    "moves": Slopes(
        points=[PlotPoint(name=f"q{at} {LONG}", x=at / 9, value=1 - at / 9) for at in range(10)],
        before="A",
        after="B",
        axis="score",
        n_same=80,
        n_more=3,
        ends=(0, 1),
    ),
    "reliability": Reliability(
        points=[
            PlotPoint(name=str(at), x=at / 10, value=at / 11, low=at / 14, high=at / 10, n=at * 99)
            for at in range(1, 10)
        ],
        across="how sure the judge is that the answer is right",
        upwards="how often people say that it is right",
    ),
    "frontier": Frontier(points=POINTS, unit="usd", across="cost of 1,000 answers", upwards="correctness"),
    "shares": Shares(
        rows=[ShareRow(name=LONG, parts=[("rank 1", 0.9, None), ("rank 2", 0.1, None)])],
        axis="share of the resamples; beside each bar: how often it is first",
        of="Run",
        head="Rank",
        first="first",
        last="last",
    ),
}
ON_EACH_OTHER = """
[...document.querySelectorAll('svg.chart')].filter((one) => one.clientHeight).flatMap((svg) => {
  const texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map((one) => [one.textContent, one.getBoundingClientRect()]);
  return boxes.flatMap(([a, p], at) => boxes.slice(at + 1).filter(([, q]) =>
    Math.min(p.right, q.right) - Math.max(p.left, q.left) > 4
    && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > 6).map(([b]) => `${a} | ${b}`));
})"""
PAST_THE_EDGE = """
[...document.querySelectorAll('svg.chart text')].filter((one) => {
  const box = one.getBoundingClientRect(), frame = one.ownerSVGElement.getBoundingClientRect();
  return box.height && (box.left < frame.left - 6 || box.right > frame.right + 6);
}).map((one) => one.textContent)"""


@pytest.fixture
def page(tmp_path: Path) -> Path:
    plots = [
        Plot(name=name, title=f"{name} {LONG}", figure=figure, said=[f"Said of {LONG}."])
        for name, figure in FIGURES.items()
    ]
    return write_document(tmp_path / "plots.html", document(Heading("Plots", anchor="board"), *plots))


def test_plots_have_no_finding_and_no_text_lies_on_another_or_past_the_edge(page):
    with opened_tab() as tab:
        tab.open(page)
        tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        for width in (1280, 390):
            tab.page.set_viewport_size({"width": width, "height": 900})
            assert tab.run(ON_EACH_OTHER) == []
            assert tab.run(PAST_THE_EDGE) == []
            assert tab.findings(width) == []
        assert (tab.complaints, tab.requests) == ([], [])
