"""Twelve views of the workbench are as their pictures in docs/images show them."""

import os
import time
from unittest import mock

import pytest
from tests.support.browser import opened_tab
from tests.support.in_thread import app_in_thread
from tests.support.pictures import (
    IMAGES,
    MOST_BLOCKS,
    SIZE,
    check_picture,
    difference,
    luminance,
    screenshot,
)
from tests.support.shown_project import (
    BEFORE,
    LAST,
    QUEUE,
    SHOWN_TRACE,
    client_of,
    label_some,
    now,
    shown_project,
)
from tests.support.workbench import create_workbench

from ragstone.features.new import copy_starter
from ragstone.features.run.pipeline import run
from ragstone.kernel.config import load_settings

pytestmark = pytest.mark.browser

ROOT = "/workbench"
RUN, OTHER = (f"{ROOT}/runs/0/{name.replace(' ', '%20')}" for name in (LAST, BEFORE))
TWO = f"0/{BEFORE}", f"0/{LAST}"
VIEWS = {
    "runs": f"{ROOT}/",
    "run": RUN,
    "row": f"{RUN}/row?question=agxqa-q61",
    "rows": f"{ROOT}/rows?run={TWO[0]}&run={TWO[1]}&where=correctness+%3C+50",
    "side-by-side": f"{ROOT}/compare/answers?run={TWO[0]}&run={TWO[1]}",
    "compare": f"{ROOT}/compare?a={TWO[0]}&b={TWO[1]}",
    "judges": f"{ROOT}/judges",
    "judge": f"{ROOT}/judges/correctness",
    "labelling": f"{ROOT}/label/{QUEUE}",
    "data-set": f"{ROOT}/data",
    "traces": f"{ROOT}/traces",
    "trace": f"{ROOT}/traces/{SHOWN_TRACE}",
}
REPORTS = {"report": "light", "report-dark": "dark"}
REPORT_SIZE = {"width": 1120, "height": 740}
FIRST_OF = {"data-set": f"a[href^='{ROOT}/data/']"}  # views that are behind the first link of a page


@pytest.fixture(scope="module")
def utc():
    """The time zone in which pages tell the time."""
    with mock.patch.dict(os.environ, {"TZ": "UTC"}):
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="module")
def address(tmp_path_factory, utc):
    folder = tmp_path_factory.mktemp("shown") / "project"
    settings = shown_project(folder)
    with client_of(settings) as client:
        label_some(client, folder)
    with app_in_thread(create_workbench(settings, now), timeout_graceful_shutdown=5) as address:
        yield address


@pytest.fixture
def tab():
    with opened_tab(loopback=True, viewport=SIZE, reduced_motion="reduce", color_scheme="light") as tab:
        yield tab


def look_at(tab, address, name):
    """Open a view, and wait until it has what comes late."""
    answer = tab.page.goto(address + VIEWS[name], wait_until="networkidle")
    assert answer.status == 200
    if name in FIRST_OF:
        tab.page.goto(
            address + tab.page.locator(FIRST_OF[name]).first.get_attribute("href"), wait_until="networkidle"
        )


@pytest.mark.parametrize("name", VIEWS)
def test_a_view_is_as_its_picture(address, tab, name):
    look_at(tab, address, name)
    check_picture(tab, name)


@pytest.fixture(scope="module")
def report(tmp_path_factory, utc):
    """The report that `ragstone demo` writes where no model is set."""
    folder = tmp_path_factory.mktemp("demo")
    copy_starter(folder, None)
    run(load_settings(folder / "ragstone.toml"))
    return (folder / "runs" / "starter" / "report.html").as_uri()


@pytest.mark.parametrize(("name", "scheme"), REPORTS.items())
def test_the_report_of_the_demo_is_as_the_picture_of_readme(report, name, scheme):
    with opened_tab(viewport=REPORT_SIZE, reduced_motion="reduce", color_scheme=scheme) as tab:
        tab.page.goto(report, wait_until="networkidle")
        check_picture(tab, name)


def test_each_view_has_its_picture_and_no_picture_is_left_over():
    assert {file.stem for file in IMAGES.glob("*.webp")} == {*VIEWS, *REPORTS}


CELLS = "document.querySelectorAll('.runs tr').forEach((row) => row.children[4]"
PLANTED = {
    "a column is gone": f"{CELLS}.remove())",
    "a column is empty": f"{CELLS}.replaceChildren())",
    "the style sheet is lost": "document.querySelector('link[href$=\"page.css\"]').sheet.disabled = true",
    "the navigation is gone": "document.querySelector('nav.bench').remove()",
    "a row is gone": "document.querySelector('.runs tbody tr:last-child').remove()",
    "all has moved": "document.querySelector('main').style.paddingTop = '3rem'",
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_change_is_seen(address, tab, planted):
    look_at(tab, address, "runs")
    before = screenshot(tab)
    tab.run(PLANTED[planted])
    assert seen(tab, before, screenshot(tab)) > 2 * MOST_BLOCKS


def test_a_page_that_is_no_longer_dark_is_seen(address, tab):
    tab.page.emulate_media(color_scheme="dark")
    look_at(tab, address, "runs")
    before = screenshot(tab)
    tab.page.emulate_media(color_scheme="light")
    assert seen(tab, before, screenshot(tab)) > 0.9


@pytest.mark.parametrize(
    "smoothed",
    [
        "filter: blur(0.35px)",
        "filter: contrast(1.15)",
        "transform: translate(0.4px, 0.4px)",
    ],
    ids=["softer edges", "harder edges", "half a pixel aside"],
)
def test_letters_that_are_smoothed_in_another_way_are_no_change(address, tab, smoothed):
    look_at(tab, address, "run")
    before = screenshot(tab)
    tab.run(f"document.querySelector('main').style.cssText = '{smoothed}'")
    after = screenshot(tab)
    assert after != before
    assert seen(tab, before, after) <= MOST_BLOCKS / 2


def seen(tab, before, after):
    tab.page.goto("about:blank")
    return difference(luminance(tab, before), luminance(tab, after))
