"""The page in a real browser: Debian's chromium, driven over its DevTools socket."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.report.conftest import WriteRun, judgement, summary_of
from tests.report.test_page import EVIL, evil_everywhere

from ragstone.records import Verdict
from ragstone.report.page import write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --remote-debugging-port=0"
)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: apt-get install chromium"),
]


class Browser:
    """One tab. Keeps every request, console message and exception that it saw."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.n_calls = 0
        self.events: list[dict[str, Any]] = []

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        self.n_calls += 1
        await self.socket.send_json({"id": self.n_calls, "method": method, "params": params})
        while True:
            message = await self.socket.receive_json(timeout=30)
            if message.get("id") == self.n_calls:
                return dict(message["result"])
            self.events.append(message)

    async def run(self, script: str) -> Any:  # noqa: ANN401
        result = await self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    async def until(self, script: str, value: object) -> None:
        """Wait for a script to give a value; fail with what it gives after five seconds."""
        for _ in range(100):
            found = await self.run(script)
            if found == value:
                return
            await asyncio.sleep(0.05)
        assert found == value

    async def open_all(self) -> None:
        """Open every question, then whatever can be opened in it."""
        await self.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")
        await self.until("!document.querySelector('.question:not(:has(.opened))')", value=True)
        await self.run("document.querySelectorAll('details').forEach((node) => { node.open = true; })")

    async def open(self, path: Path, fragment: str = "") -> None:
        self.events.clear()
        await self.call("Page.navigate", url=path.as_uri() + fragment)
        await self.until("location.protocol + document.readyState", "file:complete")

    def seen(self, *methods: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event.get("method") in methods]

    def complaints(self) -> list[dict[str, Any]]:
        return self.seen("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")

    def requests(self) -> list[str]:
        urls = [event["params"]["request"]["url"] for event in self.seen("Network.requestWillBeSent")]
        return [url for url in urls if not url.startswith(("chrome:", "chrome-untrusted:", "data:"))]


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Browser]:
    flags = [*FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}"]
    process = await asyncio.create_subprocess_exec(str(CHROMIUM), *flags, stderr=asyncio.subprocess.PIPE)
    assert process.stderr
    line = ""
    while "DevTools listening on" not in line:
        line = (await asyncio.wait_for(process.stderr.readline(), 60)).decode()
        assert line, "chromium ended before it listened"
    drain = asyncio.create_task(process.stderr.read())
    address = line.split()[-1].replace("ws:", "http:").split("/devtools")[0]
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{address}/json") as reply:
            tab = next(target for target in await reply.json() if target["type"] == "page")
        async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
            opened = Browser(socket)
            for domain in ("Page", "Runtime", "Network", "Log"):
                await opened.call(f"{domain}.enable")
            yield opened
    process.terminate()
    await process.wait()
    await drain


SHOWN = "document.getElementById('shown').textContent"
LISTED = "[...document.querySelectorAll('.question')].map((node) => node.id)"


def choose(name: str, value: str) -> str:
    return (
        f"(() => {{ const node = document.getElementById('tool-{name}'); node.value = '{value}'; "
        "node.dispatchEvent(new Event('change')); })()"
    )


async def test_page_opens_without_a_complaint_or_a_request(browser: Browser, write_run: WriteRun) -> None:
    path = write_report(write_run())
    await browser.open(path)
    await browser.open_all()
    assert browser.complaints() == []
    assert browser.requests() == [path.as_uri()]
    assert await browser.run(SHOWN) == "4 questions"
    opened = await browser.run("document.querySelector('.opened').innerText")
    for words in (
        "With fungicide.",
        "Same point as the reference.",
        "Not supported: It is cheap.",
        "relevant",
    ):
        assert words in opened


async def test_a_verdict_leads_to_the_context_that_supports_it(browser: Browser, write_run: WriteRun) -> None:
    statement = {"statement": "The soil is tested.", "supported": True}
    verdicts = [Verdict(id=1, context=2, **statement), Verdict(id=2, context=9, **statement)]
    used = [Verdict(id=1, statement="Rust is…", supported=False, context=1, of="contexts")]
    claims = [Verdict(id=1, of="answer", **statement), Verdict(id=2, of="reference", **statement)]
    rows = [
        judgement("q1", "faithfulness", 1, verdicts=verdicts),
        judgement("q1", "context_relevance", 0, verdicts=used),
        judgement("q1", "claims", 1, verdicts=claims),
    ]
    await browser.open(write_report(write_run(judgements=rows, summary=summary_of(rows))), "#q-q1")
    assert await browser.run("[...document.querySelectorAll('.cite')].map((node) => node.textContent)") == [
        "context 2",
        "context 1",
    ]
    opened = await browser.run("document.querySelector('.opened').innerText")
    for words in (
        "context 9",
        "Not useful: Rust is…",
        "Statements of the reference",
        "In the answer: The soil",
    ):
        assert words in opened
    soil = "document.querySelectorAll('[data-contexts] .passage')[1]"
    assert await browser.run(f"{soil}.open") is False
    await browser.run("document.querySelector('.cite').click()")
    assert await browser.run(f"{soil}.open && {soil}.classList.contains('cited')") is True
    assert await browser.run("document.querySelectorAll('.cited').length") == 1
    assert browser.complaints() == []


async def test_filters_and_order(browser: Browser, write_run: WriteRun) -> None:
    await browser.open(write_report(write_run()))
    await browser.run(choose("result", "low"))  # q2: correctness 0. q1 has faithfulness 0.5, the middle.
    assert await browser.run(LISTED) == ["q-q2"]
    assert await browser.run(SHOWN) == "1 of 4 questions"
    await browser.run("document.getElementById('reset').click()")
    await browser.run(choose("found", "missed"))
    assert await browser.run(LISTED) == ["q-q4 & 5"]
    await browser.run("document.getElementById('reset').click()")
    await browser.run(choose("judge", "1"))  # faithfulness
    await browser.run(choose("result", "is-timeout"))
    assert await browser.run(LISTED) == ["q-q3"]
    await browser.run("document.getElementById('reset').click()")
    await browser.run(choose("sort", "lowest"))  # the worst first, without a score last
    assert (await browser.run(LISTED))[:2] == ["q-q2", "q-q1"]


async def test_search_looks_into_answers_and_tags(browser: Browser, write_run: WriteRun) -> None:
    await browser.open(write_report(write_run()))
    for words, found in (
        ("FUNGICIDE", ["q-q1"]),
        ("الإزهار", ["q-q2"]),
        ("crop wheat", ["q-q1"]),
        ("zzz", []),
    ):
        await browser.run(f"document.getElementById('tool-search').value = '{words}'")
        await browser.run("document.getElementById('tool-search').dispatchEvent(new Event('input'))")
        await browser.until(LISTED, found)
    assert await browser.run("document.getElementById('nothing').hidden") is False


async def test_link_opens_its_question(browser: Browser, write_run: WriteRun) -> None:
    await browser.open(write_report(write_run()), "#q-q4%20%26%205")
    assert await browser.run("document.getElementById('q-q4 & 5').open") is True
    assert await browser.run("document.activeElement.parentElement.id") == "q-q4 & 5"


async def test_text_from_outside_runs_nothing(browser: Browser, write_run: WriteRun) -> None:
    for text in EVIL:
        path = write_report(write_run(**evil_everywhere(text)))
        await browser.open(path)
        await browser.open_all()
        assert await browser.run("window.pwned === undefined && !document.querySelector('img, #list script')")
        assert await browser.run("document.querySelector('.asked').textContent") == text
        assert browser.complaints() == []
        assert browser.requests() == [path.as_uri()]


async def test_page_fits_a_phone(browser: Browser, write_run: WriteRun) -> None:
    await browser.call(
        "Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=1, mobile=True
    )
    await browser.open(write_report(write_run()))
    await browser.open_all()
    assert await browser.run("document.documentElement.scrollWidth") == 390
