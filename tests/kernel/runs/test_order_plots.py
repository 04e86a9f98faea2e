"""How an order is drawn, and what may be said of it and what not."""

import re

import pytest

from ragstone.kernel.document.plots.drawing import page_svgs
from ragstone.kernel.document.plots.tables import numbers_of
from ragstone.kernel.document.plots.values import Frontier, PlotPoint
from ragstone.kernel.runs.order_plots import price_plot, rank_plot, ranks_of
from ragstone.kernel.statistics.ranks import RankShares

SIGNIFICANCE = re.compile(r"significan|probab|chance that|confiden|proves|better", re.IGNORECASE)


def ranks(*shares: list[float]) -> RankShares:
    names = [f"run {at}" for at in range(len(shares))]
    return RankShares(names=names, shares=[*shares], n=40, n_clusters=40, resamples=10_000)


def test_the_order_is_drawn_with_how_often_each_is_first(says):
    plot = rank_plot(ranks([0.97, 0.03], [0.03, 0.97]), "r", "Run", "the answers and the judge")
    assert plot.figure.rows[0].parts == [("rank 1", 0.97, None), ("rank 2", 0.03, None)]
    says(" ".join(plot.said))
    assert "97 %" in "".join(page_svgs(plot))


@pytest.mark.parametrize("first", [0.5, 0.97, 0.99996, 1.0])
def test_a_share_of_resamples_is_never_told_as_significance_nor_as_better(first, says):
    other = 1 - first
    plot = rank_plot(ranks([first, other], [other, first]), "r", "Run", "the rankings")
    text = " ".join(plot.said)
    assert not SIGNIFICANCE.search(text)
    says(text)
    assert ("in each of" in text) == (first == 1)
    if first < 1:
        assert "100 %" not in text  # not all is not rounded to all


def test_two_that_always_tie_are_not_called_first_every_time(says):
    plot = rank_plot(ranks([0.5, 0.5], [0.5, 0.5]), "r", "Run", "the rankings")
    says(" ".join(plot.said))


def test_all_that_are_first_as_often_are_named(says):
    third = 1 / 3
    plot = rank_plot(ranks(*([[third] * 3] * 3)), "r", "Run", "the rankings")
    says(" ".join(plot.said))
    near = rank_plot(ranks([0.504, 0.496], [0.496, 0.504]), "r", "Run", "the rankings")
    assert "about equally often" in near.said[0]  # both read 50 %


def test_ranks_beyond_the_eighth_are_one_part_and_every_bar_is_whole(says):
    k = 12
    plot = rank_plot(ranks(*([[1 / k] * k] * k)), "r", "Run", "the rankings")
    assert [len(row.parts) for row in plot.figure.rows] == [9] * k
    says(plot.figure.rows[0].parts[-1][0])
    assert all(sum(share for _, share, _ in row.parts) == pytest.approx(1) for row in plot.figure.rows)


def test_ranks_are_of_questions_that_all_have_and_whole_documents_are_drawn():
    names = [f"q{at}" for at in range(14)]
    scores = {
        "a": {name: at % 2 for at, name in enumerate(names[:12])},
        "b": {name: at % 3 for at, name in enumerate(names[2:])},
    }
    found = ranks_of(scores, {})
    assert found
    assert (found.n, found.n_clusters) == (10, 10)  # q2 to q11
    assert ranks_of(scores, {"q2": "d", "q3": "d"}) is None  # 9 documents: too few
    assert ranks_of({"a": scores["a"]}, {}) is None
    assert ranks_of({"a": scores["a"], "b": {"q9": 1.0}}, {}) is None
    assert ranks_of({}, {}) is None


def priced(*points: tuple[str, float | None, float]) -> list[PlotPoint]:
    return [PlotPoint(name=name, x=price, value=value) for name, price, value in points]


FRAME = Frontier(points=[], unit="usd", across="cost of 1,000 answers", upwards="correctness")


def test_what_nobody_beats_is_named_by_values_and_the_rest_is_not(says):
    points = priced(("cheap", 0.001, 0.7), ("dear", 0.01, 0.9), ("poor", 0.01, 0.6), ("secret", None, 0.95))
    [plot] = price_plot(points, FRAME, "c", "cost")
    assert [row[-1] for row in numbers_of(plot.figure)[1]] == ["yes", "yes", "no", ""]
    says(" ".join(plot.said))
    assert "poor" not in " ".join(plot.said)
    assert "secret" not in " ".join(plot.said)


def test_where_dearer_is_always_better_nobody_is_beaten(says):
    [plot] = price_plot(priced(("a", 0.001, 0.7), ("b", 0.01, 0.9)), FRAME, "c", "cost")
    says(" ".join(plot.said))


@pytest.mark.parametrize(
    ("points", "n"),
    [
        ([], 0),
        ([("a", None, 0.5), ("b", None, 0.9)], 0),
        ([("a", 0.0, 0.5), ("b", 0.0, 0.9)], 0),
        ([("a", 0.1, 0.5)], 1),
        ([("a", 0.1, 0.5), ("b", None, 0.9)], 1),
    ],
)
def test_of_one_price_nothing_is_said_and_without_a_price_nothing_is_drawn(points, n):
    plots = price_plot(priced(*points), FRAME, "c", "cost")
    assert len(plots) == n
    assert all(list(plot.said) == [] for plot in plots)


def test_what_are_no_alternatives_has_no_frontier():
    figure = Frontier(points=[], unit="usd", across="x", upwards="y", has_frontier=False)
    [plot] = price_plot(priced(("a", 0.001, 0.7), ("b", 0.01, 0.9)), figure, "c", "cost")
    assert list(plot.said) == []
    assert "c-front" not in "".join(page_svgs(plot))
    assert not any("beaten on both" in str(column) for column in numbers_of(plot.figure)[0])


def test_less_is_better_where_the_measure_says_so():
    figure = Frontier(points=[], unit="usd", across="x", upwards="error", is_low_best=True)
    [plot] = price_plot(priced(("a", 0.001, 0.1), ("b", 0.01, 0.4)), figure, "c", "cost")
    assert [row[-1] for row in numbers_of(plot.figure)[1]] == ["yes", "no"]
