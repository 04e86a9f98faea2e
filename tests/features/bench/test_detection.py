import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.bench._detection import detection_estimates

COLUMN = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0])), min_size=1, max_size=30
)


def values(so, called, clusters=None):
    found = detection_estimates(np.array(so, float), np.array(called, float), clusters, resamples=200)
    return {name: estimate.value for name, estimate in found.items()}


def test_worked_by_hand():
    # so 4, called so 3, both 2: precision 2/3, recall 2/4, F1 = 2 * 2 / (3 + 4)
    found = values([1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0])
    assert found == {"F1": 4 / 7, "precision": 2 / 3, "recall": 0.5}


def test_nothing_found_is_a_recall_of_0_and_no_precision():
    assert values([1, 0], [0, 0]) == {"F1": 0.0, "recall": 0.0}
    assert values([0, 0], [1, 0]) == {"F1": 0.0, "precision": 0.0}
    assert values([0, 0], [0, 0]) == {}


@given(COLUMN)
def test_agrees_with_a_peer(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    so, called = map(list, zip(*pairs, strict=True))
    found = values(so, called)
    peers = {"F1": metrics.f1_score, "precision": metrics.precision_score, "recall": metrics.recall_score}
    for name, value in found.items():
        assert value == pytest.approx(peers[name](so, called, zero_division=0))


def test_answers_of_one_source_make_the_interval_wider():
    rng = np.random.default_rng(0)
    so = np.repeat(rng.integers(2, size=40), 6).astype(float)
    called = np.where(np.repeat(rng.random(40) < 0.3, 6), 1 - so, so)
    alone, shared = (
        detection_estimates(so, called, clusters)["F1"] for clusters in (None, np.repeat(np.arange(40), 6))
    )
    assert shared.high - shared.low > 1.5 * (alone.high - alone.low)


def test_intervals_hold_the_f1_of_the_population():
    """30 sources of 5 answers, 200 times: the 95 % interval holds the population's F1 in some 95 %."""
    rng = np.random.default_rng(1)

    def drawn(n):
        share = rng.beta(2, 3, size=n)
        so = (rng.random((n, 5)) < share[:, None]).astype(float)
        called = np.where(rng.random((n, 5)) < 0.2, 1 - so, so)
        return so.ravel(), called.ravel()

    so, called = drawn(100_000)
    truth = 2 * (so * called).sum() / (so.sum() + called.sum())
    clusters = np.repeat(np.arange(30), 5)
    held = 0
    for _ in range(200):
        found = detection_estimates(*drawn(30), clusters, resamples=600)["F1"]
        held += found.low <= truth <= found.high
    assert 0.90 <= held / 200 <= 0.99


def test_other_values_than_0_and_1_are_refused():
    for so, called in (([0, 2], [0, 1]), ([0, 1], [0.5, 1]), ([0, 1], [1])):
        with pytest.raises(ValueError, match="0 and 1"):
            values(so, called)
