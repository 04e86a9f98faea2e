import numpy as np
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.features.attack._families import Attack, Family, load_families
from ragstone.features.attack._planting import plant
from ragstone.features.attack._rates import (
    MOST_SHOWN,
    attempts_of,
    can_flip,
    clustered_share,
    flips,
    flips_shown,
    gate,
    rates_of,
    share,
)
from ragstone.kernel.judging import load_judge
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.statistics import Estimate

CORRECTNESS = load_judge("correctness")
FAMILY = Family(
    name="f", about="x", attack=[Attack(name="a", text="x" * 40), Attack(name="b", text="y" * 40)]
)


def judged(score: float | None, status: str = "scored", question: str = "q") -> Judgement:
    return judgement_row(question_id=question, status=status, score=score, scale=(0, 100))


def attacked(*after: Judgement, before: float = 10, rows: int = 1):
    """Return the attempts of attacks a and b on rows, and the control of both: three judgements a row."""
    plain = [Answer(question_id=f"q{n}", question="?", answer="no", tags={"lang": "en"}) for n in range(rows)]
    planted = plant(CORRECTNESS, [FAMILY], [(n, row, "raise") for n, row in enumerate(plain)])
    assert len(planted) == len(after) == 3 * rows
    return attempts_of(CORRECTNESS, [judged(before)] * rows, planted, after), planted, plain


def test_a_flip_crosses_the_middle_of_the_scale():
    assert flips(CORRECTNESS, 0.49, 0.5)
    assert not flips(CORRECTNESS, 0.1, 0.49)  # better, and still low
    assert not flips(CORRECTNESS, 0.5, 1.0)  # high before
    assert not flips(CORRECTNESS, 0.4, 0.1)


def test_of_a_judge_that_chooses_a_label_any_better_label_is_a_flip():
    judge = load_judge("question_type")  # labels 1 to 6
    assert flips(judge, 0.0, 0.2)
    assert not flips(judge, 0.2, 0.2)
    assert can_flip(judge, 5, "raise")
    assert not can_flip(judge, 6, "raise")


def test_shares_are_of_what_the_attack_wants():
    assert share(CORRECTNESS, 25, "raise") == 0.25
    assert share(CORRECTNESS, 25, "lower") == 0.75
    assert share(load_judge("toxicity"), 1, "raise") == 0  # toxic: the verdict that nobody wants


def test_rates_worked_by_hand():
    # row 0: a flips, b does not, the control does not; row 1: both flip, and so does the control.
    attempts, _, _ = attacked(judged(90), judged(20), judged(10), judged(60), judged(50), judged(55), rows=2)
    overall, [family], [a, b] = rates_of(attempts, [FAMILY])
    assert (overall.n, overall.n_flips, overall.n_rows) == (4, 3, 2)
    assert overall.flips is not None
    assert overall.flips.value == 0.75
    assert overall.control is not None
    assert overall.control.value == 0.5  # of the four attempts, the two on row 1
    assert overall.excess is not None
    assert overall.excess.value == pytest.approx(0.25)
    assert overall.shift is not None
    assert overall.shift.value == pytest.approx((0.8 + 0.1 + 0.5 + 0.4) / 4)
    assert (a.n_flips, b.n_flips) == (2, 1)
    assert family.n == 4


def test_failing_closed_is_no_flip_and_counts_while_a_timeout_says_nothing():
    attempts, _, _ = attacked(
        judged(None, "unparsable"),
        judged(None, "timeout"),
        judged(10),
        judged(90),
        judged(0),
        judged(10),
        rows=2,
    )
    overall, _, _ = rates_of(attempts, [FAMILY])
    assert overall.statuses == {"scored": 2, "unparsable": 1, "timeout": 1}
    assert overall.flips is not None
    assert (overall.n_flips, overall.flips.n) == (1, 3)  # not 1 of 2, and not 1 of 4


def test_a_control_without_a_score_leaves_the_flip_and_has_no_part_in_the_difference():
    attempts, _, _ = attacked(judged(90), judged(90), judged(None, "unparsable"))
    overall, _, _ = rates_of(attempts, [FAMILY])
    assert overall.n_flips == 2
    assert overall.control is None
    assert overall.excess is None


def test_no_attempt_gives_no_rate():
    overall, families, attacks = rates_of([], load_families())
    assert overall.flips is None
    assert families == attacks == []
    assert gate(overall, 0.05) == "cannot tell"


def test_flips_are_shown_one_of_each_attack_first():
    scores = [judged(90), judged(90), judged(10)] * 30
    attempts, planted, plain = attacked(*scores, rows=30)
    shown = flips_shown(attempts, plain, planted, [judged(10)] * 30, scores)
    assert len(shown) == MOST_SHOWN  # of 60
    assert [one.attack for one in shown[:2]] == ["f/a", "f/b"]
    assert (shown[0].plain, shown[0].attacked) == ("no", "no\n" + "x" * 40)
    assert (shown[0].before, shown[0].after) == (10, 90)


@pytest.mark.parametrize(
    ("low", "high", "outcome"), [(0.06, 0.2, "exceeded"), (0.0, 0.05, "kept"), (0.01, 0.2, "cannot tell")]
)
def test_the_gate_goes_by_the_whole_interval(low, high, outcome):
    attempts, _, _ = attacked(judged(90), judged(20), judged(10))
    overall, _, _ = rates_of(attempts, [FAMILY])
    estimate = Estimate(value=(low + high) / 2, low=low, high=high, n=100, method="wilson")
    import msgspec

    assert gate(msgspec.structs.replace(overall, flips=estimate), 0.05) == outcome


def test_a_share_of_clustered_flags_has_an_interval_also_where_all_rows_are_alike():
    rows = [str(n) for n in range(12) for _ in range(100)]
    none = clustered_share([False] * 1200, rows)
    assert none is not None
    assert none.value == none.low == 0
    assert none.high is not None
    assert 0.01 < none.high < 0.3  # not the 0.003 of 1,200 independent attempts
    same = clustered_share([n % 100 < 3 for n in range(1200)], rows)
    assert same is not None
    assert same.low is not None
    assert same.low < 0.03 < (same.high or 0)


def test_one_attempt_a_row_is_wilsons_interval_but_for_the_quantile():
    share_of = clustered_share([True] * 100 + [False] * 900, [str(n) for n in range(1000)])
    assert share_of is not None
    assert share_of.low == pytest.approx(0.0829, abs=0.0005)  # Wilson of 100 in 1,000: 0.0829 to 0.1201
    assert share_of.high == pytest.approx(0.1202, abs=0.0005)
    assert clustered_share([], []) is None


@pytest.mark.parametrize("mean", [0.03, 0.3])
@pytest.mark.parametrize("spread", [2.0, 50.0])
def test_the_interval_covers_the_true_share_of_a_dozen_rows_of_many_attempts(mean, spread):
    rng, hits, n = np.random.default_rng(5), 0, 200
    rows = [str(row) for row in range(12) for _ in range(60)]
    for _ in range(n):
        own = rng.beta(mean * spread, (1 - mean) * spread, 12)
        flags = (rng.random((12, 60)) < own[:, None]).ravel()
        found = clustered_share(list(flags), rows)
        assert found is not None
        hits += (found.low or 0) <= mean <= (found.high or 0)
    assert hits >= 0.91 * n  # 0.95 less 2.6 standard errors of 200 draws
