"""Latency, tokens, users and failed calls of tools: alarms when they change, and none while they do not."""

import datetime
import math

import numpy as np
import pytest
from tests.features.watch.test_use import DAY, stored
from tests.support.monitor_cells import days, dropped
from tests.support.simulated_use import used_days

from ragstone.features.watch._alarms import alarm_line, alarms
from ragstone.features.watch._document import monitor_document
from ragstone.features.watch._logged import Reader
from ragstone.features.watch._use import FAILED_CALLS, USE_METRICS, use_cells
from ragstone.features.watch.look import look_at
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.document.markdown import render_markdown

SECTION = MonitorSection()


def found(seed, days, planted=None):
    cells = used_days(np.random.default_rng([8, seed]), days, planted=planted, begin=DAY)
    return alarms([], SECTION, use=cells)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_a_quiet_year_raises_nothing(seed):
    assert found(seed, 365) == []


@pytest.mark.parametrize(
    ("metric", "factor", "worse", "line"),
    [
        ("latency_s", 1.5, True, "latency_s rose from 1.5 s to 2.2 s since 2026-03-02"),
        ("latency_s", 0.7, False, "latency_s fell from 1.5 s to 1.0 s"),
        ("tokens", 1.5, None, "tokens rose from 887 to 1,308"),
        ("users", 0.5, True, "users fell from 146 per day to 77 per day"),
        (FAILED_CALLS, 2.0, True, "failed_tool_calls rose from 0.103 to 0.20"),
    ],
)
def test_a_change_is_found_within_ten_days_with_its_day_and_in_its_unit(metric, factor, worse, line):
    own = [one for one in found(19, 75, {metric: factor}) if one.metric == metric]
    assert len(own) == 1
    planted = DAY + datetime.timedelta(days=60)
    assert abs((own[0].since - planted).days) <= 1
    assert (own[0].raised - planted).days < 10
    assert (own[0].worse, own[0].cause, own[0].judge) == (worse, "application", "log")
    assert alarm_line(own[0]).startswith(line)
    assert own[0].before.low < own[0].before.mean < own[0].before.high


def test_what_scores_may_spend_does_not_depend_on_what_the_log_tells():
    use = used_days(np.random.default_rng(1), 80, planted={"latency_s": 2.0}, begin=DAY)
    cells = days(dropped(60, days_after=20))
    alone = alarms(cells, SECTION)
    both = alarms(cells, SECTION, use=use)
    assert alone == [one for one in both if one.judge != "log"]
    assert len(both) == 2


def test_the_cells_of_a_day_by_hand(tmp_path):
    rows = [
        {"time": "2026-01-01", "user_id": "a", "latency_s": 1.0, "cost_usd": 0.0, "steps": [{"tool": "x"}]},
        {"time": "2026-01-01", "user_id": "b", "latency_s": 10.0, "usage": {"total_tokens": 1000}},
        {
            "time": "2026-01-01",
            "metadata": {"steps": [{"action": "x", "status": "done"}, {"action": "y", "status": "failed"}]},
            "steps": [{"tool": "x", "result": "r"}, {"tool": "y", "error": "e"}, {"tool": "z", "error": "e"}],
        },
    ]
    with stored(tmp_path, rows) as store:
        cells = {one.metric: one for one in use_cells(store.connection, DAY)}
    assert sorted(cells) == [FAILED_CALLS, "latency_s", "tokens", "users"]  # what cost nothing has no cost
    # From 0.01 s to 1000 s are five powers of ten: 1 s is at 2/5, 10 s at 3/5, and their mean is sqrt(10) s.
    latency = cells["latency_s"]
    assert (latency.n, latency.w) == (2, 2.0)
    assert latency.wx == pytest.approx(2 / 5 + 3 / 5)
    assert USE_METRICS["latency_s"].value(latency.wx / latency.w) == pytest.approx(math.sqrt(10))
    # Two users are two observations of two: log10(2) of six powers of ten.
    assert (cells["users"].n, cells["users"].wx) == (2, pytest.approx(2 * math.log10(2) / 6))
    # Calls: 0 of 1 and 2 of 3 failed.
    failed = cells[FAILED_CALLS]
    assert (failed.n, failed.w, failed.wx, failed.w2) == (2, 4.0, pytest.approx(2.0), 10.0)


def test_steps_of_the_assistants_older_log_are_counted_by_their_status():
    steps = [{"action": "weather", "status": status} for status in ("done", "failed", "invalid")]
    read = Reader(SECTION, b"k").read({"question": "q", "metadata": {"steps": steps}})
    assert (read.usage.calls, read.usage.failed) == (3, 2)


def test_exchanges_of_one_trace_are_told_apart_and_known_again():
    reader = Reader(SECTION, b"k")
    first = reader.read({"question": "q", "metadata": {"trace_id": "t"}})
    second = reader.read({"question": "q", "metadata": {"trace_id": "t", "exchange": 2}})
    assert (first.name, second.name) == ("t", "t#2")
    assert first.digest != second.digest


def test_the_page_shows_an_alarm_of_latency_with_its_unit_and_marks_its_chart(tmp_path, says):
    draw = np.random.default_rng(3)
    rows = [
        {
            "time": f"{DAY + datetime.timedelta(days=day)}",
            "latency_s": float(np.exp(draw.normal(0, 0.5)) * (3 if day >= 30 else 1)),
            "steps": [{"tool": "x", "error": "down"} if one == 0 else {"tool": "x"}],
        }
        for day in range(40)
        for one in range(20)
    ]
    with stored(tmp_path, rows) as store:
        look = look_at(store, SECTION, today=DAY + datetime.timedelta(days=40), judges=[])
    [alarm] = look.open_alarms
    assert (alarm.metric, alarm.since) == ("latency_s", DAY + datetime.timedelta(days=30))
    charts = {chart.title: chart for chart in look.use_charts}
    says(charts["Latency in seconds"].said)
    assert charts["Calls of tools that failed"].rows[0] == ["2026-01-01", "0.05", "20"]
    told = render_markdown(monitor_document(look))
    assert "latency\\_s" in told or "latency_s" in told
    says(told)
