"""What a change brings: worked by hand, by its properties, and one small simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.blame._price import LabelledVerdict, net_change


def test_each_kind_counts_by_its_share_of_all_questions():
    # 40 of 100 lost, 10 of these asked: 6 come back. 60 kept, 20 asked: 3 spoiled.
    # Gained 40/100 * 6/10 = 24 %; spoiled 60/100 * 3/20 = 9 %; net 15 %.
    lost = [True] * 40 + [False] * 60
    again = [True] * 6 + [False] * 4 + [None] * 30 + [False] * 3 + [True] * 17 + [None] * 40
    found = net_change(lost, again, range(100))
    assert found.net.value == pytest.approx(0.15)
    assert found.gained.value == pytest.approx(0.24)
    assert (found.n_asked, found.n_gained, found.n_spoiled) == (30, 6, 3)
    assert -0.05 < found.net.low < 0.15 < found.net.high < 0.35


def test_where_all_was_asked_the_interval_is_that_of_a_paired_difference():
    # 30 of 400 come back, 10 are spoiled: 5 %, variance (40 - 400 * 0.05²) / 400², so 1.96 * 1.56 % = 3.1 %.
    lost = [True] * 100 + [False] * 300
    again = [True] * 30 + [False] * 70 + [False] * 10 + [True] * 290
    net = net_change(lost, again, range(400)).net
    assert (net.low, net.high) == (
        pytest.approx(0.05 - 0.031, abs=0.004),
        pytest.approx(0.05 + 0.031, abs=0.004),
    )


def test_questions_of_one_document_are_less_evidence():
    lost = [at % 10 < 4 for at in range(120)]
    again = [at % 10 < 2 or at % 10 >= 4 for at in range(120)]
    alone = net_change(lost, again, range(120)).net
    shared = net_change(
        sorted(lost),
        [value for _, value in sorted(zip(lost, again, strict=True))],
        [at // 6 for at in range(120)],
    ).net
    assert shared.value == pytest.approx(alone.value)
    assert shared.high - shared.low > 1.3 * (alone.high - alone.low)


def test_nothing_that_came_back_leaves_some_open():
    found = net_change([True] * 5 + [False] * 15, [False] * 5 + [True] * 15, range(20))
    assert (found.net.value, found.gained.value, found.gained.low) == (0, 0, 0)
    assert found.net.low < -0.02 < 0.02 < found.net.high


@given(
    st.lists(st.tuples(st.booleans(), st.sampled_from([True, False, None]), st.integers(0, 5)), min_size=1)
)
def test_the_interval_holds_the_value_and_stays_within_all_points(rows):
    lost, again, clusters = zip(*rows, strict=True)
    found = net_change(lost, again, clusters)
    for points in (found.net, found.gained):
        assert -1 <= points.low <= points.value <= points.high <= 1


LABELS = [
    *[LabelledVerdict(given=True, right=True)] * 38,
    *[LabelledVerdict(given=False, right=True)] * 2,
    *[LabelledVerdict(given=False, right=False)] * 34,
    *[LabelledVerdict(given=True, right=False)] * 6,
]


def test_the_judges_error_is_divided_out_where_people_labelled_both_kinds():
    # Sensitivity 38/40 = 0.95, specificity 34/40 = 0.85: the judge sees 0.8 of a difference. 0.2 -> 0.25.
    lost = [True] * 40 + [False] * 60
    again = [True] * 20 + [False] * 20 + [True] * 60
    found = net_change(lost, again, range(100), LABELS)
    assert found.people.value == pytest.approx(0.25)
    assert found.people.high - found.people.low > (found.net.high - found.net.low) / 0.8


@pytest.mark.parametrize(
    "labels",
    [
        [],
        [label for label in LABELS if label.right],
        [label for label in LABELS if not label.right],
        [LabelledVerdict(given=True, right=bool(at % 2)) for at in range(80)],  # it calls everything right
        LABELS[36:44],  # eight labels say little of the judge
    ],
)
def test_people_are_not_spoken_for_where_their_labels_do_not_tell(labels):
    assert net_change([True] * 4 + [False] * 6, [True] * 10, range(10), labels).people is None


def test_intervals_hold_the_truth_that_was_planted():
    # 200 draws; benchmarks/what_if.py has more worlds. Truth: 0.3 * 0.5 - 0.7 * 0.04 = 12.2 %.
    rng, n, held = np.random.default_rng(1), 150, 0
    for _ in range(200):
        right = rng.random(n) < 0.7
        after = np.where(right, rng.random(n) >= 0.04, rng.random(n) < 0.5)
        asked = ~right
        asked[rng.permutation(np.flatnonzero(right))[:50]] = True
        again = [bool(value) if seen else None for value, seen in zip(after, asked, strict=True)]
        net = net_change((~right).tolist(), again, range(n)).net
        held += net.low <= 0.122 <= net.high
    assert 0.91 <= held / 200 <= 0.99
