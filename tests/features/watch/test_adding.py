"""The sample is the same in every run, spreads over values, and its weights make means unbiased."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.watch._adding import chances, draw_of
from ragstone.features.watch._cells import point_of
from ragstone.features.watch._judged import StoredScore
from ragstone.features.watch._logged import Reader
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection

FEW, MANY = 7, 8  # numbers of two values of a tag


def test_a_rate_is_everybodys_chance():
    assert chances([[], [FEW]], {}, rate=0.25, at_least=0) == [0.25, 0.25]


def test_a_rare_value_is_taken_as_often_as_is_wanted():
    # 2 rows of FEW: 5 / 2 is capped at 1. 50 of MANY: 5 / 50 = 0.1. A row without a value has the rate.
    strata = [[FEW]] * 2 + [[MANY]] * 50 + [[]]
    found = chances(strata, {}, rate=0.05, at_least=5)
    assert found == [1.0] * 2 + [0.1] * 50 + [0.05]


def test_rows_that_came_before_count():
    # 45 came before and 5 come now: 5 / 50.
    assert chances([[MANY]] * 5, {MANY: 45}, rate=0.05, at_least=5) == [0.1] * 5


def test_of_several_values_the_rarest_counts():
    assert chances([[FEW, MANY]], {FEW: 9, MANY: 99}, rate=0.05, at_least=5) == [0.5]  # 5 / 10 and 5 / 100


@given(st.binary(min_size=1, max_size=40))
def test_a_draw_is_from_0_to_1_and_keyed(digest):
    assert 0 <= draw_of(digest, b"key") < 1
    assert draw_of(digest, b"key") == draw_of(digest, b"key") != draw_of(digest, b"other")


def test_draws_are_even():
    draws = [draw_of(str(n).encode(), b"key") for n in range(20_000)]
    counts = np.histogram(draws, bins=20, range=(0, 1))[0]
    assert sum((counts - 1000) ** 2 / 1000) < 43.8  # chi-square with 19 degrees of freedom: 0.1 % lie above


def judged_mean(tmp_path, key, *, left=None, **section):
    """Return the mean over a day of 60 maize (score 1) and 6 rice (score 0), by the sample that a key draws.

    left: how many of the sample are judged before the budget ends.
    """
    chosen = MonitorSection(strata=["crop"], **section)
    reader = Reader(chosen, key)
    crops = ["maize"] * 60 + ["rice"] * 6
    rows = [
        reader.read({"id": str(n), "question": f"Why {n}?", "time": 1.7e9, "crop": crop})
        for n, crop in enumerate(crops)
    ]
    with MonitorStore(tmp_path / key.decode(), key=key) as store:
        store.declare(chosen)
        store.add(store.adder(chosen), rows)
        taken = [due.n for due in store.due(["good"])][:left]
        one = StoredScore(judge="good", version=1, model="m", metric="good", status="scored", score=1.0)
        none = StoredScore(judge="good", version=1, model="m", metric="good", status="scored", score=0.0)
        store.keep([(n, one if n <= 60 else none) for n in taken], best={})
        cells = store.cells(tag="")
    return point_of(cells[0].day, cells).mean if cells else None


@pytest.mark.simulation
def test_means_of_a_stratified_sample_are_those_of_the_whole(tmp_path):
    # 60 of 66 are good: 0.909. At rate 0.25 with 3 of each value at least, maize has the chance 1/4 and
    # rice 3/6: unweighted the mean would be (60/4) / (60/4 + 3) = 0.833.
    found = [judged_mean(tmp_path, f"k{n}".encode(), rate=0.25, at_least=3) for n in range(120)]
    means = np.array([mean for mean in found if mean is not None])
    error = means.std() / sqrt(means.size)
    assert abs(means.mean() - 60 / 66) < 4 * error < 0.03
    assert means.mean() - 60 / 70 > 4 * error


@pytest.mark.simulation
def test_means_of_a_sample_that_the_budget_cut_off_are_those_of_the_whole(tmp_path):
    found = [judged_mean(tmp_path, f"k{n}".encode(), rate=0.5, at_least=5, left=15) for n in range(120)]
    means = np.array(found)
    error = means.std() / sqrt(means.size)
    assert abs(means.mean() - 60 / 66) < 4 * error < 0.03


def test_strata_have_at_least_so_many_in_the_mean(tmp_path):
    taken = []
    for n in range(60):
        strata = [[FEW]] * 20 + [[MANY]] * 500
        chance = chances(strata, {}, rate=0.02, at_least=8)
        taken.append(sum(draw_of(f"{n} {at}".encode(), b"key") < chance[at] for at in range(20)))
    assert abs(np.mean(taken) - 8) < 4 * sqrt(20 * 0.4 * 0.6 / 60)  # binomial: 20 × 0.4 = 8
