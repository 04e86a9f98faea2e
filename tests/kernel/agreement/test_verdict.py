import numpy as np
import pytest

from ragstone.kernel.agreement._sentence_table import JudgeBesidePeople
from ragstone.kernel.agreement._verdict import (
    Hits,
    best_rival,
    better_than_all,
    constant_baseline,
    nothing_scored,
    verdict,
)
from ragstone.kernel.agreement.card import Baseline, HumanAgreement
from ragstone.kernel.agreement.comparison import compare
from ragstone.kernel.statistics import Estimate


def estimate(value: float, low: float | None = None, high: float | None = None, n: int = 1200) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def baseline(name: str, better: bool | None, difference: Estimate | None = None) -> Baseline:
    return Baseline(
        name=name,
        n=1200,
        exact_agreement=estimate(0.75),
        judge=0.8,
        difference=difference or estimate(0.05, 0.02, 0.08),
        better=better,
    )


EXACT = {"kappa": estimate(0.44, 0.4, 0.48), "exact agreement": estimate(0.8, 0.78, 0.82)}


def said(
    agreement: dict[str, Estimate],
    baselines: list[Baseline],
    humans: HumanAgreement | None = None,
    yes: str | None = None,
    only: str | None = None,
) -> str:
    return verdict(
        JudgeBesidePeople(agreement=agreement, baselines=baselines, humans=humans, yes=yes, only=only)
    )


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [([True], True), ([True, True], True), ([True, None], None), ([None, False], False), ([], None)],
)
def test_better_means_better_than_every_baseline(answers, outcome):
    assert better_than_all([baseline("x", better) for better in answers]) is outcome


def test_verdict_gives_the_numbers_that_it_rests_on(says):
    says(said(EXACT, [baseline("always answering 'right'", True)], None, "right"))


@pytest.mark.parametrize(
    ("constant", "free", "headline"),
    [
        (True, True, "Better than always yes and than words"),
        (True, False, "No better than words"),
        (False, False, "No better than always yes and words"),
        (False, None, "No better than always yes"),
        (True, None, "Better than always yes, but cannot tell whether it is better than words"),
        (None, None, "Cannot tell whether it is better than always yes or words"),
    ],
)
def test_headline_names_what_the_judge_beats_and_what_not(constant, free, headline):
    text = said(EXACT, [baseline("always yes", constant), baseline("words", free)], None, None)
    assert text.partition(" with people 0.44")[0] == f"{headline}: kappa"


def test_difference_without_interval_is_not_shown_as_one(says):
    text = said(EXACT, [baseline("x", None, estimate(0.0))], None, None)
    says(text)


@pytest.mark.parametrize(
    ("error", "yes", "words"),
    [
        (
            estimate(0.1, 0.05, 0.15),
            "right",
            "Lenient: it says 'right' more often than people, by 10.0 points.",
        ),
        (
            estimate(-0.1, -0.2, -0.05),
            "right",
            "Harsh: it says 'right' less often than people, by 10.0 points.",
        ),
        (estimate(0.25, 0.1, 0.4), None, "Lenient: its grades are 0.25 above people's on average."),
        (estimate(-0.25, -0.4, -0.1), None, "Harsh: its grades are 0.25 below people's on average."),
    ],
)
def test_leaning_is_named_when_its_interval_leaves_out_zero(error, yes, words):
    assert said(EXACT | {"signed error": error}, [baseline("x", True)], None, yes).endswith(words)


@pytest.mark.parametrize("error", [estimate(0.1, -0.05, 0.25), estimate(0.1)])
def test_leaning_is_not_named_otherwise(error):
    text = said(EXACT | {"signed error": error}, [baseline("x", True)], None, "right")
    assert "Lenient" not in text


def test_people_stand_beside_the_judge(says):
    people = HumanAgreement(n_answers=90, exact_agreement=estimate(0.9, 0.85, 0.94, 90), kappa=None)
    says(said(EXACT, [baseline("x", True)], people, None))


@pytest.mark.parametrize(
    ("spearman", "words"),
    [
        (
            estimate(0.5, 0.4, 0.6),
            "its scores rise with people's (Spearman 0.50, 95 % interval 0.40 to 0.60, on 1,200 answers).",
        ),
        (estimate(-0.5, -0.6, -0.4), "its scores fall where people's rise (Spearman −0.50"),
        (estimate(0.1, -0.1, 0.3), "nor whether its scores rise with people's at all (Spearman 0.10"),
        (estimate(0.1), "rank correlation with people 0.10."),
        (None, "its scores or the labels are all the same."),
    ],
)
def test_without_grades_the_verdict_speaks_of_the_order(spearman, words, says):
    text = said({"Spearman": spearman} if spearman else {}, [], None, None)
    says(text)
    assert words in text


def test_judge_without_any_score_cannot_be_told(says):
    says(nothing_scored({"unparsable": 2, "timeout": 1}))
    assert nothing_scored({}).endswith("(all tied).")


def test_labels_of_one_grade_tell_nothing(says):
    says(said(EXACT, [baseline("always yes", False)], only="right"))


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
