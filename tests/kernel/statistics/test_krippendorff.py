import krippendorff as peer
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, lists, sampled_from

from ragstone.kernel.statistics import contingency_table, krippendorff_alpha
from ragstone.kernel.statistics._krippendorff import (
    alpha_of_cells,
    alpha_of_coincidences,
    alpha_of_values,
    coincidence_columns,
    value_columns,
)

DISTANCES = ["nominal", "ordinal", "interval"]
ratings = lists(lists(integers(0, 3), max_size=4), min_size=1, max_size=12)


def flat(items: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    values = np.array([value for given in items for value in given], dtype=float)
    return values, np.repeat(np.arange(len(items)), [len(given) for given in items])


def test_alpha_worked_by_hand():
    # Items 0-0, 0-1, 1-1: coincidences 0-0 2, 1-1 2, 0-1 and 1-0 one each; three values of each, n = 6.
    # Observed 2 / 6, expected 2 * 3 * 3 / (6 * 5) = 18 / 30: 1 - (1/3) / (3/5) = 4/9.
    values, items = flat([[0, 0], [0, 1], [1, 1]])
    for distance in DISTANCES:
        assert krippendorff_alpha(values, items, distance) == pytest.approx(4 / 9)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("missing", [0.0, 0.5])
def test_alpha_of_many_raters_with_gaps_agrees_with_the_package_of_that_name(distance, missing):
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 5, 80)
    table = np.clip(truth + rng.integers(-1, 2, (4, 80)), 0, 4).astype(float)
    table[rng.random(table.shape) < missing] = np.nan
    rater, item = np.nonzero(~np.isnan(table))
    expected = peer.alpha(table, level_of_measurement=distance)
    assert krippendorff_alpha(table[rater, item], item, distance) == pytest.approx(expected)


def test_interval_alpha_of_values_that_all_differ_agrees_with_the_package():
    rng = np.random.default_rng(0)
    table = rng.normal(size=30) + 0.5 * rng.normal(size=(3, 30))
    table[0, :7] = np.nan
    rater, item = np.nonzero(~np.isnan(table))
    assert krippendorff_alpha(table[rater, item], item) == pytest.approx(
        peer.alpha(table, level_of_measurement="interval")
    )


@pytest.mark.parametrize("items", [[], [[1], [2]], [[1, 1], [1, 1]], [[0, 0], [1]]])
def test_alpha_is_undefined_where_nothing_varies_or_no_item_has_two_values(items):
    values, codes = flat(items)
    for distance in DISTANCES:
        assert krippendorff_alpha(values, codes, distance) is None


def test_wrong_use_is_an_error(says):
    with pytest.raises(ValueError) as error:
        krippendorff_alpha([1, 2], [0])
    says(error.value)
    with pytest.raises(ValueError) as error:
        krippendorff_alpha([1, 2], [0, 0], "ratio")
    says(error.value)


@settings(max_examples=60, deadline=None)
@given(ratings, sampled_from(DISTANCES))
def test_alpha_is_at_most_1_and_does_not_care_about_the_unit(items, distance):
    values, codes = flat(items)
    alpha = krippendorff_alpha(values, codes, distance)
    assert alpha is None or alpha <= 1 + 1e-12
    assert krippendorff_alpha(50 * values - 7, codes, distance) == pytest.approx(alpha)


@settings(max_examples=60, deadline=None)
@given(ratings)
def test_counted_or_not_interval_alpha_is_the_same(items):
    values, codes = flat(items)
    if not values.size:
        return
    known = np.unique(values)
    counted = alpha_of_coincidences(known, "interval")(coincidence_columns(values, codes, known).sum(0)[None])
    assert counted[0] == pytest.approx(
        alpha_of_values(value_columns(values, codes).sum(0)[None])[0], nan_ok=True
    )


@pytest.mark.parametrize("distance", DISTANCES)
def test_two_raters_may_be_given_as_a_table(distance):
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 60).astype(float)
    second = np.clip(first + rng.integers(-1, 2, 60), 0, 2)
    table = contingency_table(first, second, [0, 1, 2]).reshape(1, -1)
    values, items = np.concatenate([first, second]), np.tile(np.arange(60), 2)
    expected = krippendorff_alpha(values, items, distance)
    assert alpha_of_cells([0, 1, 2], distance)(table)[0] == pytest.approx(expected)
