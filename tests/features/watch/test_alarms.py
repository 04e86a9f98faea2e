from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis.strategies import randoms
from tests.features.watch.test_canaries import rounds
from tests.support.monitor_cells import BEGIN, cell, days, dropped

from ragstone.features.watch._alarms import JudgeEvidence, alarm_line, alarms, cause_of
from ragstone.features.watch._canaries import Shift
from ragstone.features.watch._streams import Level
from ragstone.kernel.config import MonitorSection

SECTION = MonitorSection()
BEST = {"faithfulness": "highest", "toxicity": "lowest"}


def on(day):
    return BEGIN + timedelta(days=day)


def test_a_drop_is_one_alarm_that_stays_open(says):
    [alarm] = alarms(days(dropped(60)), SECTION, best=BEST)
    assert (alarm.metric, alarm.tag, alarm.how, alarm.worse, alarm.rose) == (
        "faithfulness", "", "logged", True, False,
    )  # fmt: skip
    assert abs((alarm.since - on(60)).days) <= 1
    assert alarm.since <= alarm.raised <= on(70)
    assert alarm.before.low < 0.85 < alarm.before.high
    assert alarm.after.low < 0.80 < alarm.after.high
    assert alarm.e_value >= 1 / alarm.alpha
    assert alarm.over is None
    assert alarm.cause == "unknown"
    says(alarm_line(alarm))


def test_a_drop_that_is_mended_is_over_and_the_mending_an_alarm_of_its_own():
    first, second = alarms(days([0.85] * 40 + [0.75] * 40 + [0.85] * 40), SECTION, best=BEST)
    assert first.over == second.since
    assert (first.worse, second.worse, second.over) == (True, False, None)
    assert "over since" in alarm_line(first)


def test_another_drop_is_another_alarm():
    first, second = alarms(days([0.9] * 40 + [0.8] * 40 + [0.7] * 40), SECTION)
    assert (first.over, first.rose, second.rose) == (None, False, False)


@pytest.mark.parametrize(
    ("best", "worse"), [({}, None), ({"toxicity": "lowest"}, True), ({"toxicity": "middle"}, None)]
)
def test_which_way_is_worse_is_told_by_the_judges_file(best, worse):
    [alarm] = alarms(days([0.05] * 40 + [0.2] * 10, metric="toxicity"), SECTION, best=best)
    assert alarm.worse is worse
    assert "rose" in alarm_line(alarm)


@settings(max_examples=10, deadline=None)
@given(randoms())
def test_neither_the_order_of_cells_nor_their_number_matters(random):
    cells = days(dropped(30, days_after=15))
    parts = [
        part
        for at, one in enumerate(cells)
        for part in (cell(at, 400, int(one.wx) // 2), cell(at, 500, int(one.wx) - int(one.wx) // 2))
    ]
    random.shuffle(parts)
    assert alarms(parts, SECTION) == alarms(cells, SECTION)


def test_a_day_that_is_not_over_raises_nothing_whatever_it_says():
    cells = days([0.85] * 30)
    assert alarms([*cells, cell(30, 900, 0)], SECTION) == []
    assert alarms([*cells, cell(30, 900, 0)], SECTION, today=on(30)) == []
    assert alarms([*cells, cell(30, 900, 0)], SECTION, today=on(31)) != []


def test_looking_every_hour_and_looking_once_are_the_same():
    cells = days(dropped(30, days_after=10))
    [whole] = alarms(cells, SECTION, today=on(40))
    raised = [
        alarm.raised
        for at in range(15, 41)
        for part in (1, 2)  # the day is half full, then full
        for alarm in alarms([*cells[:at], *days([0.5], n=200 * part, begin=at)], SECTION, today=on(at))
    ]
    assert set(raised) == {whole.raised}


def test_alpha_decides_what_is_an_alarm():
    cells = days([0.85] * 40 + [0.80] * 3)
    assert alarms(cells, MonitorSection(alpha=0.5), today=on(43)) != []
    assert alarms(cells, MonitorSection(alpha=1e-9), today=on(43)) == []


def test_nothing_is_compared_before_the_baseline_is_complete():
    cells = days([0.85] * 10 + [0.6] * 30)
    [early] = alarms(cells, MonitorSection(baseline_days=7))
    assert abs((early.since - on(10)).days) <= 1
    assert all(one.since >= on(21) for one in alarms(cells, MonitorSection(baseline_days=21)))


def with_crops(maize, others):
    """Cells of two crops, maize with a tenth of the rows, and of all together."""
    parts = [
        (days([a], n=100, seed=at, begin=at)[0], days([b], n=900, seed=1000 + at, begin=at)[0])
        for at, (a, b) in enumerate(zip(maize, others, strict=True))
    ]
    return [
        one
        for at, (a, b) in enumerate(parts)
        for one in (
            cell(at, a.n, a.wx, tag="crop", value="maize"),
            cell(at, b.n, b.wx, tag="crop", value="rice"),
            cell(at, a.n + b.n, a.wx + b.wx),
        )
    ]


def test_what_repeats_the_alarm_of_all_exchanges_is_beneath_it():
    [alarm] = alarms(with_crops(dropped(60, by=0.1), dropped(60, by=0.1)), SECTION)
    assert (alarm.tag, {one.value for one in alarm.beneath}) == ("", {"maize", "rice"})


def test_the_alarm_of_all_exchanges_is_beneath_that_of_the_value_that_explains_it():
    [alarm] = alarms(with_crops(dropped(60, by=0.4), [0.85] * 90), SECTION)
    assert (alarm.tag, alarm.value) == ("crop", "maize")
    assert [one.tag for one in alarm.beneath] == [""]


def test_another_judge_is_named_without_a_test_and_streams_do_not_cross_it(says):
    cells = [*days([0.85] * 40), *days([0.6] * 40, begin=40, judge="faithfulness 2 m")]
    [alarm] = alarms(cells, SECTION)
    assert (alarm.how, alarm.cause, alarm.since, alarm.raised) == ("named", "judge", on(40), None)
    says(alarm.says)
    assert (alarm.e_value, alarm.alpha) == (None, None)


def test_an_open_alarm_is_over_when_another_judge_takes_over():
    cells = [*days(dropped(30, days_after=20)), *days([0.8] * 20, begin=50, judge="faithfulness 2 m")]
    logged = [alarm for alarm in alarms(cells, SECTION) if alarm.how == "logged"]
    assert [alarm.over for alarm in logged] == [on(50)]


def test_two_judges_side_by_side_are_no_change():
    cells = [*days([0.85] * 60), *days([0.8] * 50, begin=10, judge="faithfulness 2 m")]
    assert alarms(cells, SECTION) == []


def test_judges_that_change_on_one_day_are_one_alarm():
    cells = [
        one
        for metric in ("faithfulness", "relevance")
        for one in (
            *days([0.4] * 30, metric=metric, judge=f"{metric} 1 m"),
            *days([0.5] * 30, begin=30, metric=metric, judge=f"{metric} 1 n"),
        )
    ]
    [alarm] = alarms(cells, SECTION)
    assert (alarm.metric, [one.metric for one in alarm.beneath]) == ("faithfulness", ["relevance"])


def test_shares_of_labels_that_move_together_are_one_alarm():
    how = days([0.4] * 40 + [0.6] * 20, metric="kind=how", judge="kind 1 m")
    what = [cell(at, 900, 900 - one.wx, metric="kind=what", judge="kind 1 m") for at, one in enumerate(how)]
    [alarm] = alarms([*how, *what], SECTION)
    [other] = alarm.beneath
    assert {alarm.metric, other.metric} == {"kind=how", "kind=what"}
    assert alarm.rose is not other.rose


JUDGE = "faithfulness 1 m"


def test_a_drop_that_the_canaries_share_is_the_judges():
    moved = rounds(*[0.9] * 5, *[0.7] * 4, judges=[JUDGE] * 9)
    [alarm] = alarms(days(dropped(32, by=0.2)), SECTION, known=JudgeEvidence(canaries=moved))
    assert alarm.cause == "judge"
    assert alarm.says.startswith("the judge changed")
    assert alarm.canaries.mean == pytest.approx(-0.2)
    assert alarm.corrected.low < 0.85 < alarm.corrected.high


def test_a_drop_that_the_canaries_do_not_share_is_the_applications():
    [alarm] = alarms(
        days(dropped(32, by=0.2)),
        SECTION,
        known=JudgeEvidence(canaries=rounds(*[0.9] * 9, judges=[JUDGE] * 9)),
    )
    assert alarm.cause == "application"
    assert alarm.says.startswith("the canaries agree")


@pytest.mark.parametrize("canaries", [None, rounds(*[0.9] * 9, judges=[JUDGE] * 9)])
def test_a_drop_that_a_judge_without_a_model_found_is_the_applications(canaries, says):
    cells = days(dropped(32, by=0.2), metric="grounding", judge="grounding 1 none")
    [alarm] = alarms(cells, SECTION, known=JudgeEvidence(canaries=canaries))
    assert (alarm.cause, alarm.canaries, alarm.corrected) == ("application", None, None)
    says(alarm_line(alarm))


def test_a_drop_in_what_people_say_has_an_unknown_cause():
    [alarm] = alarms(days(dropped(32, by=0.2), metric="feedback", judge="people"), SECTION)
    assert alarm.cause == "unknown"


def test_another_judge_whose_scores_no_canary_compares_is_still_known_to_be_one(says):
    for old, new in (("grounding 1 none", "grounding 2 none"), (JUDGE, "faithfulness 1 none")):
        cells = [*days([0.85] * 40, judge=old), *days([0.6] * 40, begin=40, judge=new)]
        [alarm] = alarms(cells, SECTION, known=JudgeEvidence(canaries=rounds(*[0.9] * 9, judges=[JUDGE] * 9)))
        says(alarm.says)


def test_a_judge_that_drifts_is_an_alarm_even_if_no_mean_moved():
    moved = rounds(*[0.9] * 3, *[0.1] * 3, judges=[JUDGE] * 6)
    [alarm] = alarms(days([0.85] * 50), SECTION, known=JudgeEvidence(canaries=moved))
    assert (alarm.how, alarm.cause, alarm.since) == ("canaries", "judge", on(21))
    assert (alarm.before.mean, alarm.after.mean) == pytest.approx((0.9, 0.1))
    # Without canaries in the settings nothing is spent on them, and logs have all of alpha.
    assert alarms(days([0.85] * 50), MonitorSection(canaries=0), known=JudgeEvidence(canaries=moved)) == []
    [with_them], [without] = (alarms(days(dropped(30)), MonitorSection(canaries=n)) for n in (200, 0))
    assert with_them.alpha == pytest.approx(0.8 * without.alpha)


def test_a_drift_of_the_judge_that_an_alarm_names_is_not_told_twice():
    moved = rounds(*[0.9] * 5, *[0.4] * 4, judges=[JUDGE] * 9)
    [alarm] = alarms(days(dropped(32, by=0.5)), SECTION, known=JudgeEvidence(canaries=moved))
    assert (alarm.how, alarm.cause) == ("logged", "judge")


def test_no_cells_have_no_alarms():
    assert alarms([], SECTION) == []


def level(mean, half=0.01):
    return Level(mean=mean, low=mean - half, high=mean + half, n=1000)


def shift(mean, half):
    return Shift(mean=mean, first=0.8, low=mean - half, high=mean + half, n=200, before=3, after=2)


# The mean fell by 0.10, known to within hypot(0.01, 0.01) = 0.014.
@pytest.mark.parametrize(
    ("moved", "half", "cause"),
    [
        (-0.10, 0.03, "judge"),
        (-0.08, 0.03, "judge"),  # 0.02 is left, which is less than the canaries tell
        (-0.05, 0.02, "both"),
        (0.05, 0.02, "both"),  # milder, and the mean fell all the same
        (0.00, 0.02, "application"),
        (-0.03, 0.04, "application"),  # 0.07 at most, not 0.086
        (-0.05, 0.06, "unknown"),
        (0.02, 0.12, "unknown"),
    ],
)
def test_the_cause_of_a_fall_of_10_points(moved, half, cause):
    assert cause_of(level(0.8), level(0.7), shift(moved, half)).cause == cause


def test_a_rise_has_the_same_causes_as_a_fall():
    assert cause_of(level(0.7), level(0.8), shift(0.1, 0.03)).cause == "judge"
    assert cause_of(level(0.7), level(0.8), shift(-0.03, 0.04)).cause == "application"
    assert cause_of(level(0.7), level(0.8), shift(0.05, 0.06)).cause == "unknown"


def test_what_the_judge_before_would_say_has_the_errors_of_both():
    # 0.7 + 0.1 within hypot(0.01, 0.03) = 0.0316.
    found = cause_of(level(0.8), level(0.7), shift(-0.1, 0.03)).corrected
    assert (found.mean, found.low, found.high) == pytest.approx(
        (0.8, 0.8 - 0.031623, 0.8 + 0.031623), abs=1e-5
    )


def test_without_canaries_the_cause_is_not_known(says):
    found = cause_of(level(0.8), level(0.7), None)
    assert (found.cause, found.corrected) == ("unknown", None)
    says(found.says)


@pytest.mark.parametrize(
    ("days_later", "cause"), [((0, 0), "application"), ((0, 1), "application"), ((0, 9), "unknown")]
)
def test_a_judge_that_scored_all_of_a_history_at_once_cannot_have_changed(days_later, cause):
    judge = "faithfulness 1 m"
    fell = [cell(at, 200, 160 if at < 30 else 120) for at in range(60)]
    first, last = (on(200 + later) for later in days_later)
    judged_on = {
        ("faithfulness", judge): {on(at): (last, last) if at > 40 else (first, first) for at in range(61)}
    }
    [alarm] = alarms(fell, SECTION, known=JudgeEvidence(judged_on=judged_on), today=on(61))
    assert alarm.cause == cause
    unknown = {("faithfulness", judge): judged_on["faithfulness", judge] | {on(3): None}}
    [alarm] = alarms(fell, SECTION, known=JudgeEvidence(judged_on=unknown), today=on(61))
    assert alarm.cause == "unknown"
