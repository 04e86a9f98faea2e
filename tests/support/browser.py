"""A page in a real browser: Debian's Chromium, driven by playwright, without any network.

In a test, take the fixture `tab` (tests/conftest.py), mark the test `real`, and open a file:

    def test_x(tab):
        tab.open(folder / "report.html", "#q-1")
        tab.page.fill("#tool-search", "rust")          # everything that playwright's Page has
        assert tab.run("document.title") == "..."
        assert tab.complaints == []                    # console messages, exceptions, refused resources
        tab.until("document.querySelectorAll('mark').length", 2)
        assert tab.requests == []                      # whatever the page asked for beside itself

It skips, with its reason, where there is no Chromium or no playwright.
"""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PLAIN = ("data:", "blob:", "chrome:", "about:")  # nothing leaves the page for these


class Tab:
    """One page of a browser, and everything that it complained of or asked for since it was opened."""

    def __init__(self, page: Any) -> None:  # noqa: ANN401 - playwright is imported only where it is used
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._own = ""
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", lambda request: self._asked(request.url))

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file; what was recorded before is forgotten."""
        self._own = path.resolve().as_uri()
        self.page.goto("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.page.goto(self._own + fragment, wait_until="load")

    def visit(self, address: str) -> None:
        """Open a server of this machine's; what it is asked itself is not recorded, nor what was before."""
        self._own = address
        self.page.goto("about:blank")
        self.complaints.clear()
        self.requests.clear()
        self.page.goto(address, wait_until="load")

    def run(self, script: str) -> Any:  # noqa: ANN401
        """Return what a script gives; a promise is awaited."""
        return self.page.evaluate(script)

    def until(self, script: str, value: object) -> None:
        """Wait for a script to give a value; fail with what it gives after ten seconds.

        In place of playwright's wait_for_function, which needs the eval that the pages forbid.
        """
        for _ in range(200):
            if self.run(script) == value:
                return
            self.page.wait_for_timeout(50)
        assert self.run(script) == value

    def _asked(self, url: str) -> None:
        served = self._own.startswith("http") and url.startswith(f"{self._own}/")
        if not url.startswith(PLAIN) and not served and url.partition("#")[0] != self._own:
            self.requests.append(url)


def executable() -> str:
    """Return the path of Chromium; skips the test where there is none."""
    pytest.importorskip("playwright", reason="needs playwright: pip install 'ragstone[dev]'")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("needs a browser: apt-get install chromium")
    return str(found)


@contextlib.contextmanager
def opened_tab(*, loopback: bool = False, **context: Any) -> Iterator[Tab]:  # noqa: ANN401
    """Give a tab; context: what playwright's new_context takes, e.g. viewport, color_scheme.

    loopback: servers of this machine can be reached, nothing else.
    """
    path = executable()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        alone = ["--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--no-proxy-server"]
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", *alone])
        try:
            yield Tab(browser.new_context(offline=not loopback, **context).new_page())
        finally:
            browser.close()
