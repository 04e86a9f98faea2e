"""A history judged again: who moved, the judge or the application, and when nobody can tell."""

import sys
from datetime import date, timedelta

import numpy as np
import pytest
from benchmarks import monitor_history
from hypothesis import given
from hypothesis.strategies import integers, lists, sampled_from

from ragstone.features.watch.alarms import JudgeEvidence, alarms
from ragstone.features.watch.cells import DayCell
from ragstone.features.watch.history import (
    JudgedSpan,
    Movement,
    RejudgedHistory,
    RejudgedScore,
    RejudgePool,
    draw_history,
    history_shift,
    moved_words,
    period_drifts,
)
from ragstone.features.watch.judged import StoredScore
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection

BEGIN = date(2026, 1, 1)
OLD, NEW = "faithfulness 1 m", "faithfulness 2 m"


def on(day):
    return BEGIN + timedelta(days=day)


def history(*parts):
    """A history of (day, judge, then, now, n) answers."""
    scores = [
        RejudgedScore(day=on(day), metric="faithfulness", judge=judge, then=then, now=now, weight=1.0)
        for day, judge, then, now, n in parts
        for _ in range(n)
    ]
    return RejudgedHistory(judged=on(200), number=0, n=len(scores), failed=0, scores=scores)


def spans(at, judges=(OLD, OLD)):
    return JudgedSpan(judge=judges[0], begin=BEGIN, end=on(at)), JudgedSpan(judge=judges[1], begin=on(at))


def cells(*means, n=200, judge=OLD, first=0):
    """Days with these means of scores that are 0 or 1, of n exchanges each."""
    return [
        DayCell(
            day=on(first + at), tag="", value="", metric="faithfulness", judge=judge,
            n=n, w=n, wx=n * mean, w2=n, w2x=n * mean, w2x2=n * mean,
        )
        for at, mean in enumerate(means)
    ]  # fmt: skip


def test_the_shift_is_the_difference_of_the_gaps_whatever_the_judge_of_now_is_like():
    # Before: then 0.6, now 0.9, so then - now is -0.3. After: 0.8 and 0.9, so -0.1. The judge moved by 0.2.
    found = history_shift(
        history((0, OLD, 0.6, 0.9, 50), (50, OLD, 0.8, 0.9, 50)), "faithfulness", *spans(50)
    )
    assert found.mean == pytest.approx(0.2)
    assert (found.first, found.n, found.before, found.after) == (pytest.approx(0.6), 100, 50, 50)
    # No gap varies, so each side has the variance of one answer off by the whole scale, 1/50 squared; the
    # quantile of Student's t with 49 degrees of freedom is 2.0096: 2.0096 * sqrt(2) / 50 = 0.0568.
    assert found.high - found.mean == pytest.approx(0.0568, abs=1e-4)


def test_each_answer_counts_for_the_exchanges_that_it_stands_for():
    rows = history((0, OLD, 1.0, 0.0, 1), (0, OLD, 0.0, 0.0, 3), (9, OLD, 0.0, 0.0, 4)).scores
    heavy = [RejudgedScore(day=on(0), metric="faithfulness", judge=OLD, then=1.0, now=0.0, weight=3.0)]
    found = history_shift(
        RejudgedHistory(judged=on(20), number=0, n=8, failed=0, scores=[*heavy, *rows[1:]]),
        "faithfulness",
        *spans(9),
    )
    assert found.mean == pytest.approx(-0.5)  # before: (3 * 1 + 3 * 0) / 6; after: 0


def test_fewer_than_two_answers_of_a_side_tell_nothing():
    assert history_shift(history((0, OLD, 1, 1, 9), (50, OLD, 1, 1, 1)), "faithfulness", *spans(50)) is None
    assert history_shift(history((0, OLD, 1, 1, 9), (50, NEW, 1, 1, 9)), "faithfulness", *spans(50)) is None
    both = history((0, OLD, 1, 1, 9), (50, NEW, 1, 1, 9))
    assert history_shift(both, "faithfulness", *spans(50, (OLD, NEW))).mean == 0


POOL = RejudgePool(np.arange(60), np.repeat(np.arange(6) + BEGIN.toordinal(), 10), np.ones(60))
VOLUMES = {BEGIN.toordinal() + at: 100 for at in range(6)}


def test_days_are_drawn_alike_and_every_answer_stands_for_its_part():
    # 12 of 60 over 6 days: two of each day, each for 50 of its 100 exchanges.
    drawn = draw_history(POOL, VOLUMES, [(BEGIN, None)], 12)
    assert [n // 10 for n, _ in drawn] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert [weight for _, weight in drawn] == pytest.approx([50.0] * 12)


def test_days_about_a_change_are_drawn_more_often_and_count_for_less():
    # Half of 12 from all days, one each; the other half from the last day.
    drawn = draw_history(POOL, VOLUMES, [(BEGIN, None), (on(5), on(6))], 12)
    of_last = [weight for n, weight in drawn if n >= 50]
    assert (len(of_last), len(drawn)) == (7, 12)
    assert of_last == pytest.approx([100 / 7] * 7)


@given(integers(1, 80), lists(sampled_from([0.5, 1.0, 4.0]), min_size=60, max_size=60))
def test_what_is_drawn_stands_for_all_and_nothing_is_drawn_twice(n, weights):
    drawn = draw_history(RejudgePool(POOL.numbers, POOL.days, np.array(weights)), VOLUMES, [(BEGIN, None)], n)
    numbers = [number for number, _ in drawn]
    assert len(set(numbers)) == len(numbers) <= max(n, 1)
    if n >= 60:
        assert sum(weight for _, weight in drawn) == pytest.approx(600)


def test_periods_tell_the_judge_from_the_application():
    # Means of 0.8 on all 40 days. The judge scores what is the same 0.2 higher from day 20 on, for now it
    # says 0.7 where it said 0.5 before, and 0.7 since: so the application has lost 0.2.
    first, last = period_drifts(
        history((0, OLD, 0.5, 0.7, 200), (39, OLD, 0.7, 0.7, 200)), cells(*[0.8] * 40, n=1000)
    )
    assert (first.first, first.last, first.n, first.by_judge) == (on(0), on(19), 200, None)
    assert (last.first, last.last, last.then.mean) == (on(20), on(39), pytest.approx(0.8))
    assert last.by_judge.mean == pytest.approx(0.2)
    assert last.by_application.mean == pytest.approx(-0.2)
    assert moved_words(last.by_judge, "higher", "lower").startswith("+0.200 [+0.18")
    assert moved_words(last.by_application, "rose", "fell").endswith("]: fell")


def test_what_cannot_be_told_is_said():
    assert moved_words(None, "rose", "fell") == "cannot tell: too few judged again"
    unsure = Movement(mean=0.1, low=-0.1, high=0.3)
    assert moved_words(unsure, "rose", "fell") == "+0.100 [-0.100, +0.300]: cannot tell"
    assert period_drifts(history(), cells(0.8, 0.8)) == []
    assert period_drifts(history((0, OLD, 1, 1, 5)), []) == []
    few = period_drifts(history((0, OLD, 1, 1, 5), (1, OLD, 1, 1, 1)), cells(0.8, 0.8))
    assert [one.by_judge for one in few] == [None, None]


def test_a_judge_that_got_another_name_is_compared_too():
    found = period_drifts(
        history((0, OLD, 1.0, 1.0, 300), (39, NEW, 0.0, 1.0, 300)),
        [*cells(*[1.0] * 20), *cells(*[0.0] * 20, judge=NEW, first=20)],
    )
    assert [(one.judge, one.n) for one in found] == [(OLD, 300), (NEW, 300)]
    assert found[1].by_judge.mean == pytest.approx(-1.0)
    assert found[1].by_application.low < 0 < found[1].by_application.high


SECTION = MonitorSection(alpha=0.05)
FELL = cells(*[0.8] * 30, *[0.6] * 30)


@pytest.mark.parametrize(
    ("now_of_before", "cause"),
    [(0.8, "application"), (0.6, "judge"), (0.7, "both")],
)
def test_an_alarm_of_a_history_says_who_it_was(now_of_before, cause):
    # The scores of then fell from 0.8 to 0.6. Of now: 0.8 before as then, so nothing is the judge's; or 0.6,
    # so all of it is; or half. After the change the judge of then is that of now.
    known = JudgeEvidence(history=history((9, OLD, 0.8, now_of_before, 400), (40, OLD, 0.6, 0.6, 400)))
    [alarm] = alarms(FELL, SECTION, known=known, today=on(61))
    assert alarm.cause == cause
    assert "800 answers of then and since, judged again" in alarm.says


def test_without_scores_of_then_an_alarm_of_a_history_cannot_tell():
    [alarm] = alarms(FELL, SECTION, today=on(61))
    assert alarm.cause == "unknown"
    elsewhere = JudgeEvidence(history=history((9, NEW, 0.8, 0.8, 400), (40, NEW, 0.6, 0.6, 400)))
    assert alarms(FELL, SECTION, known=elsewhere, today=on(61)) == [alarm]


@pytest.mark.parametrize(
    ("days_later", "cause"), [((0, 0), "application"), ((0, 1), "application"), ((0, 9), "unknown")]
)
def test_a_judge_that_scored_all_of_a_history_at_once_cannot_have_changed(days_later, cause):
    first, last = (on(200 + later) for later in days_later)
    judged_on = {
        ("faithfulness", OLD): {on(at): (last, last) if at > 40 else (first, first) for at in range(61)}
    }
    [alarm] = alarms(FELL, SECTION, known=JudgeEvidence(judged_on=judged_on), today=on(61))
    assert alarm.cause == cause
    unknown = {("faithfulness", OLD): judged_on["faithfulness", OLD] | {on(3): None}}
    [alarm] = alarms(FELL, SECTION, known=JudgeEvidence(judged_on=unknown), today=on(61))
    assert alarm.cause == "unknown"


def test_another_judges_name_says_how_much_it_changed_the_scores():
    both = [*cells(*[0.8] * 30), *cells(*[0.6] * 30, judge=NEW, first=30)]
    known = JudgeEvidence(history=history((9, OLD, 0.8, 0.6, 400), (40, NEW, 0.6, 0.6, 400)))
    [alarm] = alarms(both, SECTION, known=known, today=on(61))
    assert (alarm.how, alarm.cause) == ("named", "judge")
    assert alarm.canaries.mean == pytest.approx(-0.2)


def test_a_store_of_the_format_before_does_not_know_when_its_scores_were_made(tmp_path):
    score = StoredScore(judge="j", version=1, model="m", metric="j", status="scored", score=1.0)

    def stored(n):
        return "INSERT INTO exchanges (n, digest, name, day, draw, chance) VALUES (?, ?, ?, ?, 0.1, 1)", (
            n,
            str(n).encode(),
            str(n),
            BEGIN.toordinal() + n // 2,
        )

    with MonitorStore(tmp_path) as store:
        with store.connection as db:
            for n in range(4):
                db.execute(*stored(n))
        store.keep([(0, score), (2, score)], best={}, on=on(100))
        assert store.judged_on() == {("j", "j 1 m"): {on(at): (on(100), on(100)) for at in (0, 1)}}
        store.keep([(3, score)], best={}, on=on(103))
        assert store.judged_on()["j", "j 1 m"][on(1)] == (on(100), on(103))
        with store.connection as db:
            db.execute("DROP TABLE judged_on")
            db.execute("PRAGMA user_version = 2")
    with MonitorStore(tmp_path) as store:
        store.keep([(1, score)], best={}, on=on(101))
        assert store.judged_on() == {("j", "j 1 m"): {on(0): None, on(1): None}}


@pytest.mark.simulation
def test_planted_drifts_are_attributed_rightly(capsys):
    """30 trials of each: 5 points by the judge, the application, both against each other, or neither."""
    monitor_history.figures(30, (800,))
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if "graded" in line]
    # After the name: judge right, judge wrong, application right, application wrong.
    shares = {
        line[0].strip(","): [int(one.strip("%")) for one in line if one.endswith("%")] for line in lines
    }
    assert shares["judge"][0] >= 90
    assert shares["application"][2] >= 90
    assert min(shares["both"][0], shares["both"][2]) >= 80
    assert all(max(one[1], one[3]) <= 14 for one in shares.values())  # 5 % of 30, three standard errors


@pytest.mark.simulation
def test_the_figures_of_the_docs_can_be_printed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["monitor_history", "--quick"])
    monitor_history.main()
    assert "both, graded, 400 judged again" in capsys.readouterr().out
