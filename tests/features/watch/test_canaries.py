import asyncio
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis.strategies import integers, permutations

from ragstone.features.watch._canaries import (
    Canaries,
    CanaryRound,
    CanaryScore,
    JudgedAnswer,
    RoundScores,
    anew,
    due,
    evidence_of,
    freeze,
    judge_again,
    judge_changes,
    judge_changes_along,
    judge_shift,
    metrics,
    shift_between,
)
from ragstone.kernel.llm import Message, Prompt, Reply
from ragstone.kernel.records import Answer, Usage
from ragstone.kernel.statistics.sequences import BETS

BEGIN = date(2026, 1, 1)


def judged(name, score, judge="j 1 m"):
    return JudgedAnswer(
        answer=Answer(question_id=str(name), answer="x"),
        scores={} if score is None else {"faithfulness": CanaryScore(score=score, judge=judge)},
    )


POOL = [judged(at, at % 5 / 4) for at in range(100)]


def test_canaries_are_drawn_evenly_along_the_scores():
    # 20 of each of five scores: 10 canaries are 2 of each.
    frozen = freeze(POOL, 10, 1, BEGIN)
    assert sorted(one.scores["faithfulness"].score for one in frozen.answers) == [
        *(0.0, 0.0, 0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0)
    ]


@given(permutations(POOL[:20]), integers(0, 50))
def test_which_canaries_depends_on_the_seed_and_not_on_the_order(pool, seed):
    assert freeze(pool, 7, seed, BEGIN) == freeze(POOL[:20], 7, seed, BEGIN)


def test_every_exchange_has_the_same_chance():
    # 3 of 7, 700 seeds: 300 times each, standard deviation at most 13.1.
    pool = [judged(at, at / 7) for at in range(7)]
    drawn = [one.answer.question_id for seed in range(700) for one in freeze(pool, 3, seed, BEGIN).answers]
    assert all(abs(drawn.count(str(at)) - 300) < 4 * 13.1 for at in range(7))


def test_few_exchanges_are_all_canaries_and_unscored_ones_none():
    frozen = freeze([judged("a", 1.0), judged("b", None)], 10, 0, BEGIN)
    assert [one.answer.question_id for one in frozen.answers] == ["a"]
    assert freeze([], 10, 0, BEGIN).answers == []


def rounds(*scores, judges=None):
    """Canaries with the same score each in every round, the first one frozen; a week apart."""
    judges = judges or ["j 1 m"] * len(scores)
    known = [
        CanaryRound(
            day=BEGIN + timedelta(days=7 * at),
            scores=[{} if one is None else {"faithfulness": CanaryScore(score=one, judge=judges[at])}] * 40,
        )
        for at, one in enumerate(scores)
    ]
    return Canaries(
        frozen=BEGIN, answers=[judged(at, scores[0], judges[0]) for at in range(40)], rounds=known[1:]
    )


@pytest.mark.parametrize(
    ("days", "alarm", "is_due"),
    [(13, None, False), (14, None, True), (9, 8, True), (9, 7, False), (9, 9, True), (9, 10, False)],
)
def test_canaries_are_due_by_their_days_and_at_once_after_an_alarm(days, alarm, is_due):
    # Judged last on day 7.
    raised = None if alarm is None else BEGIN + timedelta(days=alarm)
    assert due(rounds(1.0, 1.0), BEGIN + timedelta(days=days), 7, raised) is is_due


def test_no_canaries_are_never_due():
    assert not due(Canaries(frozen=BEGIN, answers=[]), BEGIN.replace(year=2030), 7)


def test_judging_again_adds_a_round_with_a_number_of_its_own(says):
    numbers = []

    async def judge(answer, number):
        numbers.append(number)
        return {"faithfulness": CanaryScore(score=0.5, judge="j 1 m")} if answer.question_id != "1" else {}

    once = asyncio.run(judge_again(rounds(1.0, 1.0), judge, BEGIN.replace(day=15)))
    assert len(once.rounds) == 2
    assert set(numbers) == {2}
    assert once.rounds[1].day == BEGIN.replace(day=15)
    assert once.rounds[1].scores[1] == {}
    assert once.rounds[1].scores[0]["faithfulness"].score == 0.5
    with pytest.raises(ValueError) as error:
        asyncio.run(judge_again(once, judge, BEGIN.replace(day=15)))
    says(error.value)


def test_a_round_in_which_nothing_was_judged_is_none():
    async def judge(answer, number):
        return {}

    before = rounds(1.0, 1.0)
    assert asyncio.run(judge_again(before, judge, BEGIN.replace(month=3))) is before


def test_a_model_is_asked_anew_with_nothing_but_another_sample_number():
    asked = []

    async def ask(prompt):
        asked.append(prompt)
        return Reply(text="", value=None, usage=Usage(), latency_s=0.0, cost_usd=None)

    prompt = Prompt(messages=(Message(role="user", content="x"),), temperature=0.3, sample=4)
    asyncio.run(anew(ask, 2)(prompt))
    assert asked == [Prompt(messages=prompt.messages, temperature=0.3, sample=2004)]


def test_the_shift_is_that_of_rounds_from_a_day_on():
    shift = judge_shift(rounds(1.0, 1.0, 0.8, 0.6), BEGIN + timedelta(days=14))["faithfulness"]
    assert shift.mean == pytest.approx(0.7 - 1.0)
    assert (shift.n, shift.before, shift.after, shift.first) == (40, 2, 2, 1.0)
    assert judge_shift(rounds(1.0, 1.0), BEGIN + timedelta(days=14)) == {}
    assert judge_shift(rounds(1.0, 1.0), BEGIN) == {}


def test_earlier_rounds_than_what_is_compared_do_not_count_but_the_last_of_them():
    # Rounds of days 0, 7, 14, 21, 28; compared from day 16 on: that of day 14 is how it was then.
    shifts = judge_shift(
        rounds(0.0, 0.0, 1.0, 1.0, 0.5), BEGIN + timedelta(days=28), compared=BEGIN + timedelta(days=16)
    )
    assert (shifts["faithfulness"].mean, shifts["faithfulness"].before) == (-0.5, 2)


def test_only_named_judges_count():
    some = rounds(1.0, 1.0, 0.5, 0.5, judges=["j 1 m", "j 1 m", "j 1 n", "j 1 n"])
    assert judge_shift(some, BEGIN + timedelta(days=14), ["j 1 m"]) == {}
    assert judge_shift(some, BEGIN + timedelta(days=14))["faithfulness"].mean == -0.5


def test_a_judge_of_another_name_is_compared_with_itself_alone():
    named = rounds(1.0, 1.0, 0.0, 0.0, judges=["j 1 m", "j 1 m", "j 1 n", "j 1 n"])
    assert judge_changes(named, 0.05) == {"faithfulness": []}
    [change] = judge_changes(rounds(1.0, 1.0, 0.0), 0.05)["faithfulness"]
    assert (change.since, change.judge) == (BEGIN + timedelta(days=14), "j 1 m")
    # One metric, of the first judge of this name half, of its first change half of that.
    assert change.alpha == pytest.approx(0.05 / 4)


def test_a_round_without_a_metric_is_left_out():
    [change] = judge_changes(rounds(1.0, None, 0.0), 0.05)["faithfulness"]
    assert change.since == BEGIN + timedelta(days=14)
    assert metrics(rounds(1.0)) == ["faithfulness"]


DAYS = [date(2026, 1, 1) + timedelta(days=7 * at) for at in range(40)]


def rounds_of(scores, known=None):
    found = np.array(scores, dtype=float)
    there = np.ones(found.shape, dtype=bool) if known is None else np.array(known)
    return RoundScores(scores=found, known=there, days=DAYS[: found.shape[1]])


def test_differences_by_hand():
    # Means of rounds 0 and 1 against 2 and 3; the third answer has no later score.
    some = rounds_of(
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
    some = rounds_of([[1, 0]] * 20)
    [change] = judge_changes_along(some, "j", 0.1)
    assert change.e_value == pytest.approx(evidence_of(-np.ones(20)) / 2)
    assert (change.judge, change.since, change.raised, change.alpha) == ("j", DAYS[1], DAYS[1], 0.05)
    assert change.shift.mean == -1


def drifting_scores(rng, *, n, n_rounds, noise, strict_from=None, share=0.0):
    truth = (rng.random(n) < 0.85).astype(float)
    strict = rng.random(n) < share
    scores = []
    for at in range(n_rounds):
        now = np.where(strict & (strict_from is not None and at >= strict_from), 0.0, truth)
        flipped = rng.random(n) < noise
        scores.append(np.where(flipped, 1 - now, now))
    return rounds_of(np.array(scores).T)


@pytest.mark.simulation
def test_a_judge_that_stays_as_it_is_is_rarely_said_to_have_changed():
    """150 judges in doubt about a tenth of 60 answers, 20 rounds each: at most 10 % ever (15 + 3 * 3.7).

    The chance in the first scores stays in every later comparison, which is what a test of independent
    rounds would take for evidence.
    """
    rng = np.random.default_rng(1)
    false = sum(
        bool(judge_changes_along(drifting_scores(rng, n=60, n_rounds=20, noise=0.1), "j", 0.1))
        for _ in range(150)
    )
    assert false <= 26


def test_a_change_of_the_judge_is_found_with_its_round():
    some = drifting_scores(np.random.default_rng(2), n=200, n_rounds=12, noise=0.02, strict_from=8, share=0.3)
    [change] = judge_changes_along(some, "j", 0.01)
    assert change.since == DAYS[8]
    assert change.shift.low < -0.3 * 0.85 < change.shift.high


def test_after_a_change_rounds_are_compared_with_the_new_ones():
    some = drifting_scores(np.random.default_rng(3), n=200, n_rounds=30, noise=0.02, strict_from=8, share=0.2)
    assert len(judge_changes_along(some, "j", 0.05)) == 1
