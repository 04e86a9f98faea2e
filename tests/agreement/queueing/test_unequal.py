"""Corrected means from unequal chances: the interval holds what it promises, and ppi queues pay."""

import msgspec
import numpy as np
import pytest
from tests.agreement.rows import judgement, label, sheets

from ragstone.agreement.corrected import corrected_means, shares_of
from ragstone.agreement.grading import report_cards
from ragstone.agreement.pairing import human_scores
from ragstone.agreement.queueing.choosing import AnswerDraw, choose
from ragstone.errors import DataError
from ragstone.statistics import prediction_powered_mean


def drawn_label(question, score, chance, queue="x"):
    return msgspec.structs.replace(label(question, score), metadata={"inclusion": chance, "queue": queue})


def test_equal_shares_are_no_shares():
    rng = np.random.default_rng(0)
    human, judge, others = (rng.random(40) < 0.6).astype(float), rng.random(40), rng.random(200)
    plain = prediction_powered_mean(human, judge, others)
    assert prediction_powered_mean(human, judge, others, shares=[0.5] * 40) == plain


def test_almost_equal_shares_give_almost_the_same():
    rng = np.random.default_rng(0)
    judge = rng.random(40)
    human, others = (rng.random(40) < judge).astype(float), rng.random(200)
    plain = prediction_powered_mean(human, judge, others)
    near = prediction_powered_mean(human, judge, others, shares=1 + 1e-9 * np.arange(40))
    assert near.weight == pytest.approx(plain.weight, rel=1e-4)
    assert near.corrected.value == pytest.approx(plain.corrected.value, rel=1e-6)
    assert near.corrected.low == pytest.approx(plain.corrected.low, rel=0.02)
    assert near.worth == pytest.approx(plain.worth, rel=0.02)


def test_estimate_with_shares_worked_by_hand():
    # Labelled 1 0 with chances 1 and 1/2: shares 1/3 and 2/3, labels alone 1/3. A judge that says the same of
    # all adds nothing.
    found = prediction_powered_mean([1.0, 0.0], [0.5, 0.5], [0.5] * 2, shares=[1, 2], bounds=(0, 1))
    assert (found.human.value, found.corrected.value, found.weight) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
        0,
    )


@pytest.mark.parametrize("shares", [[1.0], [1.0, 0.0], [1.0, float("nan")]])
def test_shares_that_are_none_are_refused(shares):
    with pytest.raises(ValueError, match="shares of 2 labelled rows"):
        prediction_powered_mean([1.0, 0.0], [1.0, 0.0], [1.0], shares=shares)


def test_chances_become_shares_and_several_draws_add_up():
    def of(*labels):
        return shares_of([*human_scores(labels, "correctness").values()])

    assert of(label("a", 1), label("b", 0)) is None
    # 1 / chance: 2 and 6 of 8.
    assert of(drawn_label("a", 1, 0.5), drawn_label("b", 0, 1 / 6)) == pytest.approx([0.25, 0.75])
    # Worth (8)² / (4 + 36) = 1.6 answers; two more of an equal draw are worth 2: 1.6 / 3.6 and 2 / 3.6 of
    # all.
    mixed = of(drawn_label("a", 1, 0.5), drawn_label("b", 0, 1 / 6), label("c", 1), label("d", 0))
    assert mixed == pytest.approx([0.4 / 3.6, 1.2 / 3.6, 1 / 3.6, 1 / 3.6])


def test_a_chance_that_is_none_is_told():
    for chance in (0, 1.5, "often"):
        with pytest.raises(DataError, match="no chance above 0"):
            corrected_means(
                [judgement("a", 1), judgement("b", 1)], [drawn_label("a", 1, chance)], resamples=10
            )


def test_labels_of_hard_answers_do_not_pull_the_mean():
    # The judge is right where it is sure (0 or 1), a coin where it says 0.5: people's mean is 0.7.
    rng = np.random.default_rng(3)
    scores = rng.choice([0.0, 0.5, 1.0], 2000, p=[0.2, 0.2, 0.6])
    truth = np.where(scores == 0.5, rng.random(2000) < 0.5, scores).astype(float)
    rows = [judgement(f"q{i}", float(score)) for i, score in enumerate(scores)]
    chosen = choose(rows, [], AnswerDraw(by="uncertain", n=300))
    labels = [drawn_label(c.row.question_id, truth[int(c.row.question_id[1:])], c.inclusion) for c in chosen]
    unweighted = np.mean([one.score for one in labels])
    assert unweighted < 0.62
    [mean] = corrected_means(rows, labels, resamples=10)
    assert mean.corrected.low <= truth.mean() <= mean.corrected.high
    assert mean.human.value == pytest.approx(truth.mean(), abs=0.07)
    assert any("unequal chances" in note for note in mean.notes)


def test_a_report_card_says_that_it_is_of_hard_answers():
    judgements, labels = sheets([1, 0, 1, 0] * 5, [1, 0, 0, 0] * 5)
    drawn = [drawn_label(one.question_id, one.score, 0.2 + 0.03 * i) for i, one in enumerate(labels)]
    [card] = report_cards(judgements, drawn, resamples=50)
    assert any("20 of the 20 labelled answers were drawn with unequal chances" in note for note in card.notes)
    [plain] = report_cards(judgements, labels, resamples=50)
    assert not any("unequal" in note for note in plain.notes)


def world(kind, rng, n=800):
    """Return people's scores, the judge's, and the probability that it gives, of n answers."""
    if kind == "calibrated":
        p = rng.beta(0.5, 0.3, n)
        return (rng.random(n) < p).astype(float), p
    if kind == "often sure":
        truth = (rng.random(n) < 0.7).astype(float)
        return truth, np.where(rng.random(n) < 0.8, truth * 0.98 + 0.01, 0.6)
    p = np.clip(rng.beta(0.5, 0.3, n), 1e-6, 1 - 1e-6)  # overconfident: wrong where it is sure
    steep = 1 / (1 + np.exp(-3 * np.log(p / (1 - p))))
    return (rng.random(n) < p).astype(float), np.clip(steep, 1e-6, 1 - 1e-6)


MEANS = {"calibrated": 0.5 / 0.8, "often sure": 0.7, "overconfident": 0.5 / 0.8}


@pytest.mark.parametrize("kind", MEANS)
def test_intervals_hold_and_a_ppi_queue_narrows_them(kind):
    rng = np.random.default_rng(1)
    held = {"random": 0, "ppi": 0}
    width = {"random": 0.0, "ppi": 0.0}
    rounds = 150
    for seed in range(rounds):
        truth, p = world(kind, rng)
        rows = [judgement(f"q{i}", float(score)) for i, score in enumerate(p)]
        for by in held:
            chosen = choose(rows, [], AnswerDraw(by=by, n=80, seed=seed))
            at = np.array([int(one.row.question_id[1:]) for one in chosen])
            shares = [1 / (one.inclusion or 1) for one in chosen]
            rest = np.setdiff1d(np.arange(len(p)), at)
            one = prediction_powered_mean(truth[at], p[at], p[rest], shares=shares, bounds=(0, 1)).corrected
            held[by] += one.low <= MEANS[kind] <= one.high
            width[by] += (one.high - one.low) / rounds
    # 95 %, less three standard errors of 150 rounds: 0.95 - 3 * 0.018.
    assert min(held.values()) / rounds > 0.896
    assert width["ppi"] < width["random"] * (1.0 if kind == "overconfident" else 0.97)
