import numpy as np
import pytest
from tests.support.judged_cells import cell

from ragstone.agreement.comparison import worths
from ragstone.flows.bench_judges.basis import choose_basis, compare_cell
from ragstone.statistics import spearman


def footing_of(human, *scales, mapped=False):
    cells = [cell(f"j{at}", scale=scale) for at, scale in enumerate(scales)]
    return choose_basis(cells, np.array(human, dtype=float), mapped=mapped)


@pytest.mark.parametrize(
    ("human", "scales", "mixed"),
    [
        ([0, 1, 2, 3], [(0, 3)], False),
        ([0, 1, 2, 3], [(0, 3), (0, 10)], True),  # the labels may be of either
        ([0, 50, 100], [(0, 100), (0, 1)], False),  # they can only be of the first
        ([0, 1, 1], [(0, 1), (0, 100)], False),  # yes and no: the wide one needs a threshold, and says so
        ([0.25, 0.5], [(0, 1), (0, 100)], True),
    ],
)
def test_scales_are_mixed_where_labels_fit_several(human, scales, mixed):
    assert footing_of(human, *scales).mixed is mixed
    assert footing_of(human, *scales, mapped=True).mixed is False


def test_mean_worth_is_the_measure():
    rng = np.random.default_rng(3)
    human, judge = rng.integers(4, size=200).astype(float), rng.integers(4, size=200).astype(float)
    one = cell("j", scale=(0, 3))
    row = compare_cell(one, judge, human, choose_basis([one], human, mapped=False))
    assert worths(row, "exact agreement").mean() == pytest.approx(np.mean(human == judge))
    assert worths(row, "difference").mean() == pytest.approx(-np.mean(abs(human - judge)))
    assert worths(row, "Spearman").mean() == pytest.approx(spearman(human, judge))


def test_judge_that_gives_one_score_throughout_has_no_order():
    human = np.array([0.0, 1.0, 2.0])
    one = cell("j", scale=(0, 3))
    row = compare_cell(one, np.ones(3), human, choose_basis([one], human, mapped=False))
    assert worths(row, "Spearman") is None


def test_mapped_scores_are_moved_to_their_place_on_the_scale():
    one = cell("j", scale=(-1, 1))
    human = np.array([0.0, 0.5, 1.0])
    row = compare_cell(one, np.array([-1.0, 0.0, 0.5]), human, choose_basis([one], human, mapped=True))
    assert row.judge.tolist() == [0.0, 0.5, 0.75]
    assert worths(row, "difference").tolist() == [0.0, 0.0, -0.25]
    assert worths(row, "exact agreement") is None  # that grades of two scales meet is chance
