"""Agreement while labels come in: what is measured, what cannot be, and what a bar says."""

import msgspec
import numpy as np
import pytest

from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.sequential import sequential_agreement
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import NO_MODEL, Judgement, Label


def judged(scores, model="x/y", judge="rubric", scale=(0, 1)):
    return [
        Judgement(
            question_id=f"q{n}",
            system="mine",
            judge=judge,
            metric="correctness",
            status="scored",
            model=model,
            prompt_version=1,
            score=float(score),
            scale=scale,
        )
        for n, score in enumerate(scores)
    ]


def labelled(scores, **metadata):
    return [
        Label(
            question_id=f"q{n}",
            system="mine",
            score=float(score),
            metadata={name: values[n] for name, values in metadata.items()} or None,
        )
        for n, score in enumerate(scores)
    ]


def grades(n, agree, seed=0):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 2, n)
    return human, np.where(rng.permutation(n) < round(agree * n), human, 1 - human)


def test_value_and_interval_are_of_the_cards_measure():
    human, judge = grades(200, 0.9)
    judgements, labels = judged(judge), labelled(human)
    [card] = report_cards(judgements, labels, resamples=20)
    for measure, name in (("kappa", "kappa"), ("agreement", "exact agreement"), ("error", "signed error")):
        [result] = sequential_agreement(judgements, labels, measure=measure)
        assert (result.measure, result.n, result.verdict) == (name, 200, None)
        assert result.value == pytest.approx(card.agreement[name].value)
        assert result.low < card.agreement[name].low
        assert result.high > card.agreement[name].high


def test_more_than_two_grades_get_quadratic_kappa():
    rng = np.random.default_rng(1)
    human = rng.integers(0, 3, 150)
    judge = np.clip(human + rng.integers(-1, 2, 150) * (rng.random(150) < 0.3), 0, 2)
    [card] = report_cards(judged(judge, scale=(0, 2)), labelled(human), resamples=20)
    [result] = sequential_agreement(judged(judge, scale=(0, 2)), labelled(human))
    assert result.measure == "quadratic kappa"
    assert result.value == pytest.approx(card.agreement["quadratic kappa"].value)


@pytest.mark.parametrize(
    ("agree", "bar", "verdict"), [(0.97, 0.7, "trusted"), (0.6, 0.7, "not trusted"), (0.9, 0.8, "undecided")]
)
def test_a_bar_is_passed_missed_or_undecided(agree, bar, verdict):
    human, judge = grades(200, agree)
    [result] = sequential_agreement(judged(judge), labelled(human), trust=bar)
    assert (result.trust, result.verdict) == (bar, verdict)
    assert (result.more is None and not result.far) == (verdict != "undecided")


def test_labels_still_missing_are_told_from_twenty_labels_on():
    for n, is_told in ((19, False), (20, True)):
        human, judge = grades(n, 0.95)
        [result] = sequential_agreement(judged(judge), labelled(human), trust=0.5)
        assert (result.verdict, result.more is not None) == ("undecided", is_told)


def test_a_judge_without_a_model_beside_one_that_asks_is_a_baseline():
    human, judge = grades(60, 0.9)
    rows = judged(judge) + judged(human, NO_MODEL, "containment")
    assert [row.baseline for row in sequential_agreement(rows, labelled(human))] == [False, True]
    [alone] = sequential_agreement(judged(judge, NO_MODEL), labelled(human))
    assert alone.baseline is False


def test_unequal_chances_of_one_draw_are_made_up_for_and_of_several_are_not(says):
    human, judge = grades(100, 0.8)
    hard = human != judge
    chance = np.where(hard, 0.8, 0.4).tolist()
    one = labelled(human, inclusion=chance, queue=["ppi-1"] * 100)
    [result] = sequential_agreement(judged(judge), one, measure="agreement")
    # 20 wrong at 1 / 0.8 = 25, 80 right at 1 / 0.4 = 200: 200 of 225.
    assert result.value == pytest.approx(200 / 225)
    assert result.unequal
    two = labelled(human, inclusion=chance, queue=["ppi-1"] * 50 + ["ppi-2"] * 50)
    [result] = sequential_agreement(judged(judge), two)
    says(result.reason)
    mixed = labelled(human, inclusion=[*chance[:50], *[None] * 50], queue=[""] * 100)
    [result] = sequential_agreement(judged(judge), mixed, trust=0.5)
    assert (result.low, result.high, result.verdict) == (None, None, "undecided")


@pytest.mark.parametrize(("turns", "expected"), [(1, (60, "question")), (3, (20, "conversation"))])
def test_replies_are_counted_by_their_conversations(turns, expected):
    human, judge = grades(60, 0.9)
    rows = [
        msgspec.structs.replace(row, metadata={"conversation": f"c{n // turns}", "turn": n % turns})
        if turns > 1
        else row
        for n, row in enumerate(judged(judge))
    ]
    [result] = sequential_agreement(rows, labelled(human))
    assert (result.n, (result.n_questions, result.unit)) == (60, expected)


@pytest.mark.parametrize("second", [0.5, 1.0])
def test_chances_are_called_unequal_only_where_they_differ(second):
    human, judge = grades(100, 0.8)
    rows = labelled(human, inclusion=[1.0, second] * 50, queue=["draw-1"] * 100)[:80]
    [result] = sequential_agreement(judged(judge), rows)
    [card] = report_cards(judged(judge), rows, resamples=50)
    [mean] = corrected_means(judged(judge), rows, resamples=50)
    for notes in (card.notes, mean.notes):
        assert any("unequal chances" in note for note in notes) is result.unequal is (second < 1)


def test_labels_of_one_grade_measure_no_kappa_however_the_judge_differs(says):
    rng = np.random.default_rng(3)
    judgements, alike = judged(rng.integers(0, 2, 60)), labelled([1] * 60)
    [result] = sequential_agreement(judgements, alike, trust=0.8)
    assert (result.value, result.low, result.more, result.verdict) == (None, None, None, "undecided")
    says(result.reason)
    [of_two] = sequential_agreement(judgements, labelled([1] * 30 + [0] + [1] * 29), trust=0.8)
    assert of_two.reason is None
    [agreed] = sequential_agreement(judgements, alike, measure="agreement", trust=0.8)
    assert agreed.reason is None


def test_labels_sorted_by_score_have_lost_their_order(says):
    human, judge = grades(60, 0.9)
    at = np.argsort(human, kind="stable")
    rows = [labelled(human)[place] for place in at]
    [result] = sequential_agreement(judged(judge), rows)
    says(result.reason)
    assert (result.value, result.low) == (None, None)
    # The order does not matter for a mean.
    [mean] = sequential_agreement(judged(judge), rows, measure="agreement")
    [as_before] = sequential_agreement(judged(judge), labelled(human), measure="agreement")
    assert mean == as_before


def test_the_order_is_that_of_the_labels_not_of_the_judgements():
    human, judge = grades(60, 0.9)
    forward = sequential_agreement(judged(judge), labelled(human))
    assert list(sequential_agreement(judged(judge)[::-1], labelled(human))) == list(forward)
    assert list(sequential_agreement(judged(judge), labelled(human)[::-1])) != list(forward)


def test_what_cannot_be_measured_has_a_reason(says):
    human, judge = grades(40, 0.9)
    [rank_only] = sequential_agreement(judged(100 * judge, scale=(0, 100)), labelled(human), trust=0.8)
    says(rank_only.reason)
    assert rank_only.verdict == "undecided"
    [cut] = sequential_agreement(judged(100 * judge, scale=(0, 100)), labelled(human), threshold=50)
    assert cut.reason is None
    [alike] = sequential_agreement(judged(np.ones(40)), labelled(np.ones(40)))
    assert (alike.value, alike.low, alike.high) == (None, None, None)
    says(alike.reason)
    no_scale = judged(np.round(100 * judge + np.arange(40) / 7, 3), scale=None)
    [unknown] = sequential_agreement(no_scale, labelled(100 * human + np.arange(40)), measure="error")
    says(unknown.reason)
    failed = [Judgement(**{**row_fields(row), "status": "timeout", "score": None}) for row in judged(judge)]
    [unscored] = sequential_agreement(failed, labelled(human))
    says(unscored.reason)


def row_fields(row):
    return {name: getattr(row, name) for name in row.__struct_fields__}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trust": 1.5}, "a bar of 1.5"),
        ({"trust": 0}, "a bar of 0"),
        ({"trust": float("nan")}, "a bar of nan"),
        ({"measure": "kapa"}, "Did you mean 'kappa'"),
        ({"measure": "error", "trust": 0.8}, "not for the signed error"),
    ],
)
def test_bars_and_measures_that_mean_nothing_are_refused(options, words):
    human, judge = grades(20, 0.9)
    with pytest.raises(ConfigError, match=words):
        sequential_agreement(judged(judge), labelled(human), **options)


def test_no_labels_and_labels_of_other_answers_are_refused(says):
    _, judge = grades(20, 0.9)
    for labels in ([], [Label(question_id="z", system="mine", score=1.0)]):
        with pytest.raises(DataError) as error:
            sequential_agreement(judged(judge), labels)
        says(error.value)
