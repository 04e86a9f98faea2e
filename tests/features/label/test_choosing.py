"""Which answers are drawn to be labelled: with equal chances, and with unequal ones."""

from collections import Counter

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.support.label_rows import judgement, label, sheets

from ragstone.features.label._choosing import (
    AnswerDraw,
    chances_of,
    choose,
    draw,
    residual_sizes,
    uncertain_sizes,
    uncertainty,
    way_of,
)
from ragstone.kernel.agreement.corrected import corrected_means, shares_of
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.errors import DataError
from ragstone.kernel.statistics import prediction_powered_mean


def judged(scores, *, judge="rubric", metric="correctness", metadata=None, scale=(0, 1)):
    rows = [
        judgement(f"q{i}", score, judge=judge, metric=metric, scale=scale) for i, score in enumerate(scores)
    ]
    if metadata is None:
        return rows
    return [msgspec.structs.replace(row, metadata=one) for row, one in zip(rows, metadata, strict=True)]


def ids(chosen):
    return [one.row.question_id for one in chosen]


@given(arrays(float, st.integers(2, 60), elements=st.floats(0, 5)), st.data())
def test_chances_are_shares_of_n_and_none_is_zero_or_above_one(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    chances = chances_of(sizes, n, 0.5)
    assert chances.sum() == pytest.approx(n)
    assert (chances > 0).all()
    assert (chances <= 1 + 1e-12).all()
    assert ((sizes[:, None] >= sizes[None, :]) <= (chances[:, None] >= chances[None, :] - 1e-9)).all()


def test_chances_by_hand():
    # Half of 2 spread over four rows, 1/4 each; the other half by size, 3 1 0 0 of 4: 3/4 1/4 0 0.
    assert chances_of(np.array([3.0, 1, 0, 0]), 2, 0.5).tolist() == [1.0, 0.5, 0.25, 0.25]
    # 9 of 12 would be drawn 1.5 times of 2: it is sure, and the others share the one that is left, each 1/3.
    assert chances_of(np.array([9.0, 1, 1, 1]), 2, 0.0).tolist() == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3])


@settings(max_examples=25)
@given(arrays(float, st.integers(2, 40), elements=st.floats(0, 5)), st.data())
def test_a_draw_has_exactly_n_different_rows_and_those_that_are_sure(sizes, data):
    n = data.draw(st.integers(1, len(sizes)))
    chances, rng = chances_of(sizes, n, 0.3), np.random.default_rng(data.draw(st.integers(0, 99)))
    drawn = draw(chances, rng.permutation(len(sizes)), rng)
    assert len(set(drawn.tolist())) == n
    assert set(np.flatnonzero(chances >= 1).tolist()) <= set(drawn.tolist())


def test_each_row_is_drawn_as_often_as_its_chance_says():
    chances = chances_of(np.array([8.0, 4, 2, 1, 1, 0, 0, 0]), 3, 0.2)
    rng = np.random.default_rng(0)
    counts = np.zeros(8)
    for _ in range(4000):
        counts[draw(chances, rng.permutation(8), rng)] += 1
    # Standard error of a share at most 0.5 / sqrt(4,000) = 0.008.
    assert np.abs(counts / 4000 - chances).max() < 0.03


def test_uncertainty_by_hand():
    def of(score, metadata=None, scale=(0, 1), cut=None):
        row = msgspec.structs.replace(judgement("q", score, scale=scale), metadata=metadata)
        return uncertainty(row, cut)

    # 0.8 and 0.2: impurity 1 - 0.64 - 0.04 = 0.32, times 2 / 1, the root of 0.64.
    assert of(0.8, {"probabilities": {"true": 0.8, "false": 0.2}}) == pytest.approx(0.8)
    assert of(1.0, {"frequencies": {"true": 5, "false": 0}}) == 0
    assert of(1.0, {"frequencies": {"true": 2, "false": 2}}) == pytest.approx(1)
    assert of(0.5, {"spread": 0.5}) == 0.5
    assert of(4, {"spread": 1}, scale=(1, 5)) == 0.25
    assert of(75, scale=(0, 100)) == 0.5  # half way from the middle, 50, to the end
    assert of(75, scale=(0, 100), cut=75) == 1
    assert of(0, scale=(0, 100), cut=75) == 0
    failed = msgspec.structs.replace(judgement("q", None, status="timeout"), metadata=None)
    assert uncertainty(failed) == 0


def test_uncertain_ones_are_drawn_mostly_and_the_sure_ones_still_have_a_chance():
    rows = judged([0.5] * 20 + [0.98] * 180)
    chosen = choose(rows, [], AnswerDraw(by="uncertain", n=25))
    unsure = [one for one in chosen if one.row.score == 0.5]
    assert len(unsure) >= 18
    chances = {one.row.score: one.inclusion for one in chosen}
    assert chances[0.5] > 0.9
    # A fifth of 25 is spread over 200 rows: 0.025 each, and a little by their own doubt, 0.04 squared.
    assert 0.025 <= chances.get(0.98, 0.025) < 0.04


def test_disagreement_of_judges_is_looked_for_on_one_scale():
    first = judged([1, 1, 0, 0] * 20)
    second = judged([100, 0, 0, 100] * 20, judge="other", scale=(0, 100))
    third = judged([0] * 80, judge="tone", metric="tone")
    chosen = choose([*first, *second, *third], [], AnswerDraw(by="disagreement", n=20))
    differing = [int(name[1:]) % 4 in (1, 3) for name in ids(chosen)]
    # A fifth of 20 for all 80, 0.05 each; 16 for the 40 on which they differ, 0.4 each: 18 of 20.
    assert sum(differing) >= 16
    assert {round(one.inclusion, 4) for one in chosen} <= {0.45, 0.05}


def test_ppi_goes_by_the_residuals_of_labels_where_there_are_some():
    # The judge says 1 of q0 to q59 and 0 of the rest; people agree with its 1, and with its 0 half of the
    # time.
    rows = judged([1.0] * 60 + [0.0] * 60)
    labels = [label(f"q{i}", 1) for i in range(20)] + [label(f"q{i}", i % 2) for i in range(60, 80)]
    sizes = residual_sizes(rows, human_scores(labels, "correctness"))
    # The line goes through the means, 1 and 1/2. Squares: 0 of 20 and 1/4 of 20, 1/8 of all. With five of all
    # beside each stratum: 5/8 / 25 = 0.025, and (5 + 5/8) / 25 = 0.225; their roots are as 1 to 3.
    assert sizes[0] == pytest.approx(0.025**0.5)
    assert sizes[-1] == pytest.approx(0.225**0.5)
    chosen = choose(rows, labels, AnswerDraw(by="ppi", n=40))
    harder = sum(one.row.score == 0 for one in chosen)
    # Half of 40 evenly, the other half as 1 to 3: 10 + 15 = 25.
    assert 24 <= harder <= 26


def test_ppi_without_labels_goes_by_the_judges_own_doubt():
    probabilities = [{"probabilities": {"true": p, "false": 1 - p}} for p in [0.5] * 50 + [0.99] * 50]
    chosen = choose(judged([1.0] * 100, metadata=probabilities), [], AnswerDraw(by="ppi", n=30))
    assert sum(int(name[1:]) < 50 for name in ids(chosen)) > 15  # 7.5 + 15 * 1 / 1.2 = 20 are expected


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("uncertain", "as sure of one answer"),
        ("disagreement", "only one judge"),
        ("ppi", "Label at least 20"),
    ],
)
def test_where_nothing_tells_answers_apart_it_says_what_to_do(by, words):
    with pytest.raises(DataError, match=words):
        choose(judged([1.0, 0.0] * 20), [], AnswerDraw(by=by, n=5))


def test_judges_that_never_differ_are_told(says):
    rows = judged([1.0, 0.0]) + judged([1.0, 0.0], judge="other")
    with pytest.raises(DataError) as error:
        choose(rows, [], AnswerDraw(by="disagreement", n=1))
    says(error.value)


def test_equal_draws_leave_out_what_equal_draws_have_labelled_and_unequal_ones_nothing():
    rows = judged([i / 40 for i in range(40)])
    equal = [label(f"q{i}", 1) for i in range(10)]
    unequal = [
        msgspec.structs.replace(label(f"q{i}", 1), metadata={"inclusion": 0.3, "queue": "x"})
        for i in range(10, 20)
    ]
    assert set(ids(choose(rows, [*equal, *unequal], AnswerDraw(by="random", n=99)))) == {
        f"q{i}" for i in range(10, 40)
    }
    assert len(choose(rows, [*equal, *unequal], AnswerDraw(by="uncertain", n=99))) == 40
    assert all(one.inclusion is None for one in choose(rows, equal, AnswerDraw(by="random", n=5)))


def test_the_same_seed_draws_the_same_and_a_tag_can_be_spread_over(says):
    rows = judged([0.5] * 90)
    tags = {(f"q{i}", "default"): {"crop": "maize" if i < 30 else "tea"} for i in range(90)}
    for seed in range(10):
        choice = AnswerDraw(strata=("crop",), n=9, seed=seed)
        chosen = choose(rows, [], choice, tags)
        assert ids(chosen) == ids(choose(rows, [], choice, tags))
        assert Counter(tags[name, "default"]["crop"] for name in ids(chosen)) == {"maize": 3, "tea": 6}
    with pytest.raises(DataError) as error:
        choose(rows, [], AnswerDraw(strata=("field",), n=9), tags)
    says(error.value)


def test_random_spreads_over_nothing():
    rows = judged([0.0] * 50 + [1.0] * 50)
    drawn = {
        sum(one.row.score for one in choose(rows, [], AnswerDraw(by="random", n=20, seed=s)))
        for s in range(30)
    }
    assert len(drawn) > 3  # stratified: always 10


def test_a_judge_that_is_not_there_and_a_way_that_is_none_are_told(says):
    with pytest.raises(DataError) as error:
        choose(judged([1.0]), [], AnswerDraw(judge="nobody"))
    says(error.value)
    with pytest.raises(DataError) as error:
        choose(judged([1.0]), [], AnswerDraw(metric="tone"))
    says(error.value)
    with pytest.raises(DataError) as error:
        way_of("uncertainty")
    says(error.value)
    assert way_of("ppi") == "ppi"


def test_one_way_to_be_sure_is_no_uncertainty(says):
    with pytest.raises(DataError) as error:
        uncertain_sizes(judged([0.0, 1.0]))
    says(error.value)


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
def test_shares_that_are_none_are_refused(shares, says):
    with pytest.raises(ValueError) as error:
        prediction_powered_mean([1.0, 0.0], [1.0, 0.0], [1.0], shares=shares)
    says(error.value)


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


def test_a_chance_that_is_none_is_told(says):
    for chance in (0, 1.5, "often"):
        with pytest.raises(DataError) as error:
            corrected_means(
                [judgement("a", 1), judgement("b", 1)], [drawn_label("a", 1, chance)], resamples=10
            )
        says(error.value)


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


def test_a_report_card_says_that_it_is_of_hard_answers(says):
    judgements, labels = sheets([1, 0, 1, 0] * 5, [1, 0, 0, 0] * 5)
    drawn = [drawn_label(one.question_id, one.score, 0.2 + 0.03 * i) for i, one in enumerate(labels)]
    [card] = report_cards(judgements, drawn, resamples=50)
    says("\n".join(card.notes))
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


@pytest.mark.simulation
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
