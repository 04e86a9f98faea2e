import pytest
from sklearn.metrics import cohen_kappa_score
from tests.agreement.rows import label

from ragstone.agreement.card import HumanAgreement
from ragstone.agreement.humans import human_agreement
from ragstone.agreement.pairing import human_scores


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
