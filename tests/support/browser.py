"""A page in a real browser: Debian's Chromium, driven by playwright, without any network.

In a test, take the fixture `tab` (conftest.py), mark the test `real`, and open a file:

    def test_x(tab):
        tab.open(folder / "report.html", "#q-1")
        tab.page.fill("#tool-search", "rust")          # everything that playwright's Page has
        assert tab.run("document.title") == "..."
        assert tab.complaints == []                    # console messages, exceptions, refused resources
        tab.until("document.querySelectorAll('mark').length", 2)
        assert tab.requests == []                      # whatever the page asked for beside itself
        assert tab.findings() == []                    # of axe: on a desk and a phone, in light and dark

It skips, with its reason, where there is no Chromium or no playwright. All tests of a session share one
Chromium, each with a context of its own, which shares nothing with another's (cookies, storage, cache).
"""

import asyncio
import contextlib
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PLAIN = ("data:", "blob:", "chrome:", "about:")  # nothing leaves the page for these
ALONE = ("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--no-proxy-server")
OFF = (  # features of Chromium, the last list of which counts: so what playwright turns off is here too
    # A window that is not shown draws its own address bar as two pages, for more than a page of ours costs.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "WebUIOmniboxFullPopup", "PreloadTopChromeWebUI"),
    "SpareRendererForSitePerProcess",  # a process for each page that is opened, for one that may come
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "AvoidCorsURLLoaderRestartOnRedirect", "PaintHolding"),
    *("DestroyProfileOnBrowserClose", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay"),
    *("MediaRouter", "ThirdPartyStoragePartitioning", "OptimizationHints", "NetworkTimeServiceQuerying"),
    *("AimEnabled", "PreconnectToSearch"),
)
PATIENCE_S = 60  # a shared machine halts at times; what is there is seen at once


AXE = Path(__file__).parents[1] / "fixtures" / "axe" / "axe-4.14.1.min.js"


class Tab:
    """One page of a browser, and everything that it complained of or asked for since it was opened."""

    def __init__(self, page: Any) -> None:  # noqa: ANN401 - playwright is imported only where it is used
        self.page = page
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._own = ""
        self._leaves = False
        page.on("framenavigated", self._arrived)
        page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))
        page.on("request", lambda request: self._asked(request.url))

    def open(self, path: Path, fragment: str = "") -> None:
        """Open a file; what was recorded before is forgotten."""
        self._go(path.resolve().as_uri(), fragment)

    def visit(self, address: str) -> None:
        """Open a server of this machine's; what it is asked itself is not recorded, nor what was before."""
        self._go(address)

    def run(self, script: str) -> Any:  # noqa: ANN401
        """Return what a script gives; a promise is awaited."""
        return self.page.evaluate(script)

    def run_with(self, script: str, argument: object) -> Any:  # noqa: ANN401
        """Return what a function gives of an argument; a promise is awaited."""
        return self.page.evaluate(script, argument)

    def axe(self, *rules: str) -> list[str]:
        """Return what axe finds against the page, once it has its style sheets: the rule, and the element.

        rules: those alone that are looked at; without one all.
        """
        self.page.wait_for_load_state("load")
        if not self.run("'axe' in globalThis"):
            # By playwright, beside the page: a policy of its own may forbid scripts that are not its files.
            self.run(AXE.read_text(encoding="utf-8"))
        only = f"runOnly: {json.dumps(rules)}, " if rules else ""
        ran = f"axe.run(document, {{ {only}resultTypes: ['violations'] }})"
        found = self.run(f"{ran}.then((result) => result.violations)")
        return [f"{one['id']}: {node['html'][:150]}" for one in found for node in one["nodes"][:3]]

    def findings(self, *widths: int) -> list[str]:
        """Return what axe finds, and where the page is wider than its window, in light and then in dark.

        widths: of the windows; a desk's and a phone's where none is named. Dark differs by its colours alone,
        and is looked at for them. The page is left as it came, in light.
        """
        found, before = [], self.page.viewport_size
        for width in widths or (1280, 360):
            self.page.set_viewport_size({"width": width, "height": before["height"]})
            if (wide := self.run("document.documentElement.scrollWidth")) > width:
                found.append(f"{wide} px wide at {width}")
            for scheme, rules in (("dark", ("color-contrast",)), ("light", ())):
                self.page.emulate_media(color_scheme=scheme)
                found += [f"{width} {scheme} {one}" for one in self.axe(*rules)]
        self.page.set_viewport_size(before)
        return found

    def until(self, script: str, value: object) -> None:
        """Wait for a script to give a value; fail with what it gives after PATIENCE_S.

        In place of playwright's wait_for_function, which needs the eval that the pages forbid.
        """
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self._tried(script) == value:
                return
            self.page.wait_for_timeout(25)
        assert self.run(script) == value

    def _go(self, address: str, fragment: str = "") -> None:
        """Open a page in place of the one that is there, in its process."""
        if self.page.url.partition("#")[0] == address.partition("#")[0]:
            self.page.goto("about:blank")  # else nothing is loaded where the fragment alone is another
        self._own = address
        self._leaves = True
        self.requests.clear()
        self.page.goto(address + fragment, wait_until="load")

    def _arrived(self, frame: Any) -> None:  # noqa: ANN401
        """Forget what the page that was left complained of, to its end."""
        if self._leaves and frame == self.page.main_frame:
            self._leaves = False
            self.complaints.clear()

    def _tried(self, script: str) -> object:
        """Return what a script gives, or None where it fails: a click may still be leaving a page."""
        from playwright.sync_api import Error

        try:
            return self.run(script)
        except Error:
            return None

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


class _Chromium:
    """The one browser of a session, started when it is first asked for.

    Playwright's loop counts as running for as long as its browser lives. Between two uses it is taken off
    this thread, for asynchronous tests run loops of their own.
    """

    def __init__(self) -> None:
        self._playwright: Any = None
        self._browser: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @contextlib.contextmanager
    def at_work(self) -> Iterator[Any]:
        """Give the browser; a use within a use is fine."""
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(self._loop)
        try:
            yield self._started()
        finally:
            self._loop = asyncio._get_running_loop()
            asyncio._set_running_loop(outer)

    def close(self) -> None:
        """End the browser, if there is one."""
        if self._playwright is not None:
            asyncio._set_running_loop(self._loop)
            self._browser.close()
            self._playwright.stop()
            asyncio._set_running_loop(None)
        self.__init__()  # type: ignore[misc]

    def _started(self) -> Any:  # noqa: ANN401
        from playwright.sync_api import sync_playwright

        if self._playwright is None:
            self._playwright = sync_playwright().start()
        if self._browser is None or not self._browser.is_connected():
            self._browser = self._playwright.chromium.launch(
                executable_path=executable(),
                args=["--no-sandbox", *ALONE, f"--disable-features={','.join(OFF)}"],
            )
        return self._browser


_chromium = _Chromium()
close_browser = _chromium.close


@contextlib.contextmanager
def opened_tab(*, loopback: bool = False, **context: Any) -> Iterator[Tab]:  # noqa: ANN401
    """Give a tab; context: what playwright's new_context takes, e.g. viewport, color_scheme.

    loopback: servers of this machine can be reached, nothing else.
    """
    executable()
    with _chromium.at_work() as browser:
        own = browser.new_context(offline=not loopback, **context)
        own.set_default_timeout(1000 * PATIENCE_S)
        try:
            yield Tab(own.new_page())
        finally:
            own.close()
