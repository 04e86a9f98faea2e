import pytest
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement.pairing import GradePairs, human_scores, pair
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Label


def pairs_of(judgements: list[Judgement], labels: list[Label]) -> GradePairs:
    return pair(judgements, human_scores(labels, "correctness"))


def test_pairs_go_by_id_and_never_by_position():
    judgements = [
        judgement("a", 1),
        judgement("b", None, status="unparsable"),
        judgement("c", 0),
        judgement("x", 1),
    ]
    labels = [label("y", 1), label("c", 0), label("b", 1), label("a", 1), label("z", 0)]
    pairs = pairs_of(judgements, labels)
    assert pairs.keys == [("a", "default"), ("c", "default")]
    assert pairs.human.tolist() == pairs.judge.tolist() == [1, 0]
    assert pairs.statuses == {"scored": 2, "unparsable": 1}
    assert (pairs.n_unlabelled, pairs.n_unjudged, pairs.n_tied) == (1, 2, 0)


def test_answers_of_different_systems_are_different():
    judgements = [judgement("a", 1, system="s"), judgement("a", 0, system="t")]
    pairs = pairs_of(judgements, [label("a", 0, system="t"), label("a", 1, system="s")])
    assert pairs.human.tolist() == [1, 0]
    assert pairs.systems == ["s", "t"]


def test_label_of_another_metric_is_not_used_and_one_without_metric_fits_any():
    labels = [label("a", 0, metric="relevance"), label("a", 1, metric="correctness"), label("b", 0)]
    pairs = pairs_of([judgement("a", 1), judgement("b", 1)], labels)
    assert pairs.human.tolist() == [1, 0]


@pytest.mark.parametrize(("judged", "labelled"), [("gpt", "default"), ("default", "gpt")])
def test_side_without_systems_is_paired_by_question(judged, labelled):
    judgements = [judgement("a", 1, system=judged), judgement("b", 0, system=judged)]
    pairs = pairs_of(judgements, [label("b", 0, system=labelled), label("a", 1, system=labelled)])
    assert pairs.human.tolist() == [1, 0]
    assert pairs.systems == ["gpt", "gpt"]
    assert (pairs.n_unlabelled, pairs.n_unjudged) == (0, 0)


def test_label_without_system_that_could_mean_two_answers_is_an_error(says):
    judgements = [judgement("a", 1, system="s"), judgement("a", 0, system="t")]
    with pytest.raises(DataError) as error:
        pairs_of(judgements, [label("a", 1)])
    says(error.value)


def test_judgement_without_system_that_could_mean_two_labels_is_an_error(says):
    labels = [label("a", 1, system="s"), label("a", 0, system="t")]
    with pytest.raises(DataError) as error:
        pairs_of([judgement("a", 1)], labels)
    says(error.value)


def test_unlabelled_question_of_several_systems_is_not_in_the_way():
    judgements = [judgement("a", 1, system="s"), *(judgement("b", 0, system=s) for s in "st")]
    pairs = pairs_of(judgements, [label("a", 1)])
    assert (pairs.human.tolist(), pairs.n_unlabelled) == ([1], 2)


def test_default_is_a_system_like_others_where_a_file_names_some():
    labels = [label("a", 0), label("a", 1, system="gpt")]
    assert pairs_of([judgement("a", 1)], labels).human.tolist() == [0]


def test_human_score_is_the_median_of_the_annotators():
    labels = [label("a", score, annotator=name) for name, score in (("x", 0), ("y", 2), ("z", 1))]
    humans = human_scores(labels, "correctness")
    assert humans["a", "default"].score == 1
    assert humans["a", "default"].grades == [0, 2, 1]


def test_median_between_two_grades_is_a_tie_and_left_out():
    labels = [label("a", 0, annotator="x"), label("a", 1, annotator="y"), label("b", 1, annotator="x")]
    pairs = pairs_of([judgement("a", 1), judgement("b", 1)], labels)
    assert (pairs.keys, pairs.n_tied) == ([("b", "default")], 1)
    assert pairs.statuses == {"scored": 1}


def test_median_of_two_that_is_a_grade_counts():
    labels = [label("a", 0, annotator="x"), label("a", 2, annotator="y"), label("b", 1, annotator="x")]
    assert human_scores(labels, "correctness")["a", "default"].score == 1


def test_two_labels_by_one_annotator_are_an_error_that_names_it(says):
    with pytest.raises(DataError) as error:
        human_scores([label("a", 0, annotator="ann"), label("a", 1, annotator="ann")], "correctness")
    says(error.value)


def test_two_labels_by_nobody_are_an_error(says):
    with pytest.raises(DataError) as error:
        human_scores([label("a", 1), label("a", 1)], "correctness")
    says(error.value)


def test_answer_judged_twice_is_an_error(says):
    with pytest.raises(DataError) as error:
        pairs_of([judgement("a", 1), judgement("a", 0)], [label("a", 1)])
    says(error.value)


def test_labels_are_mapped_before_the_median():
    # 1 and 5 stand for 0 and 2; their middle is 1, which 3 stands for.
    labels = [label("a", 1, annotator="x"), label("a", 5, annotator="y"), label("b", 3)]
    humans = human_scores(labels, "correctness", {1: 0, 3: 1, 5: 2})
    assert [human.score for human in humans.values()] == [1, 1]


def test_label_that_the_mapping_lacks_is_an_error(says):
    with pytest.raises(DataError) as error:
        human_scores([label("a", 6)], "correctness", {1: 0, 5: 1})
    says(error.value)


def test_answers_to_one_question_share_a_cluster_by_its_text():
    humans = human_scores(
        [label("a-1", 1, text="Why?"), label("a-2", 1, text="Why?"), label("b", 0)], "correctness"
    )
    assert [human.cluster for human in humans.values()] == ["Why?", "Why?", "b"]
