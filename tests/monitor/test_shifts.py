from datetime import date, timedelta

import numpy as np
import pytest

from ragstone.monitor.canaries import Rounds, evidence_of, judge_changes_along, shift_between
from ragstone.statistics.sequences import BETS

DAYS = [date(2026, 1, 1) + timedelta(days=7 * at) for at in range(40)]


def rounds(scores, known=None):
    found = np.array(scores, dtype=float)
    there = np.ones(found.shape, dtype=bool) if known is None else np.array(known)
    return Rounds(scores=found, known=there, days=DAYS[: found.shape[1]])


def test_differences_by_hand():
    # Means of rounds 0 and 1 against 2 and 3; the third answer has no later score.
    some = rounds(
        [[1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 0, 0]],
        [[True] * 4, [True, False, True, True], [True, True, False, False]],
    )
    assert some.differences(0, 2, 4).tolist() == [0.5, -0.5]
    shift = shift_between(some, 0, 2, 4)
    assert (shift.mean, shift.first, shift.n, shift.before, shift.after) == (0, 0.75, 2, 2, 2)
    assert shift_between(some, 0, 4, 4) is None


def test_evidence_by_hand():
    # Two answers fell from 1 to 0, one stayed: half of the mean of (1 + b)², half of that of (1 - b)².
    by_hand = np.mean([((1 + bet) ** 2 + (1 - bet) ** 2) / 2 for bet in BETS])
    assert evidence_of(np.array([-1.0, -1.0, 0.0])) == pytest.approx(by_hand)
    assert evidence_of(np.zeros(0)) == 1


def test_the_first_round_puts_aside_half_of_its_evidence():
    # 20 answers fell at once: of their evidence 1 / (1 * 2) is put aside; alpha is halved for a first change.
    some = rounds([[1, 0]] * 20)
    [change] = judge_changes_along(some, "j", 0.1)
    assert change.e_value == pytest.approx(evidence_of(-np.ones(20)) / 2)
    assert (change.judge, change.since, change.raised, change.alpha) == ("j", DAYS[1], DAYS[1], 0.05)
    assert change.shift.mean == -1


def judged(rng, *, n, n_rounds, noise, strict_from=None, share=0.0):
    truth = (rng.random(n) < 0.85).astype(float)
    strict = rng.random(n) < share
    scores = []
    for at in range(n_rounds):
        now = np.where(strict & (strict_from is not None and at >= strict_from), 0.0, truth)
        flipped = rng.random(n) < noise
        scores.append(np.where(flipped, 1 - now, now))
    return rounds(np.array(scores).T)


def test_a_judge_that_stays_as_it_is_is_rarely_said_to_have_changed():
    """150 judges in doubt about a tenth of 60 answers, 20 rounds each: at most 10 % ever (15 + 3 * 3.7).

    The chance in the first scores stays in every later comparison, which is what a test of independent
    rounds would take for evidence.
    """
    rng = np.random.default_rng(1)
    false = sum(
        bool(judge_changes_along(judged(rng, n=60, n_rounds=20, noise=0.1), "j", 0.1)) for _ in range(150)
    )
    assert false <= 26


def test_a_change_of_the_judge_is_found_with_its_round():
    some = judged(np.random.default_rng(2), n=200, n_rounds=12, noise=0.02, strict_from=8, share=0.3)
    [change] = judge_changes_along(some, "j", 0.01)
    assert change.since == DAYS[8]
    assert change.shift.low < -0.3 * 0.85 < change.shift.high


def test_after_a_change_rounds_are_compared_with_the_new_ones():
    some = judged(np.random.default_rng(3), n=200, n_rounds=30, noise=0.02, strict_from=8, share=0.2)
    assert len(judge_changes_along(some, "j", 0.05)) == 1
