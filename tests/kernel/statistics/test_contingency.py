import numpy as np
import pytest

from ragstone.kernel.statistics import contingency_table, exact_matches
from ragstone.kernel.statistics.kappa import matches_within_one


def test_rows_are_the_first_rater_and_columns_the_second():
    table = contingency_table([0, 0, 1, 2], [0, 1, 1, 0], [0, 1, 2])
    assert table.tolist() == [[1, 1, 0], [0, 1, 0], [1, 0, 0]]


def test_value_that_is_no_category_is_an_error(says):
    with pytest.raises(ValueError) as error:
        contingency_table([0, 0.5], [0, 1], [0, 1])
    says(error.value)


def test_pairs_of_unequal_length_are_an_error():
    with pytest.raises(ValueError, match="pair them first"):
        contingency_table([0, 1], [0], [0, 1])


@pytest.mark.parametrize("categories", [[], [1, 0], [0, 0]])
def test_categories_must_be_distinct_and_ascending(categories):
    with pytest.raises(ValueError, match="distinct and ascending"):
        contingency_table([0], [0], categories)


def test_matches_are_counted_pair_by_pair():
    assert exact_matches(np.array([0.0, 1.0]), np.array([0.0, 2.0])).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("categories", "second", "near"),
    [
        ([0, 1, 2, 3], [0, 1, 2], [1, 1, 0]),
        (
            [0, 2, 4],
            [0, 2, 4],
            [1, 0, 0],
        ),  # whole numbers: a step is 1, also where a grade in between is absent
        ([0, 0.25, 0.5], [0, 0.25, 0.5], [1, 1, 0]),
        ([0, 0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [1, 0, 0]),
    ],
)
def test_within_one_is_one_step_of_the_scale(categories, second, near):
    assert matches_within_one(np.zeros(3), np.array(second), categories).tolist() == near
