"""Alpha of people, with and without the judge, is of the same answers: those on which people are tied too."""

import krippendorff
import numpy as np
import pytest
from tests.agreement.rows import judgement, label

from ragstone.agreement.card import ReportCard
from ragstone.agreement.grading import report_cards

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
