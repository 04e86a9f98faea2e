"""Repeated answers: a question counts once, by the mean of its answers."""

import msgspec
import numpy as np
import pytest
from tests.support.judged_runs import judged

from ragstone.kernel.judging import question_clusters, summarise
from ragstone.kernel.judging.repeated import question_score
from ragstone.kernel.records import K_OF_N, Question, name_repeat
from ragstone.kernel.statistics import mean_estimate, wilson_interval
from ragstone.kernel.statistics.passes import all_of_k


def repeats(*answers, judge="containment", system="rag", **given):
    """Return judgements: of each repeat the scores of q0, q1, ...; None: there is no such answer."""
    return [
        row
        for number, scores in enumerate(answers, 1)
        for row in judged(
            {f"q{at}": score for at, score in enumerate(scores) if score is not None},
            judge,
            system=name_repeat(system, number),
            **given,
        )
    ]


def needing(rows, k, n):
    return [msgspec.structs.replace(row, metadata={K_OF_N: [k, n]}) for row in rows]


def test_a_mean_over_three_answers_by_hand():
    # q0: 1, 1, 0 -> 2/3; q1: 0, 0, 0 -> 0; q2: 1, 1, 1 -> 1; q3: 1, 0, 0 -> 1/3. Mean 2/4 of 4 questions.
    [metric] = summarise(repeats([1, 0, 1, 1], [1, 0, 1, 0], [0, 0, 1, 0]))
    assert (metric.system, metric.n_rows, metric.statuses) == ("rag", 12, {"scored": 12})
    assert metric.estimate.value == pytest.approx(0.5)
    assert metric.estimate.n == 4
    found = metric.repeats
    assert (found.n_questions, found.most, found.n_fewer, found.passes_from) == (4, 3, 0, 0.5)
    # pass@2: 1 - C(1,2)/C(3,2) = 1; 0; 1; 1 - C(2,2)/C(3,2) = 2/3. pass^2: 1/3, 0, 1, 0.
    assert [rate.k for rate in found.passes] == [1, 2, 3]
    assert found.passes[1].at_least_one.value == pytest.approx((1 + 0 + 1 + 2 / 3) / 4)
    assert found.passes[1].every_one.value == pytest.approx((1 / 3 + 1) / 4)
    assert found.passes[2].at_least_one.value == pytest.approx(3 / 4)
    assert found.passes[2].every_one.value == pytest.approx(1 / 4)
    assert {rate.every_one.n for rate in found.passes} == {4}


def width(estimate):
    return estimate.high - estimate.low


def test_the_interval_is_that_of_the_questions_and_not_of_the_answers():
    rng = np.random.default_rng(5)
    once = [float(right) for right in rng.uniform(size=60) < 0.6]
    [alike] = summarise(repeats(*[once] * 5))  # five answers that never differ tell no more than one
    [single] = summarise(repeats(once))
    assert alike.estimate.value == pytest.approx(single.estimate.value)
    assert width(single.estimate) <= width(alike.estimate) <= 1.03 * width(single.estimate)
    assert width(alike.estimate) > 2 * width(mean_estimate(once * 5))  # what 300 rows would say
    # Answers that do not depend on the question at all: as many rows as there are.
    drawn = [[float(rng.uniform() < 0.6) for _ in range(60)] for _ in range(5)]
    [varied] = summarise(repeats(*drawn))
    rows = mean_estimate(np.ravel(drawn))
    assert width(varied.estimate) == pytest.approx(width(rows), rel=0.25)
    assert width(varied.estimate) < 0.7 * width(single.estimate)


def test_the_interval_is_wilsons_of_the_effective_size_by_hand():
    # Shares 2/3, 0, 1, 1/3 of 12 answers: mean 1/2, the sum of squares around it is 5/9.
    # Variance of the mean 5/9 / 3 / 4 = 5/108; 0.25 / 11 * 12 / (5/108) = 5.891 answers, times
    # (t(0.975, 11) / t(0.975, 3))^2 = (2.20099 / 3.18245)^2 = 0.47832: 2.8177.
    [metric] = summarise(repeats([1, 0, 1, 1], [1, 0, 1, 0], [0, 0, 1, 0]))
    low, high = wilson_interval(2.8177 / 2, 2.8177)
    assert (metric.estimate.low, metric.estimate.high) == pytest.approx(
        (low, high), abs=1e-3
    )  # the quantile of t is approximate
    assert metric.estimate.method == "wilson"


def test_grades_that_are_not_zero_or_one_are_resampled_by_question():
    grades = np.random.default_rng(3).uniform(size=(3, 40))
    [metric] = summarise(repeats(*grades.tolist()))
    expected = mean_estimate(grades.mean(axis=0))
    assert (metric.estimate.low, metric.estimate.high) == (expected.low, expected.high)


def test_repeats_of_several_systems_are_told_apart_and_of_one_document_drawn_together():
    rows = repeats([1, 0, 1], [0, 0, 1]) + repeats([1, 1, 1], [1, 1, 0], system="other")
    documents = ["d", "d", "e"]
    clusters = question_clusters(
        Question(id=f"q{at}", question="?", document_ids=[name]) for at, name in enumerate(documents)
    )
    first, second = summarise(rows, clusters=clusters)
    assert (first.system, second.system) == ("rag", "other")
    assert (first.n_documents, first.shares) == (2, "documents")
    [apart] = summarise(repeats([1, 0, 1], [0, 0, 1]))
    assert width(first.estimate) != width(apart.estimate)


def test_a_summary_of_single_answers_has_no_word_of_repeats():
    [metric] = summarise(repeats([1, 0, 1]))
    assert metric.repeats is msgspec.UNSET
    assert b"repeats" not in msgspec.json.encode(metric)
    again = msgspec.json.decode(msgspec.json.encode(summarise(repeats([1], [0]))[0]), type=type(metric))
    assert again.repeats.most == 2


def test_questions_with_fewer_answers_count_once_all_the_same():
    # q1 has no second answer, q2 no second but a third.
    [metric] = summarise(repeats([1, 0, 1], [0, None, None], [1, None, 0]))
    assert metric.estimate.value == pytest.approx((2 / 3 + 0 + 1 / 2) / 3)
    assert (metric.repeats.most, metric.repeats.n_fewer, metric.estimate.n) == (3, 2, 3)
    assert [rate.at_least_one.n for rate in metric.repeats.passes] == [3, 2, 1]


def test_a_system_whose_first_answer_is_missing_is_itself():
    [metric] = summarise(judged([1, 0], system="rag@repeat=2"))
    assert (metric.system, metric.repeats.most, metric.repeats.n_fewer) == ("rag", 2, 2)


def test_failed_answers_have_no_score_and_bounds_are_those_of_questions():
    # q0: 1 and a failure -> 1, at worst 1/2, at best 1. q1: 0, 0 -> 0. q2: not applicable, nothing to miss.
    rows = repeats([1, 0, "not_applicable"], ["timeout", 0, "not_applicable"])
    [metric] = summarise(rows)
    assert metric.statuses == {"scored": 3, "not_applicable": 2, "timeout": 1}
    assert metric.estimate.value == pytest.approx(0.5)
    assert metric.bounds == pytest.approx((0.25, 0.5))
    assert [rate.every_one.n for rate in metric.repeats.passes] == [2, 1]


def test_nothing_scored_is_no_mean_and_no_chance():
    [metric] = summarise(repeats(["timeout"], ["refused"]))
    assert metric.estimate is None
    assert (metric.repeats.n_questions, metric.repeats.passes) == (1, [])
    assert metric.bounds is None


@pytest.mark.parametrize(
    ("judge", "given", "threshold"),
    [
        ("containment", {}, 0.5),
        ("correctness", {"scale": (0, 2)}, 1.0),
        ("theirs", {"scale": None}, 0.5),  # of zeros and ones
        ("theirs@together", {}, 0.5),
        ("toxicity", {}, None),  # its lowest score is the good one
        ("bias@shots=2", {}, None),
    ],
)
def test_from_which_score_an_answer_passes(judge, given, threshold):
    [metric] = summarise(repeats([1, 0], [0, 1], judge=judge, **given))
    assert metric.repeats.passes_from == threshold
    assert bool(metric.repeats.passes) == (threshold is not None)


def test_scores_of_no_stated_scale_pass_nothing():
    [metric] = summarise(repeats([3, 0], [0, 1], judge="theirs", scale=None))
    assert (metric.repeats.passes_from, metric.repeats.passes) == (None, [])


def test_the_threshold_of_a_judges_file_goes_before_the_middle():
    rows = [
        msgspec.structs.replace(row, metadata={"threshold": 0.8}) for row in repeats([0.7, 0.9], [0.9, 0.85])
    ]
    found = summarise(rows)[0].repeats
    assert found.passes_from == 0.8
    assert found.passes[1].every_one.value == pytest.approx(0.5)


def test_of_many_answers_the_first_ten_k_and_the_last_are_given():
    scores = np.random.default_rng(1).integers(0, 2, (14, 5)).astype(float)
    rates = summarise(repeats(*scores.tolist()))[0].repeats.passes
    assert [rate.k for rate in rates] == [*range(1, 11), 14]
    right = scores.sum(axis=0)
    assert rates[6].every_one.value == pytest.approx(all_of_k(np.full(5, 14.0), right, 7).mean())


@pytest.mark.parametrize(
    ("scores", "needed", "expected"),
    [
        ([1, 1, 0], (2, 3), 1.0),
        ([1, 0, 0], (2, 3), 0.0),
        ([1, 1], (2, 3), None),  # fewer answers than three, though two hold
        ([1, 1, 0, 0], (2, 3), 1.0),  # the first three count
        ([1, 0, 0, 1], (2, 3), 0.0),
        (["timeout", 1, 1], (2, 3), 1.0),  # whatever the first had been
        (["timeout", 0, 0], (2, 3), 0.0),
        (["timeout", 1, 0], (2, 3), None),
        ([1], (1, 1), 1.0),
    ],
)
def test_k_of_n_answers_have_to_pass(scores, needed, expected):
    rows = needing(repeats(*([score] for score in scores)), *needed)
    assert question_score(rows) == expected
    [metric] = summarise([*rows[::-1], *needing(judged({"z": 1}, system="rag"), 1, 1)])
    values = [1.0] if expected is None else [expected, 1.0]
    assert metric.estimate.value == pytest.approx(np.mean(values))
    assert metric.estimate.n == len(values)
    assert metric.repeats.n_k_of_n == 2
    assert metric.repeats.n_short == (len(scores) < needed[1])


def test_what_a_failed_answer_does_not_say_its_question_says():
    rows = needing(repeats([1], [1]), 2, 3)
    lost = judged({"q0": "app_error"}, system="rag@repeat=3")
    assert summarise([*lost, *rows])[0].estimate.value == 1
    assert summarise([*lost, *rows])[0].repeats.n_short == 0


@pytest.mark.parametrize("odd", ["2 of 3", [2], [0, 3], [4, 3], [2.5, 3], None, {"k": 2}])
def test_what_is_no_k_of_n_in_a_row_of_another_tool_is_left_alone(odd):
    rows = [msgspec.structs.replace(row, metadata={K_OF_N: odd}) for row in judged([1, 0])]
    assert summarise(rows)[0].repeats is msgspec.UNSET


def test_labels_of_which_none_is_better_have_shares_and_nothing_passes():
    rows = [
        msgspec.structs.replace(row, label=name)
        for row, name in zip(
            repeats([1, 2], [1, 6], judge="question_type", scale=(1, 6)),
            ("remember", "apply", "remember", "create"),
            strict=True,
        )
    ]
    [metric] = summarise(rows)
    assert metric.estimate is None
    assert {name: share.value for name, share in metric.labels.items()} == {
        "remember": 0.5,
        "apply": 0.25,
        "create": 0.25,
    }
    assert (metric.repeats.most, metric.repeats.n_questions, metric.repeats.passes) == (2, 2, [])
    assert metric.n_documents is None  # an answer and its repeat share a question, and no document
