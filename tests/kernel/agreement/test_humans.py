import pytest
from sklearn.metrics import cohen_kappa_score
from tests.support.label_rows import label

from ragstone.kernel.agreement._humans import human_agreement
from ragstone.kernel.agreement.card import HumanAgreement
from ragstone.kernel.agreement.pairing import human_scores


def agreement_of(*grades: list[float]) -> HumanAgreement | None:
    labels = [
        label(f"q{i}", score, annotator=f"person {place}")
        for i, given in enumerate(grades)
        for place, score in enumerate(given)
    ]
    return human_agreement(human_scores(labels, "correctness").values(), seed=0, resamples=300)


def test_answers_with_one_annotator_say_nothing_of_people():
    assert agreement_of([1], [0]) is None


def test_each_pair_of_annotators_counts_once():
    # 1-1 agrees; of three annotators 1 1 0 one pair of three agrees: 2 of 4.
    found = agreement_of([1, 1], [1, 1, 0], [0])
    assert found is not None
    assert found.n_answers == 2
    assert (found.exact_agreement.value, found.exact_agreement.n) == (0.5, 4)


def test_kappa_is_pooled_over_both_orders():
    grades: list[list[float]] = [[0, 0], [1, 2], [2, 2], [1, 1], [0, 1], [2, 0], [1, 1]]
    first = [a for a, _ in grades] + [b for _, b in grades]
    second = [b for _, b in grades] + [a for a, _ in grades]
    found = agreement_of(*grades)
    assert found is not None
    assert found.kappa is not None
    assert found.kappa.value == pytest.approx(cohen_kappa_score(first, second, weights="quadratic"))
    assert found.kappa.n == 7


def test_many_different_grades_have_no_kappa():
    found = agreement_of(*([i, i + 0.5] for i in range(12)))
    assert found is not None
    assert found.kappa is None


def labelled(*given):
    """Labels of annotators a, b, c: one text of grades each, a dot where one has given none."""
    return [
        label(f"q{i}", float(grade), annotator=who)
        for who, grades in zip("abc", given, strict=False)
        for i, grade in enumerate(grades)
        if grade != "."
    ]


def test_an_adjudicated_label_replaces_the_score_and_nothing_else():
    rows = [*labelled("11", "10"), label("q1", 0, annotator="adjudicator o")]
    humans = human_scores(rows, "correctness")
    assert humans["q1", "default"].score == 0
    assert humans["q1", "default"].grades == [1, 0]
    assert humans["q0", "default"].score == 1
    before = human_agreement(human_scores(labelled("11", "10"), "correctness").values(), seed=0, resamples=50)
    assert human_agreement(humans.values(), seed=0, resamples=50) == before


def test_an_adjudicator_alone_is_an_annotator_and_two_have_a_median():
    alone = human_scores([label("q", 1, annotator="adjudicator o")], "m")["q", "default"]
    assert (alone.score, alone.grades) == (1, [1])
    two = [
        label("q", score, annotator=who)
        for who, score in [("a", 0), ("adjudicator o", 1), ("adjudicator p", 0)]
    ]
    assert human_scores(two, "m")["q", "default"].score is None
