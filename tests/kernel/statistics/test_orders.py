import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, lists, tuples
from scipy import stats

from ragstone.kernel.statistics import resampled_totals
from ragstone.kernel.statistics.orders import tau_estimate, tau_of_rows

rows_of_both = lists(tuples(integers(0, 3), integers(0, 3)), min_size=2, max_size=8)


def tau_pair_by_pair(first, second):
    """Return tau-b by its definition: every pair of things looked at."""
    concordant = discordant = untied_first = untied_second = 0
    for a, b in combinations(range(len(first)), 2):
        one, other = first[a] - first[b], second[a] - second[b]
        concordant += one * other > 0
        discordant += one * other < 0
        untied_first += one != 0
        untied_second += other != 0
    untied = untied_first * untied_second
    return (concordant - discordant) / math.sqrt(untied) if untied else math.nan


@given(lists(rows_of_both, min_size=1, max_size=1))
def test_tau_of_rows_agrees_with_every_pair_looked_at_and_with_scipy(rows):
    first, second = (np.array(side, dtype=float) for side in zip(*rows[0], strict=True))
    found = tau_of_rows(np.stack([first, first, -first]), np.stack([second, first, second]))
    expected = tau_pair_by_pair(first, second)
    assert found[0] == pytest.approx(expected, nan_ok=True)
    assert found[0] == pytest.approx(stats.kendalltau(first, second)[0], nan_ok=True)
    assert found[1] == pytest.approx(tau_pair_by_pair(first, first), nan_ok=True)
    assert found[2] == pytest.approx(-expected, nan_ok=True)


def test_means_that_differ_by_rounding_alone_are_tied():
    # 0.1 + 0.2 is 0.30000000000000004. Of three pairs one is tied by the first: 2 / sqrt(2 * 3).
    found = tau_of_rows(np.array([[0.1 + 0.2, 0.3, 0.9]]), np.array([[1.0, 2.0, 3.0]]))
    assert found[0] == pytest.approx(2 / math.sqrt(6))


def test_a_row_with_a_missing_mean_has_no_tau():
    assert math.isnan(tau_of_rows(np.array([[1.0, np.nan, 2.0]]), np.array([[1.0, 2.0, 3.0]]))[0])


def estimate_of(orders, n_clusters=100):
    """Return the estimate of these second orders against 1 2 3; the first of them is the data's."""
    second = np.array(orders, dtype=float)
    return tau_estimate(np.tile([1.0, 2.0, 3.0], (len(second), 1)), second, n=7, n_clusters=n_clusters)


def test_ends_are_those_of_the_resamples_or_of_their_mirror_image():
    # tau of 1 2 3 is 1, of 2 1 3 (one of three pairs reversed) 1/3. Mirrored at 1/3, 1 becomes -1/3.
    found = estimate_of([[2, 1, 3]] + [[1, 2, 3]] * 60 + [[2, 1, 3]] * 40)
    assert (found.value, found.low, found.high) == pytest.approx((1 / 3, -1 / 3, 1.0))
    assert (found.n, found.method) == (7, "bootstrap")


def test_ends_stay_within_one():
    found = estimate_of([[1, 2, 3]] + [[2, 1, 3]] * 50 + [[1, 2, 3]] * 50)
    assert (found.value, found.low, found.high) == pytest.approx((1.0, 1 / 3, 1.0))


def test_no_interval_where_resamples_say_nothing():
    assert estimate_of([[1, 2, 3]] * 50).low is None  # every resample is alike
    assert estimate_of([[1, 2, 3], [2, 1, 3]], n_clusters=1).low is None
    assert estimate_of([[1, 2, 3]] + [[1, 1, 1]] * 10 + [[2, 1, 3]] * 90).low is None  # a tenth undefined
    assert estimate_of([[1, 1, 1], [1, 2, 3]]) is None


@pytest.mark.simulation
@pytest.mark.parametrize(("n", "least"), [(50, 0.87), (200, 0.95)])
@pytest.mark.parametrize("second", [[0.5, 0.57, 0.64, 0.72, 0.8], [0.64, 0.5, 0.57, 0.8, 0.72]])
def test_interval_holds_the_true_tau(n, least, second):
    """Five systems right at these rates by two judges whose errors go together question by question."""
    rng = np.random.default_rng(1)
    first = np.array([0.5, 0.57, 0.64, 0.72, 0.8])
    true = tau_pair_by_pair(first, second)
    held = 0
    for at in range(200):
        ease = rng.random((n, 1)) * 0.6 + rng.random((n, 5)) * 0.4
        cut_first, cut_second = (
            np.quantile(rng.random(4000) * 0.6 + rng.random(4000) * 0.4, side) for side in (first, second)
        )
        values = np.concatenate(
            [ease < cut_first, ease + rng.normal(size=(n, 5)) * 0.02 < cut_second], axis=1
        )
        totals = values.astype(float)
        drawn = np.concatenate([totals.sum(axis=0)[None], resampled_totals(totals, seed=at, resamples=1000)])
        found = tau_estimate(drawn[:, :5], drawn[:, 5:], n=n, n_clusters=n)
        low = found.value if found.low is None else found.low
        high = found.value if found.high is None else found.high
        held += low - 1e-9 <= true <= high + 1e-9
    assert held / 200 >= least, held
