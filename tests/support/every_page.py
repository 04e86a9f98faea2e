"""Every page of the workbench that is HTML, in one tab of a browser: what it sends, how it looks, its keys.

The pages are those of tests/support/growth.py, so a page that is new there is looked at here.
"""

import contextlib
import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.support.browser import PATIENCE_S, Tab, opened_tab
from tests.support.growth import PAGES, queue_with_differences, write_project
from tests.support.in_thread import app_in_thread
from tests.support.workbench import create_workbench, opened

from ragstone.kernel.config import load_settings

ALSO = ("/workbench/people", "/workbench/people/log", "/workbench/nothing")
"""Pages that show no row, and so are not among those that may grow."""
TEXT = (
    "Maize takes up its nitrogen before the silks appear, <b>so</b> a late application is lost & costly. "
    + "Stickstoffauswaschungsgefährdungsabschätzung" * 4
    + " https://example.org/a/very/long/address?with=a&query=that_never_ends_"
    + "x" * 80
    + ' "quotes" \u202eabc\u202c العربية '
)
ORDER = """() => {
  const radios = new Set();
  const keyed = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
  return [...document.querySelectorAll(keyed)].filter((node) => {
    if (node.tabIndex < 0 || node.disabled || node.closest("[inert], fieldset:disabled")) return false;
    if (!node.checkVisibility({ visibilityProperty: true })) return false;
    if (node.type === "radio") {
      const group = `${node.form?.id} ${node.name}`;
      const chosen = document.querySelector(`input[name="${CSS.escape(node.name)}"]:checked`);
      if (radios.has(group) || (chosen && chosen !== node)) return false;
      radios.add(group);
    }
    return true;
  });
}"""
LISTEN = """(order) => {
  globalThis.focused = [];
  const words = (node) => (node.textContent || node.name || node.id).trim().slice(0, 40);
  const name = (node) => `${node.tagName.toLowerCase()} ${words(node)}`;
  globalThis.names = order.map(name);
  addEventListener("focusin", ({ target }) => {
    const shows = (node) => {
      const style = getComputedStyle(node);
      const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
      return outlined || style.boxShadow !== "none";
    };
    const around = [target, target.parentElement, target.closest(".entry")].filter(Boolean);
    focused.push([order.indexOf(target), name(target), around.some(shows)]);
  });
}"""
POINTED = """() => {
  const keyed = "a[href], button, summary, label, select, input, textarea, [tabindex]";
  const pressed = (node) => getComputedStyle(node).cursor === "pointer" && node.checkVisibility();
  return [...document.querySelectorAll("main *")].filter((node) => pressed(node) && !node.closest(keyed))
    .map((node) => node.outerHTML.slice(0, 120));
}"""
FROM_THE_TOP = """() => {
  const first = document.createElement("span");
  first.tabIndex = -1;
  document.body.prepend(first);
  first.focus();
  first.remove();
}"""
SCROLL = """async () => {
  for (let at = 0; at < document.documentElement.scrollHeight; at += innerHeight) {
    scrollTo(0, at);
    await new Promise((done) => requestAnimationFrame(done));
  }
  scrollTo(0, 0);
}"""


class Sent:
    """What a tab was sent since it was set to zero: bytes on the wire, the hosts, and what is under way."""

    def __init__(self, tab: Tab) -> None:
        self._session = tab.page.context.new_cdp_session(tab.page)
        self._session.send("Network.enable")
        self._session.send("Network.setCacheDisabled", {"cacheDisabled": True})
        self.bytes: dict[str, float] = {}
        self.hosts: set[str] = set()
        self.under_way: dict[str, str] = {}
        self._session.on("Network.requestWillBeSent", self._asked)
        self._session.on("Network.loadingFinished", self._finished)
        self._session.on("Network.loadingFailed", lambda event: self.under_way.pop(event["requestId"], None))

    def clear(self) -> None:
        self.bytes.clear()
        self.hosts.clear()
        self.under_way.clear()

    def _asked(self, event: dict[str, Any]) -> None:
        url = event["request"]["url"]
        if not url.startswith(("data:", "blob:")):
            self.hosts.add(urlsplit(url).netloc)
            self.under_way[event["requestId"]] = url

    def _finished(self, event: dict[str, Any]) -> None:
        url = self.under_way.pop(event["requestId"], "")
        self.bytes[url] = self.bytes.get(url, 0) + event["encodedDataLength"]


class Visitor:
    """A tab that goes from page to page."""

    def __init__(self, tab: Tab, address: str) -> None:
        self.tab, self.address = tab, address
        self.sent = Sent(tab)

    def visit(self, path: str) -> None:
        """Open a page, scroll it to its end, so that it loads all that it has, and go back to its head."""
        self.tab.page.set_viewport_size({"width": 1280, "height": 900})
        self.tab.page.emulate_media(color_scheme="light")
        self.sent.clear()
        self.tab.visit(self.address + path)
        self.settle()
        self.tab.run(SCROLL)
        self.settle()

    def settle(self) -> None:
        """Wait until nothing has been under way for 50 ms."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            self.tab.page.wait_for_timeout(50)
            if not self.sent.under_way:
                return
        raise AssertionError(f"still under way after {PATIENCE_S} s: {self.sent.under_way}")

    def tabbed(self) -> tuple[list[str], list[tuple[int, str, bool]]]:
        """Press Tab through a page. Returns what ought to get the focus, in order, and what got it: its place
        in that order, its name, and whether one sees it.
        """
        page = self.tab.page
        page.evaluate(FROM_THE_TOP)
        order = page.evaluate_handle(ORDER)
        page.evaluate(LISTEN, order)
        names = page.evaluate("names")
        for _ in names:
            page.keyboard.press("Tab")
        return names, [tuple(one) for one in page.evaluate("focused")]

    def pointed_at(self) -> list[str]:
        """Return what a pointer can press, by its cursor, and a key cannot reach."""
        found: list[str] = self.tab.page.evaluate(POINTED)
        return found


@contextlib.contextmanager
def visiting(folder: Path) -> Iterator[tuple[Visitor, list[str]]]:
    """Give a visitor, and the paths of all pages of a project with long and odd texts."""
    write_project(folder, TEXT)
    settings = load_settings(folder / "ragstone.toml")
    with opened(create_workbench(settings)) as client:
        queue_with_differences(client)
        ids = {
            kind: re.findall(rf'href="/workbench/{kind}/([^"]+)"', client.get(f"/workbench/{kind}").text)[0]
            for kind in ("data", "review", "cards")
        }
    server = app_in_thread(create_workbench(settings), timeout_graceful_shutdown=5)
    with server as address, opened_tab(loopback=True) as tab:
        paths = [
            re.sub(r"(data|review|cards)/ID", lambda part: f"{part[1]}/{ids[part[1]]}", path)
            for path in (*PAGES, *ALSO)
        ]
        yield Visitor(tab, address), [path for path in paths if _is_html(address + path)]


def _is_html(url: str) -> bool:
    request = urllib.request.Request(url, headers={"Accept": "text/html"})
    try:
        with urllib.request.urlopen(request) as answer:
            return bool(answer.headers.get_content_type() == "text/html")
    except urllib.error.HTTPError as refused:
        return bool(refused.headers.get_content_type() == "text/html")
