"""Every page of the workbench in Chromium: light, dark, desktop, phone, by keys alone, and its bytes."""

import time

import pytest
from tests.support.every_page import visiting
from tests.support.golden import sentence_in

pytestmark = pytest.mark.browser

MOST_BYTES = 300_000  # of a page on the wire, with its scripts and styles, and its charts when one scrolls
LONGEST_S = 90
WHOLE_REPORT = "report.html"  # one file that opens anywhere: it carries what would draw it


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    with visiting(tmp_path_factory.mktemp("every") / "project") as (visitor, paths):
        yield visitor, paths


def test_every_page_is_fit_to_be_seen_and_gone_through_by_keys(visitor):
    visitor, paths = visitor
    took, findings, sizes = 0.0, {}, {}
    for path in paths:
        began = time.monotonic()
        visitor.visit(path)
        sizes[path] = sum(visitor.sent.bytes.values())
        findings[path] = [*unfit(visitor, path), *visitor.tab.findings(1280, 390)]
        took += time.monotonic() - began
        findings[path] += lost_keys(visitor)
    print("\n", {path: round(size / 1000) for path, size in sizes.items()}, round(took, 1))
    lines = [f"{path}: {one}" for path, wrong in findings.items() for one in wrong]
    assert not lines, "\n".join(lines)
    assert len(paths) >= 30
    assert took < LONGEST_S


def unfit(visitor, path):
    """Return what is wrong with a page as it came: its bytes, its hosts, what it complains of, its title."""
    tab = visitor.tab
    wrong = [one for one in tab.complaints if "404" not in one or "nothing" not in path]
    if visitor.sent.hosts != {visitor.address.removeprefix("http://")}:
        wrong.append(f"asks {visitor.sent.hosts}")
    size = sum(visitor.sent.bytes.values())
    if size > MOST_BYTES and not path.endswith(WHOLE_REPORT):
        wrong.append(f"{size:,} bytes: {visitor.sent.bytes}")
    if tab.run("document.querySelectorAll('h1').length") != 1:
        wrong.append("not one h1")
    if not tab.run("document.title.endsWith(' · Ragstone') && document.title.length > 11"):
        wrong.append(f"title {tab.run('document.title')!r}")
    return wrong


def lost_keys(visitor):
    """Return where Tab does not go on in order, or to what nobody sees, and what a pointer alone reaches."""
    names, focused = visitor.tabbed()
    wrong = [] if names else ["nothing takes the focus"]
    places = [place for place, _, _ in focused]
    if places != list(range(len(names))):
        at = next((n for n, place in enumerate(places) if place != n), len(places))
        wrong.append(f"after {names[:at][-1:]}: {focused[at : at + 1]} in place of {names[at : at + 1]}")
    wrong += [f"not seen: {name}" for _, name, shows in focused if not shows]
    return wrong + [f"by pointer alone: {one}" for one in visitor.pointed_at()]


def test_a_letter_after_g_opens_each_section_and_the_table_of_keys_tells_of_it(visitor):
    visitor, _ = visitor
    page, tab = visitor.tab.page, visitor.tab
    visitor.visit("/workbench/label/first/progress")  # a page that has no keys of its own
    page.keyboard.press("?")
    tab.until("document.querySelector('dialog.keys').open", value=True)
    told = tab.run("document.querySelector('dialog.keys').textContent")
    assert "next row" not in told  # there are none here
    assert all(word in told for word in ("Runs", "Data", "Judges", "Production", "People", "show these keys"))
    page.keyboard.press("Escape")
    tab.until("document.querySelector('dialog.keys').open", value=False)
    letters = tab.run(
        "[...document.querySelectorAll('[data-go]')].map((one) => [one.dataset.go, one.pathname])"
    )
    assert len({letter for letter, _ in letters}) == len(letters) == 5
    for letter, path in letters:
        page.keyboard.press("g")
        page.keyboard.press(letter)
        page.wait_for_url(f"{visitor.address}{path}", wait_until="load")
    page.keyboard.press("r")  # without g, it opens nothing
    page.wait_for_timeout(200)
    assert page.url == f"{visitor.address}{letters[-1][1]}"


def test_a_page_with_keys_of_its_own_keeps_them(visitor, says):
    visitor, _ = visitor
    page, tab = visitor.tab.page, visitor.tab
    visitor.visit("/workbench/label/first")
    page.keyboard.press("?")
    tab.until("document.querySelectorAll('dialog[open]').length", 1)
    told = tab.run("document.querySelector('dialog[open]').textContent")
    says(sentence_in(told, "undo the last"))
    assert "Production" in told
    page.keyboard.press("Escape")


def test_a_long_page_says_where_one_is_and_its_line_of_parts_stays_in_view_on_a_phone(visitor):
    visitor, _ = visitor
    page, tab = visitor.tab.page, visitor.tab
    visitor.visit("/workbench/runs/0/a")
    page.set_viewport_size({"width": 390, "height": 800})
    current = "document.querySelector('.contents [aria-current]')?.textContent ?? ''"
    assert tab.run(current) == ""
    page.click(".contents a[href='#questions']")
    tab.until(current, "Every question")
    line = tab.run("document.querySelector('.contents').getBoundingClientRect().toJSON()")
    assert 0 <= line["top"] < 5
    assert 0 <= line["left"] < line["right"] <= 390
    link = tab.run("document.querySelector('.contents [aria-current]').getBoundingClientRect().left")
    assert 0 <= link < 300  # the line has moved along
    heading = tab.run("document.getElementById('questions').getBoundingClientRect().top")
    assert 40 < heading < 200  # below the line, not under it


SEEN = "((what) => [...document.querySelectorAll(what)].filter((node) => node.checkVisibility()))"
SCROLLS = "({ parentElement: region }) => region.scrollWidth > region.clientWidth + 1"
NAMED = "(cell) => getComputedStyle(cell, '::before').content === JSON.stringify(cell.dataset.label)"


def test_no_table_is_wider_than_a_phone_but_those_whose_places_say_something(visitor):
    visitor, paths = visitor
    page, tab = visitor.tab.page, visitor.tab
    for path in (
        "/workbench/",
        "/workbench/runs/0/a",
        "/workbench/runs/trends",
        "/workbench/compare?a=0/a&b=0/b",
    ):
        assert path in (*paths,)
        visitor.visit(path)
        page.set_viewport_size({"width": 390, "height": 800})
        assert tab.run(f"{SEEN}('table.cards').filter({SCROLLS}).length") == 0, path
        assert tab.run(f"{SEEN}('.cards tbody td[data-label]').every({NAMED})"), path
