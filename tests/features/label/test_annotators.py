import pytest
from sklearn.metrics import cohen_kappa_score
from tests.support.label_rows import judgement, label

from ragstone.features.label._annotators import annotator_agreement, differing
from ragstone.features.label._marking import labels_for
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.statistics import cohen_kappa, krippendorff_alpha
from ragstone.kernel.statistics.kappa import quadratic


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
