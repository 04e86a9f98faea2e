"""Judging chosen answers and traces in a real browser: the forecast, the job, the run that comes of it."""

import pytest
from tests.support.browser import opened_tab
from tests.support.served_workbench import served
from tests.support.spans import TRACE, asked
from tests.support.tried_run import judge_text, tried_run

pytestmark = pytest.mark.browser


@pytest.fixture
def settings(tmp_path, fake_openai):
    made = tried_run(tmp_path, fake_openai)
    (tmp_path / "judges" / "soft.toml").write_text(judge_text("lenient").replace('"tone"', '"soft"'))
    folder = tmp_path / ".ragstone" / "traces"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(asked("When is maize sown?", "In spring.") + b"\n")
    return made


def test_the_answers_of_a_filter_are_judged_after_their_forecast_and_lead_to_the_new_run(
    settings, fake_openai
):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/judge?run=0/mine&where=containment+%3C+0.5")
        n = fake_openai.n_requests
        page.check("[value=soft]")
        assert page.is_disabled("#run")
        page.click("#ask-forecast")
        page.wait_for_selector("#run:not([disabled])")
        assert fake_openai.n_requests == n
        page.fill("[name=name]", "lows")
        page.click("#run")
        page.wait_for_url("**/workbench/runs/0/lows")
        assert fake_openai.n_requests == n + 2
        assert tab.complaints == []


def test_chosen_traces_are_judged_and_the_new_run_is_one_press_away(settings):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        page = tab.page
        tab.visit(f"{address}/workbench/traces/chosen?act=judge&id={TRACE}")
        page.fill("[name=name]", "of-traces")
        page.click("#act button.main")  # a judge that calls no model: nothing to confirm
        page.click("#done a:has-text('See the run')")
        page.wait_for_url("**/workbench/runs/0/of-traces")
        assert tab.complaints == []
