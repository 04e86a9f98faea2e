import pytest

from ragstone.agreement.card import Baseline, HumanAgreement
from ragstone.agreement.verdict import better_than_all, nothing_scored, one_grade_only, verdict
from ragstone.statistics import Estimate


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


EXACT = {"exact agreement": estimate(0.8, 0.78, 0.82)}


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [([True], True), ([True, True], True), ([True, None], None), ([None, False], False), ([], None)],
)
def test_better_means_better_than_every_baseline(answers, outcome):
    assert better_than_all([baseline("x", better) for better in answers]) is outcome


def test_verdict_gives_the_numbers_that_it_rests_on():
    assert verdict(EXACT, [baseline("always answering 'right'", True)], None, "right") == (
        "Better than always answering 'right': it agrees with people on 80.0 % "
        "(95 % interval 78.0 % to 82.0 %) of 1,200 answers, always answering 'right' on 75.0 % "
        "(difference +5.0 points, 95 % interval +2.0 to +8.0)."
    )


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
    text = verdict(EXACT, [baseline("always yes", constant), baseline("words", free)], None, None)
    assert text.startswith(f"{headline}: it agrees")


def test_difference_without_interval_is_not_shown_as_one():
    text = verdict(EXACT, [baseline("x", None, estimate(0.0))], None, None)
    assert text.endswith("x on 75.0 %.")


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
        (estimate(0.25, 0.1, 0.4), None, "Lenient: its grades lie 0.25 above people's on average."),
        (estimate(-0.25, -0.4, -0.1), None, "Harsh: its grades lie 0.25 below people's on average."),
    ],
)
def test_leaning_is_named_when_its_interval_leaves_out_zero(error, yes, words):
    assert verdict(EXACT | {"signed error": error}, [baseline("x", True)], None, yes).endswith(words)


@pytest.mark.parametrize("error", [estimate(0.1, -0.05, 0.25), estimate(0.1)])
def test_leaning_is_not_named_otherwise(error):
    text = verdict(EXACT | {"signed error": error}, [baseline("x", True)], None, "right")
    assert "Lenient" not in text


def test_people_stand_beside_the_judge():
    people = HumanAgreement(n_answers=90, exact_agreement=estimate(0.9, 0.85, 0.94, 90), kappa=None)
    assert verdict(EXACT, [baseline("x", True)], people, None).endswith(
        "People agree with each other on 90.0 % (95 % interval 85.0 % to 94.0 %) of 90 answers."
    )


@pytest.mark.parametrize(
    ("spearman", "words"),
    [
        (
            estimate(0.5, 0.4, 0.6),
            "its scores rise with people's (Spearman 0.50, 95 % interval 0.40 to 0.60).",
        ),
        (estimate(-0.5, -0.6, -0.4), "its scores fall where people's rise (Spearman −0.50"),
        (estimate(0.1, -0.1, 0.3), "nor whether its scores rise with people's at all (Spearman 0.10"),
        (estimate(0.1), "rank correlation with people 0.10."),
        (None, "its scores or the labels are all the same."),
    ],
)
def test_without_grades_the_verdict_speaks_of_the_order(spearman, words):
    text = verdict({"Spearman": spearman} if spearman else {}, [], None, None)
    assert text.startswith("Cannot tell how often it agrees with people")
    assert words in text


def test_judge_without_any_score_cannot_be_told():
    assert nothing_scored({"unparsable": 2, "timeout": 1}).endswith("(2 unparsable, 1 timeout).")
    assert nothing_scored({}).endswith("(all tied).")


def test_labels_of_one_grade_tell_nothing():
    assert one_grade_only("right", EXACT).startswith("Cannot tell: every label is 'right'")
