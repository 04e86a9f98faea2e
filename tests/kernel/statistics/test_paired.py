import numpy as np
import pytest

from ragstone.kernel.statistics import holm, mcnemar_p
from ragstone.kernel.statistics.paired import paired_tests


def test_hits_of_rows_that_stand_alone_are_tested_by_mcnemar():
    # The first alone is right on 8 rows, the second alone on 1: p = 2 * (1 + 9) / 2**9 = 0.0390625.
    values = np.array([[1, 0]] * 8 + [[0, 1]] + [[1, 1]] * 11, dtype=float)
    [found] = paired_tests(values, [(0, 1)], list(range(20)))
    assert (found.test, found.p, found.family) == ("McNemar", pytest.approx(0.0390625), 1)
    assert found.difference.value == pytest.approx(7 / 20)
    assert found.verdict == "better"


def test_rows_that_share_a_cluster_are_flipped_together():
    # Two clusters speak for the first: of four ways to flip, one and its opposite are as large: p = 1/2.
    values = np.array([[1, 0]] * 20, dtype=float)
    [found] = paired_tests(values, [(0, 1)], ["a"] * 10 + ["b"] * 10)
    assert (found.test, found.p, found.verdict) == ("sign-flip", 0.5, "cannot tell")


def test_values_that_are_no_hits_are_flipped():
    values = np.array([[0.9, 0.1]] * 10)
    [found] = paired_tests(values, [(0, 1)], list(range(10)))
    assert found.test == "sign-flip"
    assert found.p == pytest.approx(2 / 2**10)


def test_holm_is_over_all_pairs_and_the_verdict_follows_it():
    values = np.array([[1, 0, 1]] * 8 + [[0, 1, 0]] + [[1, 1, 1]] * 11, dtype=float)
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = paired_tests(values, pairs, list(range(20)))
    raw = [mcnemar_p(8, 1), 1.0, mcnemar_p(1, 8)]
    assert [one.p_holm for one in found] == pytest.approx(holm(raw).tolist())
    assert [one.verdict for one in found] == ["cannot tell"] * 3  # 3 * 0.039 is above 0.05
    assert [one.verdict for one in paired_tests(values, pairs, list(range(20)), alpha=0.2)] == [
        "better",
        "cannot tell",
        "worse",
    ]


def test_rows_of_one_cluster_that_cancel_out_are_not_the_same_rows():
    # Both have no difference and no interval; only the second has rows whose values differ.
    same, cancelling = (
        paired_tests(np.array(values), [(0, 1)], ["a"] * 2)[0]
        for values in ([[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]])
    )
    assert (same.difference.value, same.difference.low, same.n_changed) == (0.0, None, 0)
    assert (cancelling.difference.value, cancelling.difference.low, cancelling.n_changed) == (0.0, None, 2)
