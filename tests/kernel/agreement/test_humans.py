import pytest
from sklearn.metrics import cohen_kappa_score
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement.card import HumanAgreement
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.corrected_mean import labels_for
from ragstone.kernel.agreement.humans import annotator_agreement, differing, human_agreement
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.statistics import cohen_kappa, krippendorff_alpha
from ragstone.kernel.statistics.kappa import quadratic


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


def test_kappa_of_two_annotators_is_cohens_and_that_of_the_statistics():
    a, b = "1101001110100", "1001011110110"
    found = annotator_agreement(labelled(a, b), "correctness", [0, 1])
    [pair] = found.pairs
    first, second = [*map(float, a)], [*map(float, b)]
    assert pair.kind == "kappa"
    assert pair.kappa.value == pytest.approx(cohen_kappa(first, second, [0, 1]))
    assert pair.kappa.value == pytest.approx(cohen_kappa_score(first, second))
    assert pair.kappa.low < pair.kappa.value < pair.kappa.high
    assert (pair.n, pair.exact.value) == (13, pytest.approx(10 / 13))
    assert (found.n_answers, found.n_differing) == (13, 3)


def test_more_than_two_grades_have_quadratic_weights_and_three_kinds_of_alpha():
    a, b = "0123321012", "0122320113"
    found = annotator_agreement(labelled(a, b), "correctness", [0, 1, 2, 3])
    first, second = [*map(float, a)], [*map(float, b)]
    assert found.pairs[0].kind == "quadratic kappa"
    assert found.pairs[0].kappa.value == pytest.approx(cohen_kappa(first, second, [0, 1, 2, 3], quadratic))
    alpha = krippendorff_alpha([*first, *second], [*range(10), *range(10)], "ordinal")
    assert found.alpha["ordinal alpha"].value == pytest.approx(alpha)


def test_three_annotators_with_overlap_are_three_pairs_on_their_own_answers():
    found = annotator_agreement(labelled("1100..", "10..10", "..0110"), "correctness", [0, 1])
    assert [(one.first, one.second, one.n) for one in found.pairs] == [
        ("a", "b", 2),
        ("a", "c", 2),
        ("b", "c", 2),
    ]
    assert found.n_answers == 6


def test_an_adjudicator_is_no_annotator_here():
    rows = [*labelled("11", "10"), label("q1", 1, annotator="adjudicator o")]
    found = annotator_agreement(rows, "correctness")
    assert len(found.pairs) == 1
    assert found == annotator_agreement(labelled("11", "10"), "correctness")


def test_grades_too_many_to_count_have_no_kappa_and_one_annotator_no_agreement():
    rows = [label(f"q{i}", i, annotator="a") for i in range(12)]
    rows += [label(f"q{i}", i + 1, annotator="b") for i in range(12)]
    found = annotator_agreement(rows, "correctness")
    assert found.pairs[0].kappa is None
    assert [*found.alpha] == ["interval alpha"]
    alone = annotator_agreement(labelled("101"), "correctness")
    assert (alone.pairs, alone.alpha, alone.n_answers) == ([], {}, 0)


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


def test_differing_answers_come_with_all_labels_the_adjudicators_last():
    rows = [label("q1", 0, annotator="adjudicator o"), *labelled("110", "100")]
    found = differing(rows, "correctness")
    assert [*found] == [("q1", "default")]
    assert [one.annotator for one in found["q1", "default"]] == ["a", "b", "adjudicator o"]


def test_labels_for_a_margin_are_those_that_reach_it():
    # A judge that tells nothing: 30 labels alone. Their interval is ± m, so half of it takes four times as
    # many.
    rows = [judgement(f"q{i}", 1.0) for i in range(4000)]
    labels = [label(f"q{i}", i % 2) for i in range(30)]
    [mean] = corrected_means(rows, labels, resamples=10)
    margin = (mean.corrected.high - mean.corrected.low) / 2
    assert labels_for(mean, margin / 2) == pytest.approx(120, abs=1)
    assert labels_for(mean, margin) == 30
    assert labels_for(mean, margin / 100) is None
    assert labels_for(mean, 0) is None
