"""Alpha of people, with and without the judge, is of the same answers: those on which people are tied too."""

import krippendorff
import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, pearsonr, spearmanr
from sklearn.metrics import cohen_kappa_score
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.comparison import compare
from ragstone.kernel.agreement.estimates import Raters, agreement_estimates
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.statistics import Estimate

CORRELATIONS = ["Pearson", "Spearman", "Kendall tau-b"]
YES_NO = ["kappa", "exact agreement", "alpha", *CORRELATIONS, "ROC AUC"]


def estimates(
    human: ArrayLike,
    judge: ArrayLike,
    scale: tuple[float, float] = (0, 2),
    clusters: list[str] | None = None,
    raters: Raters | None = None,
    only: list[str] | None = None,
) -> dict[str, Estimate]:
    grades = np.array(human, float)
    comparison = compare(grades, np.array(judge, float), scale, mapped=False, threshold=None)
    names = clusters or [f"q{i}" for i in range(len(grades))]
    return agreement_estimates(comparison, names, raters, only=only, seed=0, resamples=500)


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


@pytest.mark.parametrize(
    ("values", "scale"), [([0, 1], (0, 1)), ([0, 1, 2], (0, 2)), (np.linspace(0, 100, 40), (0, 100))]
)
def test_a_measure_is_the_same_without_the_others(values, scale):
    human, judge = np.random.default_rng(1).choice(values, (2, 60))
    clusters = [f"q{n // 2}" for n in range(60)]
    every = estimates(human, judge, scale, clusters)
    assert len(every) >= 5
    for name, estimate in every.items():
        assert estimates(human, judge, scale, clusters, only=[name]) == {name: estimate}


def test_grades_have_every_measure_the_most_telling_first():
    # Pairs 0-0 0-1 1-1 2-2 2-0: three of five exact, four within one, judge less human 0 1 0 0 -2, mean -0.2.
    # Kappa: humans 2 1 2, judge 2 2 1, chance (4 + 2 + 2) / 25 = 0.32: (0.6 - 0.32) / 0.68.
    found = estimates([0, 0, 1, 2, 2], [0, 1, 1, 2, 0])
    assert list(found) == [
        "quadratic kappa",
        "kappa",
        "linear kappa",
        "exact agreement",
        "within one",
        "nominal alpha",
        "ordinal alpha",
        "interval alpha",
        "Pearson",
        "Spearman",
        "Kendall tau-b",
        "signed error",
    ]
    assert found["exact agreement"].value == 0.6
    assert found["within one"].value == 0.8
    assert found["kappa"].value == pytest.approx(0.28 / 0.68)
    assert found["signed error"].value == pytest.approx(-0.2)


def test_measures_agree_with_peers():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 3, 200)
    judge = np.clip(human + rng.integers(-1, 2, 200), 0, 2)
    found = estimates(human, judge)
    assert found["quadratic kappa"].value == pytest.approx(
        cohen_kappa_score(human, judge, weights="quadratic")
    )
    assert found["Spearman"].value == pytest.approx(spearmanr(human, judge)[0])
    assert found["Pearson"].value == pytest.approx(pearsonr(human, judge)[0])
    assert found["Kendall tau-b"].value == pytest.approx(kendalltau(human, judge)[0])
    table = np.stack([human, judge])
    for kind in ("nominal", "ordinal", "interval"):
        expected = krippendorff.alpha(table, level_of_measurement=kind)
        assert found[f"{kind} alpha"].value == pytest.approx(expected)


def test_every_annotator_is_a_rater_of_alpha_beside_the_judge():
    # People: 0-0-1, 1, 2-2. Judge 0, 2, 2. The median of people is what the other measures see.
    raters = Raters([[0, 0, 1], [1], [2, 2]], [0, 2, 2], list("abc"))
    found = estimates([0, 1, 2], [0, 2, 2], raters=raters)
    table = [[0, 1, 2], [0, np.nan, 2], [1, np.nan, np.nan], [0, 2, 2]]
    for kind in ("nominal", "ordinal", "interval"):
        expected = krippendorff.alpha(np.array(table, float), level_of_measurement=kind)
        assert found[f"{kind} alpha"].value == pytest.approx(expected)
    assert found["exact agreement"].value == pytest.approx(2 / 3)


def test_continuous_scores_have_the_interval_alpha_alone():
    rng = np.random.default_rng(0)
    human, judge = rng.random((2, 40)) * 100
    found = estimates(human, judge, (0, 100))
    assert list(found) == ["interval alpha", *CORRELATIONS, "signed error"]
    expected = krippendorff.alpha(np.stack([human, judge]), level_of_measurement="interval")
    assert found["interval alpha"].value == pytest.approx(expected)


def test_auc_is_of_the_raw_scores_also_where_a_threshold_cuts_them():
    human, judge = np.array([0.0, 1, 0, 1]), np.array([0.1, 0.4, 0.3, 0.9])
    cut = compare(human, judge, (0, 1), mapped=False, threshold=0.5)
    found = agreement_estimates(cut, list("abcd"), seed=0, resamples=200)
    assert found["ROC AUC"].value == 1
    assert found["exact agreement"].value == 0.75


def test_yes_and_no_have_no_within_one_and_one_kappa():
    found = estimates([0, 1, 1], [0, 1, 0], (0, 1))
    assert list(found) == [*YES_NO, "signed error"]


def test_order_is_all_that_is_compared_without_a_common_unit():
    assert list(estimates([0, 1, 1], [20, 40, 90], (0, 100))) == [*CORRELATIONS, "ROC AUC"]


def test_perfect_agreement_has_a_lower_bound_worked_by_hand():
    # Wilson of 20 of 20: 20 / (20 + 1.96^2) = 0.8389. By chance 0.5: 1 - 0.1611 / 0.5 = 0.678.
    found = estimates([0, 1] * 10, [0, 1] * 10, (0, 1))["kappa"]
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - (1 - 20 / (20 + 1.959964**2)) / 0.5)
    # Grades 0 1 2, thirds: the farthest weighs 4, by chance 4 * 2/9 + 1 * 4/9 = 4/3. 1 - 0.1135 * 3.
    far = estimates([0, 1, 2] * 10, [0, 1, 2] * 10)["quadratic kappa"]
    assert far.low == pytest.approx(1 - 3 * (1 - 30 / (30 + 1.959964**2)))
    # All answers of one question count once: there is no interval.
    assert estimates([0, 1], [0, 1], (0, 1), clusters=["q", "q"])["kappa"].low is None


def test_undefined_measures_are_left_out():
    assert list(estimates([1, 1], [1, 1], (0, 1))) == ["exact agreement", "signed error"]


def test_intervals_are_wider_when_answers_share_questions():
    rng = np.random.default_rng(0)
    human = np.repeat(rng.integers(0, 3, 40), 5)
    judge = np.repeat(rng.integers(0, 3, 40), 5)
    alone = estimates(human, judge)
    shared = estimates(human, judge, clusters=[f"q{i // 5}" for i in range(200)])
    for name in ("exact agreement", "quadratic kappa", "Spearman", "signed error"):
        assert shared[name].value == alone[name].value
        assert width(shared[name]) > 1.5 * width(alone[name])


KINDS = ("nominal", "ordinal", "interval")


def card_of(
    grades: list[list[float]],
    scores: list[float | None],
    *,
    scale: tuple[float, float] = (0, 3),
    threshold: float | None = None,
) -> ReportCard:
    judgements = [
        judgement(f"q{i}", score, scale=scale, status="scored" if score is not None else "unparsable")
        for i, score in enumerate(scores)
    ]
    labels = [
        label(f"q{i}", grade, annotator=f"person {place}")
        for i, given in enumerate(grades)
        for place, grade in enumerate(given)
    ]
    return report_cards(judgements, labels, threshold=threshold, resamples=200)[0]


def table(columns: list[list[float]]) -> np.ndarray:
    """Return a row for each rater, NaN where one gave nothing."""
    most = max(map(len, columns))
    return np.array([given + [np.nan] * (most - len(given)) for given in columns], float).T


@pytest.mark.parametrize("seed", range(5))
def test_both_alphas_agree_with_a_peer_on_the_same_answers_ties_included(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 4, 60)
    grades = [
        np.clip(one + rng.integers(-1, 2, int(rng.integers(1, 5))), 0, 3).astype(float).tolist()
        for one in truth
    ]
    scores = [None if rng.random() < 0.1 else float(rng.integers(0, 4)) for _ in truth]
    card = card_of(grades, scores)
    scored = [(given, score) for given, score in zip(grades, scores, strict=True) if score is not None]
    assert card.n < len(scored)  # some are tied
    assert card.humans is not None
    for kind in KINDS:
        people = krippendorff.alpha(table([given for given, _ in scored]), level_of_measurement=kind)
        joined = krippendorff.alpha(table([[*given, s] for given, s in scored]), level_of_measurement=kind)
        assert card.humans.alpha[f"{kind} alpha"].value == pytest.approx(people)
        assert card.agreement[f"{kind} alpha"].value == pytest.approx(joined)
    assert card.agreement["nominal alpha"].n == len(scored)
    assert card.agreement["exact agreement"].n == card.n


def test_judge_worse_than_one_more_person_lowers_alpha_although_many_answers_are_tied():
    # Of 60 answers two people agree on 40 and tie on 20; the judge says at random.
    rng = np.random.default_rng(0)
    grades = [[float(i % 2), float(i % 2 if i < 40 else 1 - i % 2)] for i in range(60)]
    card = card_of(grades, rng.integers(0, 2, 60).astype(float).tolist(), scale=(0, 1))
    assert card.humans is not None
    assert card.agreement["alpha"].value < card.humans.alpha["alpha"].value
    assert (card.n, card.agreement["alpha"].n, card.humans.alpha["alpha"].n) == (40, 60, 60)


def test_scores_of_tied_answers_are_cut_like_the_others():
    # Cut at 50 the judge says 1 1 0 0 1 0; people 11 11 00 00 01 10.
    grades: list[list[float]] = [[1, 1], [1, 1], [0, 0], [0, 0], [0, 1], [1, 0]]
    card = card_of(grades, [80, 60, 10, 40, 90, 20], scale=(0, 100), threshold=50)
    cut = [1, 1, 0, 0, 1, 0]
    joined = table([[*given, score] for given, score in zip(grades, cut, strict=True)])
    expected = krippendorff.alpha(joined, level_of_measurement="nominal")
    assert card.agreement["alpha"].value == pytest.approx(expected)


def test_continuous_scores_have_both_interval_alphas():
    rng = np.random.default_rng(1)
    grades = [[float(a), float(b)] for a, b in rng.integers(0, 60, (300, 2))]
    scores = [float(x) for x in rng.integers(0, 60, 300)]
    card = card_of(grades, scores, scale=(0, 60))
    assert card.humans is not None
    joined = table([[*given, score] for given, score in zip(grades, scores, strict=True)])
    expected = krippendorff.alpha(joined, level_of_measurement="interval")
    assert card.agreement["interval alpha"].value == pytest.approx(expected)
    assert list(card.humans.alpha) == ["interval alpha"]
