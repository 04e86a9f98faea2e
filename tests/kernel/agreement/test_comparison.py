from collections.abc import Sequence

import numpy as np

from ragstone.kernel.agreement.comparison import GradeComparison, Scale, compare


def comparison(
    human: Sequence[float],
    judge: Sequence[float],
    scale: Scale = (0, 1),
    *,
    mapped: bool = False,
    threshold: float | None = None,
) -> GradeComparison:
    return compare(np.array(human, float), np.array(judge, float), scale, mapped=mapped, threshold=threshold)


def test_yes_and_no_on_both_sides_compare_directly():
    found = comparison([0, 1], [1, 1], threshold=0.7)
    assert (found.categories, found.same_unit, found.threshold, found.notes) == ([0, 1], True, None, [])


def test_yes_no_labels_are_not_compared_with_a_wider_scale_by_a_silent_cut():
    for judge, scale in (([0.2, 0.9], (0, 1)), ([0, 100], (0, 100)), ([0, 1], (0, 3)), ([0.2, 0.9], None)):
        found = comparison([0, 1], judge, scale)
        assert (found.categories, found.same_unit) == ([], False)
        assert "give a threshold" in found.notes[0]
        assert "no kappa" in found.notes[1]


def test_a_score_at_the_threshold_counts_as_one(says):
    found = comparison([0, 1, 1], [49.9, 50, 80], (0, 100), threshold=50)
    assert found.judge.tolist() == [0, 1, 1]
    assert (found.categories, found.threshold) == ([0, 1], 50)
    says("\n".join(found.notes))


def test_a_threshold_off_the_scale_is_not_applied(says):
    found = comparison([0, 1], [0.3, 0.6], (0, 1), threshold=50)
    assert (found.categories, found.threshold) == ([], None)
    says(found.notes[0])


def test_a_threshold_is_for_labels_of_zero_and_one_only():
    found = comparison([0, 1, 2], [0, 1, 1], (0, 2), threshold=1)
    assert (found.judge.tolist(), found.categories, found.threshold) == ([0, 1, 1], [0, 1, 2], None)


def test_mapped_labels_are_grades_of_the_judge():
    found = comparison([0, 1], [0, 1], (0, 3), mapped=True)
    assert (found.categories, found.same_unit) == ([0, 1, 2, 3], True)


def test_mapped_yes_and_no_can_still_be_cut():
    assert comparison([0, 1], [20, 90], (0, 100), mapped=True, threshold=50).categories == [0, 1]


def test_a_threshold_that_labels_have_no_use_for_is_said_to_be_unused(says):
    for human, judge, scale in (
        ([-1, 0, 1], [-1, 0, 1], (-1, 1)),
        ([0, 50, 100], [10, 50, 80], (0, 100)),
        ([1, 3], [1, 2], (0, 2)),
    ):
        found = comparison(human, judge, scale, threshold=0.5)
        says(found.notes[-1])
        without = comparison(human, judge, scale)
        assert (found.notes[:-1], found.categories) == (without.notes, without.categories)
    cut = comparison([0, 1], [20, 90], (0, 100), threshold=50)
    assert (cut.threshold, len(cut.notes)) == (50, 1)
    assert comparison([0, 1], [0, 1], (0, 1), threshold=0.5).notes == []  # there it changes nothing


def test_grades_are_the_whole_scale_if_whole_and_else_those_seen():
    assert comparison([1, 2], [2, 4], (1, 5)).categories == [1, 2, 3, 4, 5]
    assert comparison([0, 0.5], [0.25, 1], (0, 1)).categories == [0, 0.25, 0.5, 1]
    assert comparison([1, 3], [3, 4], None).categories == [1, 2, 3, 4]


def test_labels_off_the_scale_ask_for_a_mapping(says):
    found = comparison([1, 3, 5], [0, 1, 2], (0, 2))
    assert found.off_scale
    says(found.notes[0])


def test_few_grades_on_a_scale_of_hundred_are_another_scale():
    found = comparison([0, 1, 2], [0, 50, 100], (0, 100))
    assert (found.same_unit, found.off_scale) == (False, False)
    assert "give a mapping" in found.notes[0]


def test_mapped_or_many_labels_on_a_continuous_scale_share_its_unit(says):
    many = list(range(0, 100, 7))
    for found in (
        comparison(many, many, (0, 100)),
        comparison([0, 50, 100], [10, 50, 80], (0, 100), mapped=True),
    ):
        assert (found.categories, found.same_unit) == ([], True)
        says(found.notes[0])


def test_a_judge_is_yes_or_no_only_if_it_is_on_answers_without_a_label_too():
    human, judge = np.array([0.0, 1, 0]), np.array([0.0, 1, 0])
    for given, graded in (([0, 1, 0, 1], True), ([0, 1, 0, 0.4], False)):
        found = compare(human, judge, (0, 1), mapped=False, threshold=None, given=np.array(given, float))
        assert (bool(found.categories), found.same_unit) == (graded, graded)
    cut = compare(human, judge, (0, 1), mapped=False, threshold=0.3, given=np.array([0.4]))
    assert (cut.threshold, cut.categories) == (0.3, [0, 1])


def test_scores_of_answers_without_a_label_say_whether_there_are_grades():
    human, judge, many = np.array([0, 0.5, 1]), np.array([0, 0.5, 0.5]), np.linspace(0, 1, 60)
    known = compare(human, judge, (0, 1), mapped=False, threshold=None)
    assert known.categories == [0, 0.5, 1]
    found = compare(human, judge, (0, 1), mapped=False, threshold=None, given=many)
    assert (found.categories, found.same_unit) == ([], False)
