import numpy as np
import pytest

from ragstone.agreement.card import Baseline
from ragstone.agreement.comparison import compare
from ragstone.agreement.verdict import Hits, best_rival, constant_baseline


def constant(human: list[int], judge: list[int]) -> Baseline:
    comparison = compare(np.array(human, float), np.array(judge, float), (0, 1), mapped=False, threshold=None)
    clusters = [f"q{i}" for i in range(len(human))]
    found = constant_baseline(comparison, clusters, "correctness", seed=0, resamples=500)
    assert found is not None
    return found


def hits(values: list[int], start: int = 0) -> Hits:
    return {(f"q{start + i}", "s"): float(value) for i, value in enumerate(values)}


def rival(own: Hits, *rivals: Hits) -> Baseline | None:
    named = [(f"rival {i}", found) for i, found in enumerate(rivals)]
    return best_rival(own, named, {key: key[0] for key in own}, seed=0, resamples=500)


def test_constant_is_the_most_frequent_human_grade():
    # Humans 30 right, 10 wrong: always 'right' agrees on 0.75; the judge on all: difference 0.25.
    found = constant([1] * 30 + [0] * 10, [1] * 30 + [0] * 10)
    assert found.name == "always answering 'right'"
    assert (found.exact_agreement.value, found.judge, found.difference.value) == (0.75, 1, 0.25)
    assert found.better is True


def test_judge_that_is_the_constant_is_no_better():
    assert constant([1] * 30 + [0] * 10, [1] * 40).better is False


def test_judge_that_is_worse_than_the_constant_is_no_better():
    assert constant([1] * 30 + [0] * 10, [0] * 30 + [1] * 10).better is False


def test_small_difference_cannot_be_told():
    # Right on one answer more than the constant, in both directions of disagreement.
    human = [1] * 30 + [0] * 10
    judge = [1] * 28 + [0] * 2 + [0] * 3 + [1] * 7
    assert constant(human, judge).better is None


def test_constant_needs_grades():
    comparison = compare(np.array([0.0, 1]), np.array([10.0, 90]), (0, 100), mapped=False, threshold=None)
    assert constant_baseline(comparison, ["a", "b"], "correctness", seed=0, resamples=500) is None


def test_rival_is_the_best_of_those_without_a_model():
    own = hits([1] * 40)
    found = rival(own, hits([1] * 10 + [0] * 30), hits([1] * 30 + [0] * 10), hits([0] * 40))
    assert found is not None
    assert (found.name, found.exact_agreement.value, found.better) == ("rival 1", 0.75, True)


def test_rival_is_compared_on_shared_answers_only():
    # The judge is right on q0..q9 and wrong on q10..q19; the rival has q5..q24 and is always right.
    found = rival(hits([1] * 10 + [0] * 10), hits([1] * 20, start=5))
    assert found is not None
    assert (found.n, found.judge, found.exact_agreement.value) == (15, 5 / 15, 1)
    assert found.better is False


def test_no_shared_answer_no_rival():
    assert rival(hits([1, 1]), hits([1], start=9), {}) is None


def test_one_answer_more_is_not_better():
    # Right on all 100, the constant on 99: a single answer differs, which an exact McNemar test gives p = 1.
    found = constant([1] * 99 + [0], [1] * 99 + [0])
    assert found.difference.value == 0.01
    assert found.difference.low == 0
    assert found.better is None


def test_judge_that_is_right_where_the_rival_always_errs_is_better_though_there_is_no_interval():
    found, lost = rival(hits([1] * 20), hits([0] * 20)), rival(hits([0] * 20), hits([1] * 20))
    assert found is not None
    assert lost is not None
    assert (found.difference.value, found.difference.low, found.better) == (1, None, True)
    assert (lost.difference.value, lost.better) == (-1, False)


@pytest.mark.parametrize(("n", "better"), [(5, None), (6, True)])
def test_a_handful_of_such_answers_cannot_tell(n, better):
    # Two-sided: 2 / 2^5 = 0.0625, 2 / 2^6 = 0.031.
    found = rival(hits([1] * n), hits([0] * n))
    assert found is not None
    assert found.better is better


def test_such_answers_to_one_question_count_once():
    own, other = hits([1] * 20), hits([0] * 20)
    found = best_rival(own, [("rival", other)], dict.fromkeys(own, "one"), seed=0, resamples=500)
    assert found is not None
    assert found.better is None
