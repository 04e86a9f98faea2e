"""Runs compared whose answers were generated anew: pairs of questions, each by the mean of its answers."""

import msgspec
import numpy as np
import pytest
from tests.kernel.judging.test_repeated import needing, repeats
from tests.support.judged_runs import answers, judged

from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.paired import compare_judged
from ragstone.features.compare.several import compare_several
from ragstone.kernel.errors import DataError


def run(rows, **parts) -> JudgedRun:
    return JudgedRun(**({"name": "run", "judgements": rows, "judges": {}} | parts))


def test_questions_are_paired_by_the_means_of_their_answers(says):
    # A: 1/3, 1, 0, 0; B: 1, 1, 1/2, 0 with its repeats: +2/3, 0, +1/2, 0. Mean 7/24.
    a = run(repeats([1, 1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]))
    b = run(repeats([1, 1, 1, 0], [1, 1, 0, 0]))
    comparison = compare_judged(a, b)
    [row] = comparison.metrics
    assert row.difference.value == pytest.approx(7 / 24)
    assert (row.n, row.n_changed, row.a.system, row.b.system) == (4, 2, "rag", "rag")
    assert (row.a.statuses, row.b.statuses) == ({"scored": 12}, {"scored": 8})
    assert comparison.only_a == comparison.only_b == []
    [note] = comparison.notes
    says(note)


def test_repeats_are_no_independent_pairs():
    rng = np.random.default_rng(2)
    ours, theirs = rng.integers(0, 2, (2, 30)).astype(float).tolist()
    once = compare_judged(run(repeats(ours)), run(repeats(theirs)))
    often = compare_judged(run(repeats(*[ours] * 5)), run(repeats(*[theirs] * 5)))
    assert often.metrics[0].p == once.metrics[0].p
    assert often.metrics[0].difference == once.metrics[0].difference
    assert often.metrics[0].test == once.metrics[0].test == "McNemar"


def test_one_answer_against_several_and_several_against_fewer_are_said(says):
    once, twice, thrice = (repeats(*[[1, 0, 1]] * n) for n in (1, 2, 3))
    assert compare_judged(run(once), run(once)).notes == []
    for a, b in ((once, thrice), (twice, thrice), (thrice, thrice), (twice, thrice[:-1])):
        [note] = compare_judged(run(a), run(b)).notes
        says(note)


def test_answers_are_the_same_only_if_every_repeat_is():
    rows = repeats([1, 0], [1, 0])
    same = answers(["a", "b"], "rag") + answers(["c", "d"], "rag@repeat=2")
    other = answers(["a", "b"], "rag") + answers(["c", "changed"], "rag@repeat=2")
    fewer = answers(["a", "b"], "rag")
    for theirs, expected in ((same, True), (same[::-1], True), (other, False), (fewer, None)):
        [row] = compare_judged(run(rows, answers=same), run(rows, answers=theirs)).metrics
        assert row.same_answers is expected


def test_an_answer_that_is_shown_has_the_score_that_its_question_has():
    # B answers q0 right once and wrong twice: its question is wrong, and so is the answer beside it.
    a = run(repeats([1, 1], [1, 1], [1, 1]), answers=answers(["x", "y"], "rag"))
    texts = [answers([text, "y"], name) for text, name in (("right", "rag"), ("wrong", "rag@repeat=2"))]
    b = run(repeats([1, 1], [0, 1], [0, 1]), answers=[row for rows in texts for row in rows])
    [flip] = compare_judged(a, b).metrics[0].right_to_wrong
    assert (flip.score_a, flip.score_b) == (1, pytest.approx(1 / 3))
    assert (flip.answer_a, flip.answer_b) == ("x", "wrong")


def test_time_is_the_mean_of_the_answers_to_a_question():
    a = answers(["x", "y"], "rag", seconds=1.0)
    b = answers(["x", "y"], "rag", seconds=1.0) + answers(["x", "y"], "rag@repeat=2", seconds=3.0)
    b = [msgspec.structs.replace(row, latency_s=None) if row == b[-1] else row for row in b]
    rows = repeats([1, 0], [1, 0])
    seconds = next(
        spent
        for spent in compare_judged(run(rows, answers=a), run(rows, answers=b)).spent
        if spent.what == "seconds"
    )
    assert (seconds.n, seconds.unknown_a, seconds.unknown_b) == (2, 0, 1)
    of = [row.latency_s for row in b]
    assert seconds.mean.b.value == pytest.approx(((of[0] + of[2]) / 2 + of[1]) / 2)


def test_failures_are_counted_by_answer_and_bounds_by_question():
    # B: q0 has 1 and a failure: at worst 1/2. q1 has 0 twice. So 0.25 to 0.5.
    [row] = compare_judged(run(repeats([1, 0])), run(repeats([1, 0], ["timeout", 0]))).metrics
    assert row.b.statuses == {"scored": 3, "timeout": 1}
    assert row.b.bounds == pytest.approx((0.25, 0.5))
    assert (row.lost, row.gained, row.by_application) == (0, 0, False)


def test_what_k_of_n_have_to_pass_is_compared_as_passed_or_not():
    a = run(needing(repeats([1, 1], [0, 1], [0, 1]), 2, 3))
    b = run(needing(repeats([1, 1], [1, 1], [0, 1]), 2, 3))
    [row] = compare_judged(a, b).metrics
    assert (row.a.mean.value, row.b.mean.value) == (0.5, 1.0)


def test_a_repeat_that_was_judged_twice_is_refused(says):
    rows = repeats([1, 0], [1, 0])
    with pytest.raises(DataError) as caught:
        compare_judged(run(rows), run([*rows, rows[-1]]))
    says(caught.value)


def test_several_runs_have_a_column_each_and_flips_go_by_the_mean():
    first = repeats([1, 1], [1, 0], [1, 0])  # q0 passes, q1 does not: 1/3
    second = judged([1, 1], system="rag")
    several = compare_several([first, second])
    assert len(several.columns) == 2  # and not one for each repeat
    [metric] = several.metrics
    assert metric.n_flips == 1
