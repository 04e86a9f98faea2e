import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from ragstone.agreement.comparison import compare
from ragstone.agreement.estimates import agreement_estimates
from ragstone.statistics import Estimate


def estimates(
    human: ArrayLike,
    judge: ArrayLike,
    scale: tuple[float, float] = (0, 2),
    clusters: list[str] | None = None,
) -> dict[str, Estimate]:
    grades = np.array(human, float)
    comparison = compare(grades, np.array(judge, float), scale, mapped=False, threshold=None)
    names = clusters or [f"q{i}" for i in range(len(grades))]
    return agreement_estimates(comparison, names, seed=0, resamples=500)


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


def test_grades_have_every_measure_the_most_telling_first():
    # Pairs 0-0 0-1 1-1 2-2 2-0: three of five exact, four within one, judge less human 0 1 0 0 -2, mean -0.2.
    # Kappa: humans 2 1 2, judge 2 2 1, chance (4 + 2 + 2) / 25 = 0.32: (0.6 - 0.32) / 0.68.
    found = estimates([0, 0, 1, 2, 2], [0, 1, 1, 2, 0])
    assert list(found) == [
        "exact agreement",
        "within one",
        "kappa",
        "linear kappa",
        "quadratic kappa",
        "Spearman",
        "signed error",
    ]
    assert found["exact agreement"].value == 0.6
    assert found["within one"].value == 0.8
    assert found["kappa"].value == pytest.approx(0.28 / 0.68)
    assert found["signed error"].value == pytest.approx(-0.2)


def test_measures_agree_with_peers():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 3, 200)
    judge = np.clip(human + rng.integers(-1, 2, 200), 0, 2)
    found = estimates(human, judge)
    assert found["quadratic kappa"].value == pytest.approx(
        cohen_kappa_score(human, judge, weights="quadratic")
    )
    assert found["Spearman"].value == pytest.approx(spearmanr(human, judge)[0])


def test_yes_and_no_have_no_within_one_and_one_kappa():
    found = estimates([0, 1, 1], [0, 1, 0], (0, 1))
    assert list(found) == ["exact agreement", "kappa", "Spearman", "signed error"]


def test_order_is_all_that_is_compared_without_a_common_unit():
    assert list(estimates([0, 1, 1], [20, 40, 90], (0, 100))) == ["Spearman"]


def test_undefined_measures_are_left_out():
    assert list(estimates([1, 1], [1, 1], (0, 1))) == ["exact agreement", "signed error"]


def test_intervals_are_wider_when_answers_share_questions():
    rng = np.random.default_rng(0)
    human = np.repeat(rng.integers(0, 3, 40), 5)
    judge = np.repeat(rng.integers(0, 3, 40), 5)
    alone = estimates(human, judge)
    shared = estimates(human, judge, clusters=[f"q{i // 5}" for i in range(200)])
    for name in ("exact agreement", "quadratic kappa", "Spearman", "signed error"):
        assert shared[name].value == alone[name].value
        assert width(shared[name]) > 1.5 * width(alone[name])
