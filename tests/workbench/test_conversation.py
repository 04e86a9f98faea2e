"""A conversation in the chat page, in a real browser: what a person sees, and what is kept of it.

The first test has nothing scripted but the weather's server: `ragstone assistant build` and `ragstone serve`
on some of the shipped documents, the packaged embedder, Qdrant's folder, no model. The others look at states
that it does not get into, with an assistant that says what it is told.
"""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support import open_meteo
from tests.support.browser import Tab, opened_tab
from tests.support.command import ragstone
from tests.support.in_thread import free_port
from tests.support.pdf import At, write_pdf
from tests.support.served_assistant import PASSAGE, Scripted, said, served

from ragstone.kernel.config.serving import ServeSection
from ragstone_assistant.conversation import Doing, TextPiece

pytestmark = pytest.mark.browser

RAGSTONE = Path(sys.executable).with_name("ragstone")
SHIPPED = Path(__file__).parents[2] / "examples" / "assistant"
KEPT = {f"agxqa-{n}" for n in (2, 3, 4, 16, 17, 84, 89, 90, 91, 92, 93, 100, 101)}
PRICES = [
    "Ethanol cost 1.38 to 1.42 dollars a gallon at plants in Iowa this week, and a little more in Minnesota.",
    "Biodiesel was quoted at 2.85 dollars a gallon in Iowa; plants in Illinois and Ohio gave no price.",
    "Cornstalks for bio mass brought 41.25 dollars, straw 55.71 dollars and grass 61.46 dollars a ton.",
] + [
    f"Crude soybean oil in county {n} was 30.{n:02} cents a pound, and yellow grease 23.{n:02}."
    for n in range(16)
]
NITRATE = "What is the typical nitrate leaching loss for every inch of deep percolation in Nebraska?"


def project(folder: Path, weather: open_meteo.OpenMeteoServer) -> None:
    """Write the shipped example with 13 of its passages and a page of a PDF."""
    (folder / "documents").mkdir()
    for name in ("crops.csv", "videos.csv", "tags.toml"):
        shutil.copy(SHIPPED / name, folder / name)
    for name in ("farm_tools", "texts"):
        shutil.copytree(SHIPPED / name, folder / name)
    rows = (SHIPPED / "documents" / "irrigation-agxqa.jsonl").read_text("utf-8").splitlines(keepends=True)
    kept = [row for row in rows if json.loads(row)["id"] in KEPT]
    (folder / "documents" / "irrigation.jsonl").write_text("".join(kept), "utf-8")
    page = [At(50, 740 - 14 * n, line) for n, line in enumerate(PRICES)]
    (folder / "documents" / "prices.pdf").write_bytes(write_pdf([page], title="Prices of farm energy"))
    settings = (SHIPPED / "ragstone.toml").read_text("utf-8")
    addresses = "".join(f"{key} = {json.dumps(value)}\n" for key, value in weather.options().items())
    settings = settings.replace("timeout_s = 5\n", addresses)
    settings = settings.replace("port = 8000", "port = 0")
    settings = settings.replace(
        "[assistant]", "[assistant]\ntime_limit_s = 600  # a shared machine is slow", 1
    )
    (folder / "ragstone.toml").write_text(settings, "utf-8")


def started(folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Return a server's process and its address, once it answers."""
    process = subprocess.Popen(
        [RAGSTONE, "serve"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def stopped(process: subprocess.Popen[str]) -> str:
    """Stop a server as Ctrl-C does, and return what it had said."""
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 0
    return told


def ask(tab: Tab, text: str) -> str:
    """Ask in the page; return the text of the reply when it is whole."""
    before = tab.page.locator(".verdict").count()
    tab.page.fill("#question", text)
    tab.page.press("#question", "Enter")
    tab.page.locator(".verdict").nth(before).wait_for(timeout=600_000)
    return str(tab.page.locator(".said .text").last.inner_text())


def lines(folder: Path, pattern: str) -> list[dict]:
    return [json.loads(row) for file in sorted(folder.glob(pattern)) for row in file.read_text().splitlines()]


def test_a_conversation_with_the_shipped_assistant(folder):
    with contextlib.ExitStack() as stack:
        weather = stack.enter_context(open_meteo.serving())
        project(folder, weather)
        assert ragstone("assistant", "build").code == 0
        tab = stack.enter_context(opened_tab(loopback=True, locale="en-GB"))
        server, address = started(folder)
        try:
            tab.visit(address)
            converse(tab)
            figures(tab, weather)
            documents(tab)
            in_arabic(tab)
            assert tab.complaints == []
            told = stopped(server)
        finally:
            server.kill()
            server.communicate()
        assert tab.requests == []
        assert "Traceback" not in told
    kept_rows(folder)


def converse(tab: Tab) -> None:
    """An unclear question is asked back; the weather is the server's."""
    assert tab.page.locator("#examples button").count() == 3
    assert (
        ask(tab, "Will it rain tomorrow?")
        == "Where is your farm? Please name the nearest town or the region."
    )
    forecast = open_meteo.daily_weather(-0.28333, 36.06667, open_meteo.date(2026, 11, 22))
    reply = ask(tab, "Nakuru")
    assert "Nakuru" in reply
    for name in ("temperature_2m_max", "precipitation_sum"):
        assert f"{forecast[name]:g}" in reply


def figures(tab: Tab, weather: open_meteo.OpenMeteoServer) -> None:
    """The crop table and the videos answer; nobody was asked but the weather's server."""
    assert len(weather.asked) == 2
    assert "rooting depth" in ask(tab, "How deep are the roots of maize? My phone number is +254 712 345678.")
    ask(tab, "Is there a video about drip irrigation?")
    assert tab.page.locator(".links a").first.get_attribute("href").startswith("https://example.org/videos/")


def documents(tab: Tab) -> None:
    """An answer cites a passage, which opens; what is wrong is corrected."""
    reply = ask(tab, NITRATE)
    assert "pounds of nitrogen" in reply
    tab.page.locator(".said").last.locator(".cite").first.click()
    assert "Nitrate leaching loss rates typically range" in tab.page.inner_text("#passage-text mark")
    tab.page.keyboard.press("Escape")
    verdict = tab.page.locator(".verdict").last
    verdict.get_by_text("Not helpful").click()
    verdict.locator("textarea").fill("Ask Mary at +254 712 345678: it is 5 to 10 pounds.")
    verdict.locator("form button").click()
    verdict.get_by_text("Thank you").wait_for()


def in_arabic(tab: Tab) -> None:
    """The page turns, the reply is Arabic, and all is there after it was loaded anew."""
    tab.page.select_option("#lang", "ar")
    assert tab.run("document.documentElement.dir") == "rtl"
    assert "أين تقع مزرعتك؟" in ask(tab, "هل ستمطر غدًا؟")  # the weather knows no place called Nebraska
    assert tab.run("document.querySelector('.said:last-child .text').lang") == "ar"
    turns = tab.page.locator("#turns > li").all_inner_texts()
    tab.page.reload()
    tab.until("document.querySelectorAll('#turns > li').length", len(turns))
    assert tab.run("document.documentElement.dir") == "rtl"
    tab.page.select_option("#lang", "en")


def kept_rows(folder: Path) -> None:
    """All that was said stands in the log, masked, and so does the correction."""
    rows = lines(folder / "logs", "exchanges-*.jsonl")
    kinds = [row["tags"]["kind"] for row in rows]
    assert kinds[:5] == ["question", "answer", "answer", "answer", "answer"]
    (thumb,) = lines(folder / "logs", "feedback-*.jsonl")[-1:]
    assert (thumb["metric"], thumb["score"]) == ("thumb", 0)
    assert thumb["question_id"] in {row["question_id"] for row in rows}
    assert "5 to 10 pounds" in thumb["rationale"]
    everything = "".join(file.read_text("utf-8") for file in (folder / "logs").glob("*.jsonl"))
    assert "712 345" not in everything
    assert "345678" not in everything


@pytest.fixture
def scripted() -> Scripted:
    return Scripted()


@pytest.fixture
def address(scripted: Scripted, tmp_path: Path) -> Iterator[str]:
    with served(scripted, ServeSection(), tmp_path) as url:
        yield url


def test_a_reply_is_stopped_and_the_next_question_is_answered(scripted, address):
    with opened_tab(loopback=True) as tab:
        tab.visit(address)
        scripted.say(Doing("search_documents", "Searching the documents"), TextPiece("Sow "), 30.0, said())
        tab.page.click("#examples button")
        tab.page.get_by_text("Sow").wait_for()
        assert not tab.page.is_visible("#send")
        tab.page.click("#stop")
        tab.page.get_by_text("Stopped.").wait_for()
        tab.until("document.querySelector('#send').hidden", False)
        scripted.say(TextPiece("Sow in May [1]."), said())
        assert ask(tab, "When is maize sown?") == "Sow in May 1."
        assert scripted.cancelled == 1
        assert tab.complaints == []


def test_a_server_that_is_gone_is_told_and_asked_again_when_it_is_back(scripted, tmp_path):
    port = free_port()
    with opened_tab(loopback=True) as tab:
        with served(scripted, ServeSection(), tmp_path, port) as address:
            tab.visit(address)
            ask(tab, "How deep are the roots of maize?")
        tab.page.fill("#question", "When is maize sown?")
        tab.page.press("#question", "Enter")
        problem = tab.page.get_by_role("alert")
        problem.wait_for()
        assert "cannot be reached" in problem.inner_text()
        assert all("ERR_CONNECTION_REFUSED" in one for one in tab.complaints)
        scripted.say(TextPiece("Sow in June."), said("Sow in June.", citations=()))
        with served(scripted, ServeSection(), tmp_path, port):
            tab.page.get_by_role("button", name="Try again").click()
            tab.page.locator(".verdict").nth(1).wait_for()
            assert tab.page.locator(".said .text").last.inner_text() == "Sow in June."


def test_what_a_refusal_found_can_be_opened(scripted, address):
    words = "I did not find an answer to this in my documents. The nearest that I found:"
    listed = f"{words}\n- Maize guide (page 2)"
    scripted.say(TextPiece(listed), said(listed, kind="refusal", citations=(), links=()))
    with opened_tab(loopback=True) as tab:
        tab.visit(address)
        assert ask(tab, "When is sorghum sown?") == words
        tab.page.get_by_role("button", name="Maize guide, page 2").click()
        tab.until("document.querySelector('#passage-text').textContent", f"Before. {PASSAGE.text} After.")


def test_axe_finds_nothing_to_complain_of_on_a_small_phone(scripted, address):
    with opened_tab(loopback=True, viewport={"width": 320, "height": 600}) as tab:
        tab.visit(address)
        assert tab.findings(320) == []
        ask(tab, "When is maize sown?")
        tab.page.get_by_text("Not helpful").click()
        assert tab.findings(320) == []
        scripted.say(ZeroDivisionError("secret"))
        tab.page.fill("#question", "And sorghum, on a farm with an unbreakablylongnamethatdoesnotfitaphone?")
        tab.page.press("#question", "Enter")
        tab.page.get_by_role("alert").wait_for()
        tab.page.select_option("#lang", "ar")
        assert tab.findings(320) == []
        tab.page.locator(".cite").click()
        assert tab.findings(320) == []
        assert tab.requests == []
