"""The plots of a comparison: what is drawn, and what is said of it, recomputed from the rows."""

import msgspec
import numpy as np
import pytest
from tests.support.judged_runs import judged
from tests.support.surfaces import page_text, plots_in, shown

from ragstone.features.compare._plot_sentence_table import (
    ALL_HOLD,
    BEYOND,
    MOVED,
    SHOWN_OVER_ZERO,
    STILL_OPEN,
    DrawnMoves,
)
from ragstone.features.compare._plots import difference_plot, move_plots
from ragstone.features.compare.comparing import compare
from ragstone.features.compare.paired import MOST_MOVES
from ragstone.features.compare.values import Comparison
from ragstone.features.compare.words import comparison_document
from ragstone.kernel.document.plots.drawing import page_svgs
from ragstone.kernel.document.plots.tables import numbers_of
from ragstone.kernel.document.plots.values import Plot
from ragstone.kernel.records import Label
from ragstone.kernel.sentences import say

GRADES = (0, 1, 2, 3)


def compared(metrics: dict[str, list[tuple[float, float]]], scale=(0, 3), margin=None) -> Comparison:
    sides = [
        [
            row
            for name, pairs in metrics.items()
            for row in judged([pair[at] for pair in pairs], name, system="s", metric=name, scale=scale)
        ]
        for at in (0, 1)
    ]
    return compare(*sides, margin=margin)


def random_pairs(rng: np.random.Generator, n: int, lift: float) -> list[tuple[float, float]]:
    before = rng.integers(0, 4, n)
    after = np.where(rng.random(n) < lift, np.minimum(before + 1, 3), rng.integers(0, 4, n))
    return [(float(a), float(b)) for a, b in zip(before, after, strict=True)]


@pytest.mark.parametrize(
    ("labelled", "title", "names"),
    [
        ([], "B against A, metric by metric", ["a", "b"]),
        (["a"], "B against A, metric by metric", ["a (by labels)", "b"]),
        (["a", "b"], "B against A, as people would see it", ["a", "b"]),
    ],
)
def test_a_difference_that_labels_correct_is_named_so(labelled, title, names):
    pairs = [(0.0, 1.0)] * 20 + [(1.0, 1.0)] * 20
    sides = [
        [row for name in "ab" for row in judged([pair[at] for pair in pairs], name, metric=name)]
        for at in (0, 1)
    ]
    labels = [
        Label(question_id=f"q{n}", system="mine", metric=name, score=pair[at], metadata={"run": "AB"[at]})
        for name in labelled
        for n, pair in enumerate(pairs)
        for at in (0, 1)
    ]
    [plot] = difference_plot(compare(*sides, labels=labels or None))
    assert (plot.title, sorted(point.name for point in plot.figure.points)) == (title, names)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
def test_what_is_said_of_the_intervals_and_of_the_moves_is_what_the_rows_say(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 60))
    metrics = {name: random_pairs(rng, n, lift) for name, lift in (("a", 0.0), ("b", 0.6), ("c", 0.2))}
    comparison = compared(metrics)
    estimates = [row.difference for row in comparison.metrics if row.difference.low is not None]
    above, below = sum(e.low > 0 for e in estimates), sum(e.high < 0 for e in estimates)
    sentence = say(comparison, ALL_HOLD, BEYOND)
    if len(estimates) < 2:
        assert sentence == ""
    elif above + below == 0:
        assert sentence == ALL_HOLD.text.format(intervals=f"{len(estimates)} intervals")
    else:
        assert (f"{above} wholly above 0" in sentence) == (above > 0)
        assert (f"{below} wholly below 0" in sentence) == (below > 0)
    for row in comparison.metrics:
        pairs = metrics[row.metric]
        assert row.moves.n_up == sum(b > a for a, b in pairs)
        assert row.moves.n_down == sum(b < a for a, b in pairs)
        assert row.moves.n_same == sum(b == a for a, b in pairs)
        moves = [move.score_b - move.score_a for move in row.moves.largest]
        assert moves == sorted(moves)
        assert len(moves) <= MOST_MOVES
        assert 0 not in moves
        assert max(map(abs, moves)) == max(abs(b - a) for a, b in pairs)


def test_of_many_moves_as_many_down_as_up_are_named_and_the_furthest_first(says):
    pairs = [(3.0, 0.0)] * 5 + [(3.0, 2.0)] * 40 + [(0.0, 1.0)] * 40 + [(0.0, 3.0)] * 6 + [(1.0, 1.0)] * 9
    (row,) = compared({"a": pairs}).metrics
    found = [move.score_b - move.score_a for move in row.moves.largest]
    assert found == [-3.0] * 5 + [-1.0] * 10 + [1.0] * 9 + [3.0] * 6
    [plot] = move_plots(compared({"a": pairs}))
    assert plot.figure.n_same == 9
    assert plot.figure.n_more == 91 - 30
    says("\n".join(plot.said))


def test_few_on_one_side_leave_their_room_to_the_other():
    (row,) = compared({"a": [(0.0, 1.0)] * 50 + [(2.0, 1.0)] * 2}).metrics
    assert [move.score_b - move.score_a for move in row.moves.largest] == [-1.0] * 2 + [1.0] * 28


def test_where_no_score_differs_nothing_moved_and_nothing_is_said_of_moves():
    comparison = compared({"a": [(1.0, 1.0)] * 20, "b": [(0.0, 1.0)] * 10 + [(1.0, 1.0)] * 10})
    same = next(row for row in comparison.metrics if row.metric == "a")
    assert same.moves is msgspec.UNSET
    assert [plot.name for plot in move_plots(comparison)] == ["moves-0"]
    moved = next(row for row in comparison.metrics if row.metric == "b")
    nothing = msgspec.structs.replace(moved.moves, n_up=0, n_down=0, n_same=20, largest=[])
    assert not MOVED.holds(DrawnMoves(moved, nothing))


def test_an_open_verdict_beside_an_interval_off_0_is_explained_and_only_there(says):
    comparison = compared({"a": [(0.0, 1.0)] * 12 + [(1.0, 1.0)] * 10, "b": [(1.0, 2.0)] * 15})
    assert [row.verdict for row in comparison.metrics] == ["better", "better"]
    assert say(comparison, STILL_OPEN) == ""
    first, *others = comparison.metrics
    doubtful = msgspec.structs.replace(
        comparison, metrics=[msgspec.structs.replace(first, verdict="cannot tell"), *others]
    )
    says(say(doubtful, STILL_OPEN))
    # Of one metric nothing is corrected: the test and the interval differ.
    alone = msgspec.structs.replace(first, verdict="cannot tell", family=1)
    says(say(msgspec.structs.replace(comparison, metrics=[alone]), STILL_OPEN))
    holding = compared({"a": [(0.0, 1.0), (1.0, 0.0)] * 10})
    assert holding.metrics[0].verdict == "cannot tell"
    assert say(holding, STILL_OPEN) == ""
    assert say(holding, SHOWN_OVER_ZERO) == ""
    shown = msgspec.structs.replace(holding.metrics[0], verdict="better")
    (said,) = difference_plot(msgspec.structs.replace(holding, metrics=[shown]))[0].said
    says(said)


@pytest.mark.parametrize("open_beside", [True, False])
def test_a_terminal_which_has_no_plot_says_it_under_the_table_and_a_page_by_the_plot_alone(open_beside):
    pairs = [(0.0, 1.0)] * 12 + [(1.0, 1.0)] * 10
    (row,) = compared({"a": pairs}).metrics
    verdict = "cannot tell" if open_beside else row.verdict
    comparison = msgspec.structs.replace(
        compared({"a": pairs}), metrics=[msgspec.structs.replace(row, verdict=verdict)]
    )
    explained, document = say(comparison, STILL_OPEN), comparison_document(comparison)
    assert bool(explained) == open_beside
    if explained:
        assert explained in " ".join(shown(document).split())
        assert plots_in(document)["differences"].said[-1] == explained
        without_plot = [block for block in document.blocks if not isinstance(block, Plot)]
        assert explained not in page_text(msgspec.structs.replace(document, blocks=without_plot))
    assert ("not on these intervals" in " ".join(shown(document).split())) == open_beside


def test_a_metric_whose_lowest_score_is_best_says_so_and_has_no_margin_on_the_wrong_side(says):
    comparison = compared({"toxicity": [(0.0, 1.0)] * 12 + [(1.0, 1.0)] * 10}, scale=(0, 1), margin=0.05)
    [plot] = difference_plot(comparison)
    (point,) = plot.figure.points
    says(point.name)
    assert plot.figure.band is None
    assert comparison.metrics[0].verdict == "worse"


def test_a_share_of_questions_that_is_not_all_is_not_rounded_to_all(says):
    [plot] = move_plots(compared({"a": [(1.0, 1.0)] * 399 + [(0.0, 1.0)]}))
    says(plot.said[0])


def test_a_verdict_that_is_open_is_drawn_open_and_the_margin_as_a_band(says):
    pairs = {"a": [(0.0, 1.0)] * 12 + [(1.0, 1.0)] * 10, "b": [(0.0, 1.0), (1.0, 0.0)] * 11}
    comparison = compared(pairs, margin=0.05)
    [plot] = difference_plot(comparison)
    assert [(point.name, point.is_open) for point in plot.figure.points] == [("a", False), ("b", True)]
    assert plot.figure.points[0].value == pytest.approx(12 / 22 / 3)  # of the scale's width
    *ends, name = plot.figure.band
    assert ends == [-0.05, 0.0]
    says(name)
    wide, narrow = page_svgs(plot)
    assert "c-band" in wide
    assert "c-band" in narrow
    assert "no difference" in wide
    without = page_svgs(difference_plot(compared(pairs))[0])
    assert "c-band" not in "".join(without)
    says(
        "\n\n".join(
            sentence for plot in plots_in(comparison_document(comparison)).values() for sentence in plot.said
        )
    )


def test_a_metric_without_a_scale_is_not_drawn_on_one():
    rows = [list(judged([40.0 + at, 50.0, 61.0], "length", system="s", scale=None)) for at in (0, 9)]
    assert difference_plot(compare(*rows)) == []


def test_names_of_questions_stay_text():
    evil = "</text><script>alert(1)</script>\u202e"
    rows = [
        [
            msgspec.structs.replace(row, question_id=f"{evil}{at}")
            for at, row in enumerate(judged(scores, "a"))
        ]
        for scores in ([0, 1, 1], [1, 1, 0])
    ]
    [plot] = move_plots(compare(*rows))
    for svg in page_svgs(plot):
        assert "<script" not in svg
        assert "\u202e" not in svg
    assert len(numbers_of(plot.figure)[1]) == 2


def test_intervals_that_all_hold_0_and_a_verdict_that_is_open_off_0_are_said(says):
    doubt = compared({"a": [(0.0, 1.0), (1.0, 0.0)] * 11, "b": [(1.0, 0.0), (0.0, 1.0)] * 11})
    [plot] = difference_plot(doubt)
    off = compared({"a": [(0.0, 1.0)] * 12 + [(1.0, 1.0)] * 10, "b": [(1.0, 2.0), (2.0, 1.0)] * 11})
    rows = [msgspec.structs.replace(row, verdict="cannot tell") for row in off.metrics]
    [explained] = difference_plot(msgspec.structs.replace(off, metrics=rows))
    says("\n\n".join([" ".join(plot.said), " ".join(explained.said)]))
