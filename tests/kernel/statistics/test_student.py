import math

import pytest
from scipy import stats

from ragstone.kernel.statistics.intervals import student_quantile


@pytest.mark.parametrize("df", [1, 2, 3, 4, 5, 10, 30, 200])
@pytest.mark.parametrize("probability", [0.01, 0.025, 0.05, 0.5, 0.9, 0.975, 0.99])
def test_quantile_is_scipys(df, probability):
    roughly = {3: 0.005, 4: 0.002}.get(df, 0.0005)
    expected = stats.t.ppf(probability, df)
    assert student_quantile(probability, df) == pytest.approx(expected, rel=roughly, abs=1e-12)


def test_one_degree_of_freedom_is_cauchys_distribution():
    # Cauchy's quantile at 3/4 is tan(pi / 4) = 1.
    assert student_quantile(0.75, 1) == pytest.approx(1.0)


def test_no_degree_of_freedom_has_no_quantile():
    with pytest.raises(ValueError, match="at least 1"):
        student_quantile(0.975, 0)


def test_many_degrees_of_freedom_are_the_normal_distribution():
    assert math.isclose(student_quantile(0.975, 10**9), 1.959964, rel_tol=1e-6)
