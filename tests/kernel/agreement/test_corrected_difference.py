"""Judgements of two systems and labels of both -> the difference that people would see."""

import msgspec
import numpy as np
import pytest
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement.corrected_difference import corrected_difference, labelled_differences
from ragstone.kernel.errors import DataError
from ragstone.kernel.statistics.ppi_difference import prediction_powered_difference

HUMAN = ([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0, 0.0, 0.0])
JUDGE = ([1.0, 0.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])


def side(scores, system, **fields):
    return [judgement(f"q{at}", score, system=system, **fields) for at, score in enumerate(scores)]


def labelled(scores, system, n=4, **metadata):
    rows = [label(f"q{at}", score, system=system) for at, score in enumerate(scores[:n])]
    return [msgspec.structs.replace(row, metadata=metadata or None) for row in rows]


def both(n=4, **metadata):
    return labelled(HUMAN[0], "a", n, **metadata), labelled(HUMAN[1], "b", n, **metadata)


def test_differences_are_b_minus_a_of_labelled_questions_and_of_others():
    found = labelled_differences(side(JUDGE[0], "a"), side(JUDGE[1], "b"), both())
    assert found is not None
    assert found.human.tolist() == [0, 1, 0, 1]
    assert found.judge.tolist() == [0, 1, 0, 0]
    assert found.others.tolist() == [0, 1]
    assert found.errors.tolist() == [[0, 0], [0, 0], [0, 0], [1, 0]]
    assert (found.ids, found.shares, found.scale) == (["q0", "q1", "q2", "q3"], None, (0, 1))


def test_it_is_that_of_the_statistics_room_with_the_numbers_it_rests_on():
    found = corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), both())
    expected = prediction_powered_difference([0, 1, 0, 1], [0, 1, 0, 0], [0, 1], width=1)
    assert found is not None
    assert (found.corrected, found.human, found.p) == (expected.corrected, expected.human, expected.p)
    assert (found.n_labelled, found.n_rows, found.n_differ) == (4, 6, 2)
    # The judge's differences are 0 1 0 0 where people's are 0 1 0 1: it favours A by a quarter.
    assert found.flattery is not None
    assert found.flattery.value == pytest.approx(-0.25)


def test_all_labelled_is_what_people_say_alone():
    found = corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), both(6))
    assert found is not None
    assert found.corrected == found.human
    assert found.corrected.value == pytest.approx((1 + 1 - 1) / 6)
    assert found.weight == 0


def test_system_names_do_not_matter_only_sides_do():
    found = labelled_differences(
        side(JUDGE[0], "x"), side(JUDGE[1], "x"), (labelled(HUMAN[0], "x"), labelled(HUMAN[1], "x"))
    )
    other = labelled_differences(side(JUDGE[0], "a"), side(JUDGE[1], "b"), both())
    assert found is not None
    assert other is not None
    assert found.human.tolist() == other.human.tolist()


def test_without_labels_of_both_there_is_none():
    ours, theirs = both()
    assert corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), (ours, [])) is None
    assert corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), (ours[:2], theirs[2:])) is None
    assert corrected_difference([], [], (ours, theirs)) is None


def test_question_with_one_label_counts_as_not_labelled_and_is_told(says):
    ours, theirs = both()
    found = corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), (ours[:3], theirs))
    assert found is not None
    assert (found.n_labelled, found.n_rows) == (3, 6)
    says("\n".join(found.notes))


def test_ties_and_answers_without_a_score_are_left_out(says):
    ours, theirs = both()
    torn = [
        msgspec.structs.replace(ours[0], annotator=name, score=score) for name, score in (("x", 0), ("y", 1))
    ]
    failed = msgspec.structs.replace(side(JUDGE[1], "b")[5], score=None, status="unparsable")
    found = corrected_difference(
        side(JUDGE[0], "a"), [*side(JUDGE[1], "b")[:5], failed], ([*torn, *ours[1:]], theirs)
    )
    assert found is not None
    assert (found.n_labelled, found.n_rows) == (3, 4)
    says("\n".join(found.notes))


def test_questions_that_the_judge_was_tuned_on_are_left_out():
    tuned = [
        msgspec.structs.replace(row, metadata={"tuned": True}) if row.question_id == "q0" else row
        for row in side(JUDGE[0], "a")
    ]
    found = labelled_differences(tuned, side(JUDGE[1], "b"), both())
    assert found is not None
    assert found.ids == ["q1", "q2", "q3"]


def test_pairs_drawn_with_unequal_chances_have_shares():
    ours, theirs = both()
    chances = (0.5, 0.25, 0.5, 0.5)
    drawn = [
        [
            msgspec.structs.replace(row, metadata={"inclusion": p, "queue": "pairs"})
            for row, p in zip(rows, chances, strict=True)
        ]
        for rows in (ours, theirs)
    ]
    found = labelled_differences(side(JUDGE[0], "a"), side(JUDGE[1], "b"), (drawn[0], drawn[1]))
    assert found is not None
    assert found.shares is not None
    assert found.shares.tolist() == pytest.approx([0.2, 0.4, 0.2, 0.2])
    told = corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), (drawn[0], drawn[1]))
    assert told is not None
    assert any("unequal chances" in note for note in told.notes)
    every = corrected_difference(
        side(JUDGE[0], "a"), side(JUDGE[1], "b"), both(6, inclusion=1.0, queue="all of them")
    )
    assert every is not None
    assert not any("unequal" in note for note in every.notes)


def test_answers_that_were_drawn_apart_are_refused(says):
    ours, theirs = labelled(HUMAN[0], "a", inclusion=0.5), labelled(HUMAN[1], "b", inclusion=0.2)
    with pytest.raises(DataError) as error:
        corrected_difference(side(JUDGE[0], "a"), side(JUDGE[1], "b"), (ours, theirs))
    says(error.value)


def test_labels_in_another_unit_give_a_difference_in_theirs(says):
    scores = ([80.0, 10, 90, 70, 60, 20], [90.0, 95, 90, 80, 85, 70])
    found = corrected_difference(
        side(scores[0], "a", scale=(0, 100)), side(scores[1], "b", scale=(0, 100)), both()
    )
    assert found is not None
    assert (found.same_unit, found.scale, found.flattery) == (False, (0, 1), None)
    assert abs(found.corrected.value) <= 1
    for note in found.notes:
        says(note)


def test_a_mapping_says_what_labels_stand_for():
    graded = [msgspec.structs.replace(row, score=1 + 4 * row.score) for row in labelled(HUMAN[0], "a")]
    theirs = [msgspec.structs.replace(row, score=1 + 4 * row.score) for row in labelled(HUMAN[1], "b")]
    found = labelled_differences(
        side(JUDGE[0], "a"), side(JUDGE[1], "b"), (graded, theirs), mapping={1.0: 0.0, 5.0: 1.0}
    )
    assert found is not None
    assert found.human.tolist() == [0, 1, 0, 1]


def test_questions_of_one_document_are_one_cluster():
    rng = np.random.default_rng(0)
    scores = [rng.choice([0.0, 1.0], size=60).tolist() for _ in range(2)]
    rows = (side(scores[0], "a"), side(scores[1], "b"))
    labels = (labelled(scores[0], "a", 40), labelled(scores[1], "b", 40))
    alone = corrected_difference(*rows, labels)
    shared = corrected_difference(*rows, labels, clusters={f"q{at}": f"d{at // 10}" for at in range(60)})
    assert alone is not None
    assert shared is not None
    assert shared.corrected.value == pytest.approx(alone.corrected.value)
    assert shared.corrected.low != alone.corrected.low
