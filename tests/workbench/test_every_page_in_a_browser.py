"""Every page of the workbench in Chromium: light and dark, desktop and phone, by keys alone, and how much it sends."""

import time

import pytest
from tests.support.every_page import visiting

pytestmark = pytest.mark.browser

MOST_BYTES = 300_000  # of a page on the wire, with its scripts and styles, and its charts when one scrolls
LONGEST_S = 90
WHOLE_REPORT = "report.html"  # one file that opens anywhere: it carries what would draw it


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    with visiting(tmp_path_factory.mktemp("every") / "project") as (visitor, paths):
        yield visitor, paths


def test_every_page_is_fit_to_be_seen_in_light_and_dark_on_a_desk_and_a_phone(visitor):
    visitor, paths = visitor
    began, findings, sizes = time.monotonic(), {}, {}
    for path in paths:
        visitor.visit(path)
        page, tab = visitor.tab.page, visitor.tab
        wrong = [one for one in tab.complaints if "404" not in one or "nothing" not in path]
        sizes[path] = sum(visitor.sent.bytes.values())
        if visitor.sent.hosts != {visitor.address.removeprefix("http://")}:
            wrong.append(f"asks {visitor.sent.hosts}")
        if sizes[path] > MOST_BYTES and not path.endswith(WHOLE_REPORT):
            wrong.append(f"{sizes[path]:,} bytes: {visitor.sent.bytes}")
        if tab.run("document.querySelectorAll('h1').length") != 1:
            wrong.append("not one h1")
        if not tab.run("document.title.endsWith(' · Ragstone') && document.title.length > 11"):
            wrong.append(f"title {tab.run('document.title')!r}")
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                rules = ["color-contrast"] if scheme == "dark" else None
                wrong += [f"{width} {scheme} {one}" for one in visitor.axe(rules)]
            if (wide := tab.run("document.documentElement.scrollWidth")) > width:
                wrong.append(f"{wide} px wide at {width}")
        findings[path] = wrong
    took = time.monotonic() - began
    print("\n", {path: round(size / 1000) for path, size in sizes.items()}, round(took, 1))
    lines = [f"{path}: {one}" for path, wrong in findings.items() for one in wrong]
    assert not lines, "\n".join(lines)
    assert len(paths) >= 30
    assert took < LONGEST_S


def test_tab_goes_through_every_page_in_order_and_is_seen(visitor):
    visitor, paths = visitor
    wrong = {}
    for path in paths:
        visitor.visit(path)
        names, focused = visitor.tabbed()
        assert names, path
        places = [place for place, _, _ in focused]
        if places != list(range(len(names))):
            at = next((n for n, place in enumerate(places) if place != n), len(places))
            wrong[path] = f"after {names[:at][-1:]}: {focused[at : at + 1]} in place of {names[at : at + 1]}"
        unseen = [name for _, name, shows in focused if not shows]
        unreached = visitor.pointed_at()
        if unseen or unreached:
            wrong[path] = f"{wrong.get(path, '')} not seen: {unseen[:3]}, by pointer alone: {unreached[:3]}"
    assert not wrong, "\n".join(f"{path}: {words}" for path, words in wrong.items())
