"""The page of one row in a real browser: read, acted on with keys, hostile texts, phone and dark, axe."""

import msgspec
import pytest
from tests.support.browser import opened_tab
from tests.support.golden import sentence_in
from tests.support.rich_row import ANSWERS, DOCUMENTS, QUESTIONS, SYSTEMS, write_rich_run
from tests.support.served_workbench import served
from tests.support.tried_run import tried_run
from tests.workbench.test_run_pages import EVIL

from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import harmless
from ragstone.kernel.records import Answer, Context, Question
from ragstone.kernel.runs.notes import read_notes
from ragstone.kernel.tables import write_rows

pytestmark = pytest.mark.browser

AT = "workbench/runs/0/rich/row?question=q+1%2Fa"
MARKED = "[...document.querySelectorAll('[data-system=NAME] .differs')].map((one) => one.textContent)"
BODY = "document.body.textContent"


@pytest.fixture
def settings(project):
    write_rich_run(project)
    return load_settings(project / "ragstone.toml")


def marked(tab, system: str) -> list[str]:
    return tab.run(MARKED.replace("NAME", system))


def drawn(tab) -> None:
    tab.until("document.querySelectorAll('#notes textarea').length", 1)


def test_everything_of_a_row_is_on_its_page(settings, says):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/{AT}&system=bm25")
        drawn(tab)
        assert tab.run("document.querySelector('h1').textContent") == QUESTIONS[0].question
        systems = "[...document.querySelectorAll('.row-answer')].map((one) => one.dataset.system ?? '')"
        assert tab.run(systems) == ["bm25", "hybrid", "agent", ""]
        assert marked(tab, "bm25") == ["when", "about 12", "Sow early."]
        says(" ".join(marked(tab, "hybrid")))
        # The text is as it was, but for the buttons that lead to a verdict.
        text = "[...document.querySelector('[data-system=bm25] .text').childNodes]"
        text += ".filter((one) => one.tagName !== 'BUTTON').map((one) => one.textContent)"
        assert "".join(tab.run(text)).split() == SYSTEMS["bm25"].split()
        for words in (
            "the reply was cut off at 256 tokens",
            "scale 1 to 5",
            "12 mm in place of 8",
            "The number is wrong.",
            "matched by id and system alone",
            "12 mm is of cotton.",
            "0.0008 USD",
            "I need the rain",
            "Reference",
        ):
            assert words in tab.run(BODY)
        assert "do not know" not in tab.run(BODY)  # the label of an answer that is no longer given
        assert tab.run("document.querySelectorAll('.evidence').length") == 3
        says(tab.run("document.querySelector('[data-contexts=bm25] mark').title"))
        assert tab.run("document.querySelectorAll('details.tool[open]').length") == 0
        tab.page.locator("details.tool summary").first.click()
        assert "evaporation_mm" in tab.page.locator("details.tool[open]").first.inner_text()
        tab.page.click(".calls > summary")
        tab.page.locator(".call").nth(2).wait_for()
        says(sentence_in(tab.page.locator(".call").first.inner_text(), "Answer from the"))
        assert tab.complaints == []


def test_keys_alone_reach_every_action(settings, project, says):
    with (
        served(settings) as address,
        opened_tab(loopback=True, permissions=["clipboard-read", "clipboard-write"]) as tab,
    ):
        tab.visit(f"{address}/workbench/runs/0/rich?where=support+%3E+0")
        keys = tab.page.keyboard
        tab.until("document.getElementById('shown').textContent", "6 questions")
        keys.press("j")
        keys.press("Enter")
        link = tab.page.locator(".opened a", has_text="This row on a page of its own")
        link.wait_for()
        link.focus()
        keys.press("Enter")
        tab.page.wait_for_url("**/row?where=*")
        drawn(tab)
        says(sentence_in(tab.run(BODY), "Row 1 of"))
        keys.press("?")
        tab.until("document.querySelector('dialog.keys').open", value=True)
        for words in (
            "next row of the list",
            "label this",
            "add a note",
            "copy the link",
            "back to the list",
        ):
            assert words in tab.page.locator("dialog.keys").inner_text()
        keys.press("Escape")
        keys.press("j")
        tab.page.wait_for_url("**question=q2")
        assert "where=support" in tab.page.url
        drawn(tab)
        keys.press("k")
        tab.page.wait_for_url("**question=q%201/a")
        drawn(tab)
        keys.press("d")
        assert tab.run("document.querySelector('.row-answers').classList.contains('plain')")
        keys.press("y")
        tab.until("document.getElementById('copied').textContent", "Copied")
        assert tab.run("navigator.clipboard.readText()") == tab.page.url
        keys.press("c")
        assert tab.run("document.querySelectorAll('.passage[open]').length") == 0
        keys.press("r")
        tab.page.locator(".call").first.wait_for()
        keys.press("a")
        note = "Eight, says the text."
        keys.type(note)
        keys.press("Tab")
        keys.type("number")
        keys.press("Enter")
        tab.until("document.querySelectorAll('.notes li').length", 2)
        assert read_notes(project / "runs" / "rich")[1].text == note
        keys.press("Escape")
        keys.press("l")
        tab.page.wait_for_url("**/label/picked-rich")
        tab.until(f"{BODY}.includes('Irrigate before half')", value=True)
        tab.page.go_back()
        drawn(tab)
        keys.press("u")
        tab.page.wait_for_url("**/runs/0/rich?where=*#q-q%201/a")
        assert tab.complaints == []


def test_a_row_leads_to_a_try_of_its_own(tmp_path, fake_openai):
    settings = tried_run(tmp_path, fake_openai)
    with served(settings) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/mine/row?question=sea")
        drawn(tab)
        tab.page.keyboard.press("t")
        tab.page.wait_for_url("**/try/answer-prompt?row=sea")
        assert tab.run("[...document.querySelectorAll('[name=rows]:checked')].map((one) => one.value)") == [
            "sea"
        ]


@pytest.mark.parametrize(
    "text", [EVIL, "x" * 100_000, "\u202eهذا " * 2_000, "😀" * 5_000], ids=["script", "word", "rtl", "emoji"]
)
def test_hostile_texts_are_harmless(project, text):
    rich = write_rich_run(project)
    questions = [
        msgspec.structs.replace(QUESTIONS[0], question=text, reference=text, tags={text[:500]: text[:500]})
    ]
    said = [
        msgspec.structs.replace(
            row, answer=f"{row.system} {text}", contexts=[Context(text=text, document_id=DOCUMENTS[0].id)]
        )
        for row in ANSWERS[:3]
    ]
    write_rows(rich / "questions.jsonl", questions, Question, force=True)
    write_rows(rich / "answers.jsonl", said, Answer, force=True)
    settings = load_settings(project / "ragstone.toml")
    with (
        served(settings) as address,
        opened_tab(loopback=True, viewport={"width": 390, "height": 800}) as tab,
    ):
        tab.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        tab.visit(f"{address}/{AT}")
        drawn(tab)
        for system in ("hybrid", "bm25"):
            shown = tab.run(f"document.querySelector('[data-system=\"{system}\"] .text').textContent")
            assert shown.startswith(f"{system} {harmless(text[:100])}")
        assert tab.run("document.querySelectorAll('main img').length") == 0
        wide = "[...document.querySelectorAll('main *')].map((one) => [one.getBoundingClientRect().right,"
        wide += " one.outerHTML.slice(0, 90)]).filter(([right]) => right > 391)"
        assert tab.run("document.documentElement.scrollWidth") == 390, tab.run(wide)
        assert tab.complaints == []


def test_axe_finds_nothing_and_no_page_is_too_wide(settings):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        for at in (f"{AT}&system=bm25&where=grade+%3E+1", "workbench/runs/0/rich/row?question=gone"):
            tab.visit(f"{address}/{at}")
            if "gone" not in at:
                drawn(tab)
            assert tab.findings() == [], at
