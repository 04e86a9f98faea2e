"""The browser of the tests itself: it must see what a page should not do."""

from pathlib import Path

import pytest
from tests.support.browser import Tab

pytestmark = pytest.mark.browser


def test_a_tab_records_messages_exceptions_and_requests(tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<!doctype html><link rel=icon href=data:,><script>console.log('hello'); "
        "fetch('http://example.org/x').catch(() => {}); throw new Error('bad')</script>"
    )
    tab.open(page)
    assert "log: hello" in tab.complaints
    assert "exception: bad" in tab.complaints
    assert tab.requests == ["http://example.org/x"]


def test_a_quiet_page_leaves_nothing(tab: Tab, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>quiet</title><link rel=icon href=data:,>")
    tab.open(page, "#there")
    assert tab.run("document.title + location.hash") == "quiet#there"
    assert (tab.complaints, tab.requests) == ([], [])
