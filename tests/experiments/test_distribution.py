from hypothesis import given
from hypothesis.strategies import floats, integers, lists
from tests.report.conftest import judgement

from ragstone.experiments.breakdown import Bin, distributions


def test_whole_scores_of_a_short_scale_are_counted_one_by_one() -> None:
    rows = [judgement(f"q{n}", "grade", score, scale=(1, 3)) for n, score in enumerate((1, 3, 3))]
    [found] = distributions(rows)
    assert found.bins == [Bin(low=1, high=1, n=1), Bin(low=2, high=2, n=0), Bin(low=3, high=3, n=2)]


def test_other_scores_fall_into_ten_bins_of_equal_width() -> None:
    rows = [judgement(f"q{n}", "share", score) for n, score in enumerate((0.0, 0.05, 0.5, 0.99, 1.0))]
    [found] = distributions(rows)
    # 0 and 0.05 -> [0, 0.1); 0.5 -> [0.5, 0.6); 0.99 and 1 -> the last, which holds its end
    assert [one.n for one in found.bins] == [2, 0, 0, 0, 0, 1, 0, 0, 0, 2]


def test_rows_without_a_score_or_a_scale_are_not_counted() -> None:
    rows = [judgement("q1", "a", None, status="timeout"), judgement("q1", "b", 12, scale=None)]
    assert distributions(rows) == []


@given(lists(floats(0, 1), min_size=1), integers(1, 30))
def test_no_score_is_lost(scores, width):
    rows = [judgement(f"q{n}", "a", score * width, scale=(0, width)) for n, score in enumerate(scores)]
    assert sum(one.n for one in distributions(rows)[0].bins) == len(scores)
