import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import booleans, floats, integers, lists, sampled_from, tuples

from ragstone.features.improve._thresholds import Thresholds, decide, fit_cut, fit_unsure, most_agreement
from ragstone.kernel.statistics import wilson_interval

GRADED = lists(tuples(sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]), booleans()), min_size=2, max_size=40)


def arrays(rows):
    scores, yes = zip(*rows, strict=True)
    return np.array(scores, dtype=float), np.array(yes, dtype=bool)


def accuracy(scores, yes, cut):
    return ((scores >= cut) == yes).mean()


def test_the_cut_parts_yes_from_no():
    # Any cut above 40 and up to 70 is right four times of four: 60 is the number of one digit nearest to 55.
    scores, yes = arrays([(10, False), (40, False), (70, True), (90, True)])
    assert fit_cut(scores, yes) == 55
    assert fit_cut(np.array([0.0, 1.0]), np.array([False, True])) == 0.5
    assert fit_cut(np.array([1 / 3, 2 / 3]), np.array([False, True])) == 0.5
    assert fit_cut(np.array([0.121, 0.124]), np.array([False, True])) == 0.122


def test_of_equally_good_cuts_the_middle_one_is_taken():
    # Right of five with the cut 0.5: 1 + 2, with 1.5: 1 + 1, with 2.5: 2 + 1, with 3.5: 2 + 0.
    scores, yes = arrays([(0, False), (1, True), (2, False), (3, True), (4, False)])
    assert fit_cut(scores, yes) == 0.5  # of 0.5 and 2.5, both as near to 1.5, the lower one
    scores, yes = arrays([(0, False), (1, True), (2, False), (3, True), (4, False), (5, True)])
    assert fit_cut(scores, yes) == 2.5  # 0.5, 2.5 and 4.5 are right four times of six


def test_equal_scores_have_no_cut():
    assert fit_cut(np.ones(3), np.array([True, False, True])) is None
    assert fit_cut(np.array([]), np.array([], dtype=bool)) is None


@given(GRADED)
def test_no_other_cut_between_two_scores_agrees_more_often(rows):
    scores, yes = arrays(rows)
    cut = fit_cut(scores, yes)
    values = np.unique(scores)
    if cut is None:
        assert len(values) == 1
        return
    best = max(accuracy(scores, yes, value) for value in values[1:])
    assert accuracy(scores, yes, cut) == best
    assert values[0] < cut < values[-1]


@given(GRADED, sampled_from([0.5, 0.7, 0.8, 0.9]))
def test_the_interval_hands_on_as_few_answers_as_trying_every_interval_finds(rows, agreement):
    scores, yes = arrays(rows)
    cut = fit_cut(scores, yes)
    if cut is None:
        return
    right = (scores >= cut) == yes
    values = np.unique(scores)
    fits = {}
    for low in values:
        for high in values[values >= low]:
            decided = (scores < low) | (scores > high)
            n = int(decided.sum())
            if n and wilson_interval(int(right[decided].sum()), n)[0] >= agreement:
                fits[low, high] = len(scores) - n
    whole = wilson_interval(int(right.sum()), len(right))[0] >= agreement
    found = fit_unsure(scores, yes, cut, agreement)
    if whole:
        assert found == (cut, cut)
    elif not fits:
        assert found is None
    else:
        n_handed = ((scores >= found[0]) & (scores <= found[1])).sum()
        assert n_handed == min(fits.values())
        assert fits[found] == n_handed


def test_the_most_agreement_is_the_highest_that_is_reached():
    scores, yes = np.repeat([0.0, 1.0], 100), np.repeat([False, True], 100)
    yes[:10] = True
    # Without the 100 zeros, 100 of 100 are right: the interval's lower end is 0.963, in steps of 0.005 0.96.
    assert wilson_interval(100, 100)[0] == pytest.approx(0.963, abs=0.0005)
    assert most_agreement(scores, yes, 0.5) == 0.96
    assert fit_unsure(scores, yes, 0.5, 0.96) == (0.0, 0.0)
    assert fit_unsure(scores, yes, 0.5, 0.965) is None
    assert most_agreement(scores[:2], ~yes[:2], 0.5) == 0.34  # 2 of 2 right: 0.342


@given(lists(floats(0, 1), min_size=1, max_size=30), integers(0, 2**32))
def test_a_cascade_says_what_the_judge_who_decides_says(cheap, seed):
    cheap = np.array(cheap)
    dear = np.random.default_rng(seed).random(len(cheap))
    thresholds = Thresholds(cheap_cut=0.5, dear_cut=0.3, dear_alone_cut=0.9, unsure=(0.2, 0.6))
    said, decided = decide(thresholds, cheap, dear)
    for n, score in enumerate(cheap):
        assert decided[n] == (not 0.2 <= score <= 0.6)
        assert said[n] == (score >= 0.5 if decided[n] else dear[n] >= 0.3)


def test_without_an_interval_all_is_handed_on():
    thresholds = Thresholds(cheap_cut=0.5, dear_cut=0.3, dear_alone_cut=0.9, unsure=None)
    said, decided = decide(thresholds, np.array([0.0, 1.0]), np.array([1.0, 0.0]))
    assert (said.tolist(), decided.tolist()) == ([True, False], [False, False])


def test_very_many_different_scores_are_fitted_in_a_moment():
    scores = np.random.default_rng(0).random(20_000)
    yes = np.random.default_rng(1).random(20_000) < scores
    low, high = fit_unsure(scores, yes, 0.5, 0.9)
    decided = (scores < low) | (scores > high)
    assert wilson_interval(int(((scores >= 0.5) == yes)[decided].sum()), int(decided.sum()))[0] >= 0.9
    assert 0.1 < low < 0.3 < 0.7 < high < 0.9
