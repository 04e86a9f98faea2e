"""The monitor's page of a small fixed log: golden, what stands first, nothing from outside acts."""

import re
from datetime import date

import msgspec
import pytest
from tests.features.report.test_page import EVIL, Page, without_style_and_script
from tests.support.browser import opened_tab
from tests.support.golden import check_golden
from tests.support.monitor_store import MODEL, TAGS, fill, row
from tests.support.texts import element
from tests.support.tiny_run import card

from ragstone.features.watch._alarms import NO_DRIFT
from ragstone.features.watch._page import (
    SHOWN_CONTEXTS,
    TEXT_CUT,
    monitor_view,
    render_monitor,
    render_view,
    write_monitor,
)
from ragstone.features.watch.gaps import find_gaps, keep_gaps, missed_in
from ragstone.features.watch.look import look_at
from ragstone.kernel.config import MonitorSection

TODAY = date(2026, 6, 1)
N_DAYS, A_DAY, DROP = 60, 20, 40


def log(n_days=N_DAYS):
    """Return 20 exchanges a day; answered is 0.95, and from day 40 on 0.5, of maize and of tea alike."""
    rows = []
    for n in range(n_days * A_DAY):
        day, at = divmod(n, A_DAY)
        good = at < (19 if day < DROP else 10)
        rows.append(
            row(
                f"x{n:04d}",
                day=day,
                question=f"How is maize sown {at} weeks late?" if at % 2 else "هل يزرع الشاي في الظل؟",
                answered=int(good),
                faithfulness="timeout" if at == 3 else 1,
                toxicity=0,
                question_type=0.5,
                feedback="down" if n == 7 else None,
                user_id=f"u{n % 9}",
                tags={"crop": "maize" if at % 2 else "tea", "lang": "en" if at % 2 else "ar"},
                contexts=[{"text": "Maize is sown in spring.", "document_id": "maize.pdf"}],
            )
        )
    return rows


def look_of(folder, rows, cards=(), **section):
    section = {"tags": TAGS, **section}
    with fill(folder, rows, **section) as store:
        gaps = find_gaps(missed_in(store.connection, since=date(2026, 4, 3)))
        keep_gaps(store, gaps, found=TODAY, since=date(2026, 4, 3))
        return look_at(store, MonitorSection(**section), today=TODAY, judges=["answered"], cards=cards)


@pytest.fixture(scope="module")
def look(tmp_path_factory):
    return look_of(tmp_path_factory.mktemp("store"), log())


def test_page_of_a_small_log_is_as_it_was(look):
    check_golden("monitor/page.html", without_style_and_script(render_monitor(look)))


def test_what_a_product_owner_looks_for_stands_first(look, says):
    top = render_monitor(look).partition('<section aria-labelledby="alarms">')[0]
    says(element(top, "answered, since"))  # day 40 after 1 March
    assert "0.95 → 0.50" in top
    says(element(top, "Unknown whether"))
    assert "28 timed out" in top  # one of twenty a day, in 28 days
    says(element(top, "By judges"))
    says(element(top, "1,200 exchanges"))


def test_where_no_judge_asks_a_model_no_drift_is_said_to_be_unknown(look, says):
    def without_model(row):
        mean = msgspec.structs.replace(row.mean, judge=row.mean.judge.replace(MODEL, "none"))
        return msgspec.structs.replace(row, mean=mean)

    words = "no judge calls a model, so none can drift"
    free = msgspec.structs.replace(look, rows=[without_model(row) for row in look.rows])
    assert words in render_monitor(free)
    assert words not in render_monitor(msgspec.structs.replace(look, rows=[*free.rows, look.rows[0]]))
    [alarm] = look.open_alarms
    fixed = msgspec.structs.replace(alarm, cause=NO_DRIFT.cause, says=NO_DRIFT.says)
    top = render_monitor(msgspec.structs.replace(free, alarms=[fixed]))
    says(element(top, "The application changed"))


def test_each_mean_stands_beside_its_denominator_and_other_statuses(look):
    (faithful,) = [one for one in look.rows if one.mean.metric == "faithfulness"]
    assert (faithful.recent.n, faithful.recent.statuses) == (28 * 19, {"timeout": 28})
    assert (faithful.mean.whole.n, faithful.mean.whole.statuses) == (60 * 19, {"timeout": 60})


def test_an_alarm_is_marked_at_its_day_in_its_metric_and_in_no_other(look):
    by_title = {chart.title: chart for chart in look.charts}
    marked = [layer["data"]["values"] for layer in by_title["answered"].spec["layer"] if "data" in layer]
    assert marked == [[{"d": "2026-04-10", "what": "alarm", "value": ""}]]
    assert not any("data" in layer for layer in by_title["faithfulness"].spec["layer"])
    assert "1 alarm marked" in by_title["answered"].said
    # Twenty a day are fewer than 30: weeks. The first began on Monday 23 February and has one day, 1 March.
    assert by_title["answered"].rows[0] == ["week of 2026-02-23", "0.95", "0.76 to 0.99", "20", ""]
    assert "question_type" not in by_title  # it has no good end


def test_values_of_a_tag_share_an_axis_and_a_table(look):
    (panel,) = [one for one in look.panels if (one.metric, one.tag) == ("answered", "crop")]
    domains = {str(chart.spec["layer"][0]["encoding"]["y"]["scale"]) for _, _, chart in panel.charts}
    assert len(domains) == 1
    assert panel.head == ["Week", "tea", "maize"]
    assert panel.rows[0] == ["2026-02-23", "1.00 of 10", "0.90 of 10"]


def test_a_report_card_says_how_far_a_judge_can_be_trusted(tmp_path, says):
    measured = msgspec.structs.replace(card(False, "answered"), model=MODEL)
    look = look_of(tmp_path, log(2), cards=[measured])
    html = render_monitor(look)
    assert "exact agreement 0.75" in html
    says(element(html, "The judge of answered"))
    other = msgspec.structs.replace(measured, prompt_version=9)  # of another version: it says nothing here
    assert "exact agreement" not in render_monitor(look_of(tmp_path / "other", log(2), cards=[other]))


def test_an_empty_store_and_a_short_log_say_that_it_is_too_early(tmp_path, says):
    with fill(tmp_path / "empty", []) as store:
        nothing = look_at(store, MonitorSection(tags=TAGS), today=TODAY, judges=[])
    html = render_monitor(nothing)
    says(element(html, "No exchange"))
    says(element(html, "Gaps have"))
    short = render_monitor(look_of(tmp_path / "short", log(3)))
    says(element(short, "Too early"))


@pytest.mark.long
def test_a_row_of_2099_moves_no_day_and_is_counted(tmp_path, says):
    odd = [row("odd", answered=0, tags={"crop": "tea", "lang": "ar"}) | {"time": "2099-01-01"}]
    look = look_of(tmp_path / "odd", [*log(), *odd])
    right = look_of(tmp_path / "right", log())
    assert (look.since, look.rows, look.charts, look.panels) == (
        right.since,
        right.rows,
        right.charts,
        right.panels,
    )
    assert look.alarms == right.alarms
    html = render_monitor(look)
    says(element(html, "in the future,"))
    says(element(html, "last exchange on"))


def test_nothing_from_outside_acts(tmp_path):
    rows = [
        row(
            f"x{n}",
            question=evil,
            answer=evil,
            answered=0,
            faithfulness=0,
            tags={"crop": evil, "lang": evil},
            contexts=[{"text": evil, "document_id": evil}],
        )
        for n, evil in enumerate(EVIL)
    ]
    html = render_monitor(look_of(tmp_path, rows))
    page = Page(html)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    links = [value or "" for name, value in page.attributes if name in ("href", "src", "action")]
    assert all(link.startswith(("#", "data:,")) for link in links)


def test_no_control_character_of_a_log_stands_in_the_page(tmp_path):
    unruly = "\x1b[31m\x07 red \u202e tea"
    texts = {"answer": f"{unruly}\r\nand so", "contexts": [{"text": unruly, "document_id": unruly}]}
    rows = [
        {**one, **texts, "question": f"{unruly}?", "tags": {"crop": f"{one['tags']['crop']} {unruly}"}}
        for one in log()
    ]
    look = look_of(tmp_path, rows)
    assert look.panels  # heads, captions, labels for screen readers and marks hold the tag
    assert look.alarms
    html = render_monitor(look)
    texts = without_style_and_script(html)
    assert "\ufffd[31m\ufffd red \ufffd tea" in texts
    specs = re.findall('<script type="application/json"[^>]*>(.*?)</script>', html)
    assert any("red \ufffd tea" in spec for spec in specs)
    for shown in (texts, *specs):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


@pytest.mark.long
def test_long_texts_are_cut_and_the_page_stays_small(tmp_path):
    contexts = [{"text": "Water. " * 2000, "document_id": f"d{n}"} for n in range(9)]
    rows = [row(f"x{n}", answer="Dry. " * 2000, answered=0, contexts=contexts) for n in range(150)]
    look = look_of(tmp_path, rows)
    html = render_monitor(look)
    assert html.count("Dry. " * (TEXT_CUT // 5 - 1)) == 100
    assert "4 contexts more" in html
    assert html.count(">d4<") == 100
    assert SHOWN_CONTEXTS == 5
    assert len(html) < 5_000_000
    assert len(render_view(monitor_view(look, served="/monitor"))) > len(html)


@pytest.mark.simulation
def test_a_year_of_all_tags_stays_below_five_megabytes(tmp_path):
    rows = [
        row(
            f"x{n}",
            day=n % 365,
            answered=1,
            faithfulness=1,
            relevance=1,
            toxicity=0,
            tags={name: f"{name} {n % 29}" for name in ("crop", "region", "lang", "model", "prompt_version")},
        )
        for n in range(365 * 29)
    ]
    look = look_of(tmp_path, rows)
    assert len(render_monitor(look)) < 5_000_000
    assert {chart.head[0] for chart in look.charts} == {"Week"}
    assert {(len(panel.charts), panel.more) for panel in look.panels} == {(12, 17)}


@pytest.mark.browser
@pytest.mark.parametrize("context", [{"color_scheme": "dark"}, {"viewport": {"width": 320, "height": 700}}])
def test_in_a_browser_it_draws_filters_and_asks_for_nothing(look, tmp_path, context):
    path = write_monitor(tmp_path, look)
    with opened_tab(**context) as tab:
        tab.open(path)
        tab.page.locator("#trends").scroll_into_view_if_needed()
        tab.until("document.querySelectorAll('.courses .canvas svg').length > 0", value=True)
        assert tab.run("document.documentElement.scrollWidth <= innerWidth")
        tab.page.select_option("#panel-metric", "answered")
        tab.page.select_option("#panel-tag", "lang")
        assert tab.run(
            "[...document.querySelectorAll('.panel:not([hidden])')].map((one) => one.dataset.tag)"
        ) == ["lang"]
        shown = "document.querySelectorAll('#list > li:not([hidden])').length"
        every = tab.run(shown)
        tab.page.select_option("#tool-tag", "crop=tea")
        assert 0 < tab.run(shown) < every
        tab.page.click("#reset")
        assert tab.run(shown) == every
        tab.page.click(".gap a")
        assert 0 < tab.run(shown) < every
        tab.page.keyboard.press("Tab")
        tab.page.emulate_media(media="print")
        assert tab.requests == []
        assert tab.complaints == []


@pytest.mark.browser
def test_axe_finds_nothing_to_complain_of(look, tmp_path):
    path = write_monitor(tmp_path, look)
    with opened_tab() as tab:
        tab.open(path)
        tab.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        assert tab.findings(1280) == []
