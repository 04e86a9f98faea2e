import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import floats, integers, lists

from ragstone.features.watch._change_paths import HALF_LIFE, PHI, change_paths


def evidence(values, *, weights=None, seasons=None, noise=1e-9, jump=0.0, first=1):
    observed = np.atleast_2d(np.array(values, dtype=float))
    n_series, n = observed.shape
    return change_paths(
        observed,
        np.ones(observed.shape) if weights is None else np.atleast_2d(np.array(weights, dtype=float)),
        np.zeros(n, dtype=int) if seasons is None else np.array(seasons),
        noise=np.full(n_series, noise),
        jump=np.full(n_series, jump),
        first=np.full(n_series, first),
    )


def test_two_observations_are_no_evidence_for_they_fit_a_change_and_none_alike():
    # y = 0, 1, a change at the second: z = (-1/2, 1/2), z'z = z'y = 1/2, residual 1/2, one degree of freedom.
    # 1 + PHI² / 2 = 5.5 the share explained 9 / 5.5 * (1/4) / (1/2) = 9 / 11 = 1 - 1 / 5.5, so that the
    # factor is 5.5^(-1/2) * (1 / 5.5)^(-1/2) = 1.
    assert PHI == 3
    assert evidence([0, 1]).log_evidence[0].tolist() == pytest.approx([0, 0])


def test_evidence_of_three_observations_by_hand():
    # y = 0, 0, 1: residual 2/3, two degrees of freedom. For a change at 1 z = (-2/3, 1/3, 1/3), z'y = 1/3; at
    # 2 z = (-1/3, -1/3, 2/3), z'y = 2/3; z'z = 2/3 for both, 1 + PHI² * 2/3 = 7, PHI² / 7 = 9/7.
    # At 1: explained 1/7, a share of 3/14: 7^(-1/2) / (11/14) = 0.48104. At 2: 4/7, 6/7:
    # 7^(-1/2) * 7 = 2.64575. Chances 1/61, 60 / (61 * 62), and 60/62 that it is still to come.
    assert HALF_LIFE == 60
    by_hand = 0.48104 / 61 + 2.64575 * 60 / (61 * 62) + 60 / 62
    found = evidence([0, 0, 1], noise=0.1)
    assert math.exp(found.log_evidence[0, 2]) == pytest.approx(by_hand, abs=1e-6)
    assert found.change[0].tolist() == [-1, 1, 2]


def test_the_variance_is_not_less_than_that_of_sampling():
    # As above with noise 0.8: exp(1/7 / 1.6) and exp(4/7 / 1.6), each times 7^(-1/2).
    by_hand = (math.exp(1 / 11.2) / 61 + math.exp(1 / 2.8) * 60 / (61 * 62)) / math.sqrt(7) + 60 / 62
    assert math.exp(evidence([0, 0, 1], noise=0.8).log_evidence[0, 2]) == pytest.approx(by_hand, abs=1e-6)


def test_what_is_skewed_counts_less():
    # Noise 0.8 and skewness 0.6: the shifts are (1/3) / (2/3) = 1/2 and 1, which add 0.1 and 0.2.
    by_hand = (math.exp(1 / 7 / 1.8) / 61 + math.exp(4 / 7 / 2) * 60 / (61 * 62)) / math.sqrt(7) + 60 / 62
    found = evidence([0, 0, 1], noise=0.8, jump=0.6)
    assert math.exp(found.log_evidence[0, 2]) == pytest.approx(by_hand, abs=1e-6)


def test_what_is_skewed_counts_less_where_the_variance_is_learnt_too():
    # The residual variance is (2/3) / 2 = 1/3; skewness 1 adds 1/6 and 1/3 to it: the shares 3/14 and 6/7 are
    # divided by 1.5 and 2, to 1/7 and 3/7. Noise of 0.01 does not bind where skewness adds as much to it.
    by_hand = (7 / 6 / 61 + 7 / 4 * 60 / (61 * 62)) / math.sqrt(7) + 60 / 62
    found = evidence([0, 0, 1], noise=0.01, jump=1.0)
    assert math.exp(found.log_evidence[0, 2]) == pytest.approx(by_hand, abs=1e-6)


def directly(values, weights, seasons, *, noise, jump, first):
    """The same by least squares, one look and one supposed change at a time."""
    found = []
    for n in range(1, len(values) + 1):
        root = np.sqrt(weights[:n])
        known = np.unique(seasons[:n][weights[:n] > 0])
        design = (seasons[:n, None] == known) * root[:, None]

        def swept(column, design=design):
            return column - design @ np.linalg.lstsq(design, column, rcond=None)[0]

        rest = swept(root * values[:n])
        degrees = (weights[:n] > 0).sum() - known.size
        total = 0.0
        for change in range(first, n):
            z = swept(root * (np.arange(n) >= change))
            own, cross = z @ z, z @ rest
            explained = cross**2 * PHI**2 / (1 + PHI**2 * own)
            steps = jump * abs(cross) / own / 3 if own > 1e-12 else 0.0
            spread = max(rest @ rest / max(degrees, 1), noise)
            share = explained / (1 + steps / spread) / (rest @ rest) if degrees else 0.0
            log_factor = min(
                -degrees / 2 * math.log(1 - min(share, 1 - 1e-12)), explained / (2 * (noise + steps))
            )
            j = change - first
            chance = HALF_LIFE / ((j + HALF_LIFE) * (j + HALF_LIFE + 1))
            total += chance * math.exp(log_factor) / math.sqrt(1 + PHI**2 * own)
        total += HALF_LIFE / (HALF_LIFE + max(0, n - first))
        found.append(math.log(total))
    return found


@settings(max_examples=25, deadline=None)
@given(integers(0, 10_000))
def test_evidence_is_that_of_least_squares_one_change_at_a_time(seed):
    rng = np.random.default_rng(seed)
    n = 24
    values, seasons = rng.normal(size=n) + (np.arange(n) > 15), np.arange(n) % 3
    weights = rng.uniform(0.3, 2, size=n) * (rng.random(n) > 0.15)
    found = evidence(values, weights=weights, seasons=seasons, noise=0.5, jump=0.2, first=5)
    wanted = directly(values, weights, seasons, noise=0.5, jump=0.2, first=5)
    assert found.log_evidence[0].tolist() == pytest.approx(wanted, abs=1e-6)


@pytest.mark.long
@settings(max_examples=40)
@given(lists(floats(-3, 3), min_size=3, max_size=3), floats(0.01, 100), integers(0, 1000))
def test_neither_the_level_nor_the_seasons_nor_the_unit_matter(effects, unit, seed):
    rng = np.random.default_rng(seed)
    values, seasons = rng.normal(size=30), np.arange(30) % 3
    plain = evidence(values, seasons=seasons, noise=0.3, jump=0.1, first=6)
    moved = evidence(
        unit * (values + np.array(effects)[seasons]),
        seasons=seasons,
        noise=0.3 * unit**2,
        jump=0.1 * unit,
        first=6,
    )
    assert moved.log_evidence == pytest.approx(plain.log_evidence, abs=1e-6)


def test_what_stands_where_an_observation_is_missing_does_not_matter():
    values, weights = np.random.default_rng(0).normal(size=20), np.ones(20)
    weights[[4, 5, 11]] = 0
    other = np.where(weights == 0, 99.0, values)
    one, two = (evidence(each, weights=weights, first=3).log_evidence for each in (values, other))
    assert one.tolist() == two.tolist()


def test_later_observations_do_not_change_what_was_seen():
    values = np.random.default_rng(1).normal(size=40)
    whole, part = evidence(values, first=5), evidence(values[:25], first=5)
    assert whole.log_evidence[0, :25].tolist() == part.log_evidence[0].tolist()


def test_the_evidence_is_the_ratio_of_the_chances_with_and_without_a_change():
    """Where changes come as is supposed, 1 / evidence has the mean 1, as only a likelihood ratio has.

    20,000 series of 16, one change in each with the chances of _priors, of N(0, PHI²) times the spread 5; of
    60 in 72 it is still to come.
    """
    rng = np.random.default_rng(2)
    chances = [HALF_LIFE / ((j + HALF_LIFE) * (j + HALF_LIFE + 1)) for j in range(12)]
    begins = 4 + rng.choice(13, size=20_000, p=[*chances, 1 - sum(chances)])
    shifts = PHI * rng.normal(size=20_000)[:, None] * (np.arange(16) >= begins[:, None])
    found = evidence(5 * (rng.normal(size=(20_000, 16)) + shifts), seasons=np.arange(16) % 2, first=4)
    inverse = np.exp(-found.log_evidence[:, -1])
    assert inverse.mean() == pytest.approx(1, abs=4 * inverse.std() / np.sqrt(20_000))
    assert inverse.std() < 0.5


@pytest.mark.simulation
@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_false_alarms_at_any_look_stay_below_alpha(spread):
    """2,000 series of 150 days with a weekly rhythm, looked at every day; noise more than that of sampling.

    At most 5 % may ever reach 20; 100 + 3 * 9.7 may be.
    """
    rng = np.random.default_rng(3)
    values = spread * rng.normal(size=(2000, 150)) + np.sin(np.arange(150) * 2 * np.pi / 7)
    found = evidence(values, seasons=np.arange(150) % 7, noise=1.0, jump=0.1, first=14)
    assert (found.log_evidence.max(axis=1) >= math.log(20)).sum() <= 129


@pytest.mark.simulation
def test_false_alarms_of_rare_events_stay_below_alpha():
    # Three events a day of 100, never normal: at most 5 % of 2,000 series may ever reach 20.
    rng = np.random.default_rng(4)
    shares = rng.binomial(100, 0.03, size=(2000, 150)) / 100
    found = evidence(shares - 0.03, seasons=np.arange(150) % 7, noise=0.03 * 0.97 / 100, jump=0.01, first=14)
    assert (found.log_evidence.max(axis=1) >= math.log(20)).sum() <= 129


def test_a_change_is_found_and_its_day():
    rng = np.random.default_rng(5)
    values = rng.normal(size=(200, 80)) - 3.0 * (np.arange(80) >= 60)
    found = evidence(values, seasons=np.arange(80) % 7, noise=0.3, first=14)
    enough = found.log_evidence >= math.log(1000)
    assert enough[:, :60].sum() == 0
    assert enough[:, 69].mean() > 0.95
    assert np.median(np.abs(found.change[:, 69] - 60)) == 0


@pytest.mark.parametrize("wrong", ["noise", "weights", "shape"])
def test_what_makes_no_sense_is_an_error(wrong, says):
    with pytest.raises(ValueError) as error:
        evidence(
            [0, 1, 2],
            noise=0.0 if wrong == "noise" else 1.0,
            weights=[1, -1, 1] if wrong == "weights" else None,
            seasons=[0, 0] if wrong == "shape" else None,
        )
    says(error.value)
