"""The table of rows in a browser: with keys alone, on a phone, light and dark, with hostile texts."""

import msgspec
import pytest
from tests.support.browser import opened_tab
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.served_project import project
from tests.support.served_workbench import served

from ragstone.kernel.config import load_settings
from ragstone.kernel.runs.views import View, read_view
from ragstone.kernel.serve.runs import summary_of_rows
from ragstone.workbench.views import save_view

__all__ = ["project"]
pytestmark = pytest.mark.browser
EVIL = '<script>alert("x")</script><img src=x onerror="alert(1)">'
FOCUSED = "document.activeElement.textContent.trim().replace(/\\s+/g, ' ')"
ROWS = "[...document.querySelectorAll('[data-row]')].map((row) => row.textContent)"


@pytest.fixture
def settings(project):
    texts = ["wheat", EVIL * 20, "x" * 3000, "שלום " * 200, "barley\n" * 80]
    for name, scores in (("before", [1, 0, 0.5, 1, 0]), ("after", [1, 1, 0, 0, "timeout"])):
        folder = write_run(project / "runs" / name, judged(scores), said=answers(texts), asked=questions(5))
        summary = summary_of_rows(folder, folder / "judgements.jsonl")
        (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    return load_settings(project / "ragstone.toml")


def tab_to(tab, words, most=60):
    """Press Tab until what is focused says this."""
    for _ in range(most):
        tab.page.keyboard.press("Tab")
        if words in tab.run(FOCUSED):
            return
    raise AssertionError(f"{words!r} cannot be reached: {tab.run(FOCUSED)!r}")


def test_everything_is_reached_by_keys_alone(settings, project):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        keys = tab.page.keyboard
        tab.visit(f"{address}/workbench/rows?run=0/before")
        keys.press("/")
        keys.press("Tab")
        keys.type("containment < 1 and kind = open")
        keys.press("Enter")
        tab.until(ROWS, ["What is 1?", "What is 2?", "What is 4?"])
        tab_to(tab, "Remove the filter kind = open")
        keys.press("Enter")
        tab.until("document.querySelectorAll('.filter-chip').length", 1)
        tab_to(tab, "containment", most=90)
        while not tab.run("document.activeElement.closest('thead') !== null"):
            tab_to(tab, "containment", most=90)
        keys.press("Enter")
        tab.until("document.querySelector('[aria-sort]')?.getAttribute('aria-sort')", "descending")
        assert tab.run(ROWS) == ["What is 2?", "What is 1?", "What is 4?"]
        tab_to(tab, "Columns")
        keys.press("Enter")
        tab.until("document.querySelectorAll('.row-menus > details[open]').length", 1)
        keys.press("Tab")
        keys.press("Escape")
        tab.until("document.querySelectorAll('.row-menus > details[open]').length", 0)
        assert tab.run(FOCUSED) == "Columns"
        tab_to(tab, "Views")
        keys.press("Enter")
        keys.press("Tab")
        keys.type("low ones")
        keys.press("Enter")
        tab.until("document.querySelector('h1').textContent", "low ones")
        tab.until("document.readyState", "complete")  # keys do something once the scripts are there
        assert read_view(project / "views", "low ones").where == "containment < 1"
        keys.press("j")
        keys.press("j")
        assert tab.run(FOCUSED) == "What is 1?"
        assert "/workbench/runs/0/before/row?question=q1" in tab.run("document.activeElement.href")
        assert tab.complaints == []


def test_the_second_of_two_people_is_told_on_the_page(settings, project):
    save_view(project / "views", View(name="low", where="containment < 1"), seen=None, who="ann")
    with served(settings) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/rows?run=0/before&view=low&where=containment+=+0")
        save_view(project / "views", View(name="low", where="containment < 0.2"), seen=1, who="ben")
        tab.page.click("summary:has-text('Views')")
        tab.page.click("button:has-text('Save the changes')")
        told = "document.querySelector('[data-view] [role=alert]:not([hidden])')?.textContent.slice(0, 44)"
        tab.until(told, "ben has changed the view 'low' meanwhile: it")
        assert read_view(project / "views", "low").where == "containment < 0.2"
        tab.page.fill("input[placeholder='low scores']", "mine")
        tab.page.click("button:has-text('Save a new view')")
        tab.until("document.querySelector('h1').textContent", "mine")
        assert read_view(project / "views", "mine").where == "containment = 0"


def test_the_page_holds_any_text_at_any_size(settings, project):
    save_view(project / "views", View(name="a" * 60, where="containment < 2"), seen=None, who="ann")
    phone = {"viewport": {"width": 390, "height": 900}}
    with served(settings) as address, opened_tab(loopback=True, **phone) as tab:
        columns = "&".join(f"column={name}" for name in ("question", "run", "answer", "containment", "tags"))
        where = "answer+~+'" + "x" * 300 + "'+or+containment+!=+none"
        for path in (
            f"rows?run=0/before&run=0/after&{columns}&order=-containment",
            f"rows?run=0/before&where={where}",
            f"rows?run=0/before&view={'a' * 60}",
            "rows?run=0/before&where=containment+<",
            "rows",
            "judge?run=0/before&where=containment+<+1",
            "label/new?run=0/before&where=containment+<+1",
            "compare?a=0/before&b=0/after&where=containment+<+1",
        ):
            tab.visit(f"{address}/workbench/{path}")
            assert tab.findings(390, 1280) == [], path
            for menu in range(tab.run("document.querySelectorAll('.row-menus > details').length")):
                tab.page.locator(".row-menus > details > summary").nth(menu).click()
                assert tab.findings(390, 1280) == [], (path, menu)
        assert [each for each in tab.complaints if "404" not in each] == []


def test_what_is_shown_is_judged_from_the_browser(settings, project):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/rows?run=0/before&where=containment+<+1")
        tab.page.click("summary:has-text('With these rows')")
        tab.page.click("a:has-text('Judge these answers')")
        tab.until("document.getElementById('run')?.disabled", value=True)
        tab.page.check("[name=judges][value=token_f1]")
        tab.page.click("#ask-forecast")
        tab.until("document.getElementById('run').disabled", value=False)
        assert "costs nothing" in tab.run("document.getElementById('forecast').textContent")
        tab.page.fill("[name=name]", "again")
        tab.page.click("#run")
        tab.until("location.pathname", "/workbench/runs/0/again")
        tab.until("document.querySelector('h1')?.textContent", "again")
        assert (project / "runs" / "again" / "summary.json").is_file()


def test_choices_of_the_list_are_chips_that_keys_take_away(settings, says):
    with served(settings) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/before?result=low&where=kind+=+open+and+containment+<+1")
        shown = "document.getElementById('shown').textContent"
        chips = "[...document.querySelectorAll('#chips bdi')].map((one) => one.textContent)"
        tab.until(shown, "2 of 5 questions")
        assert tab.run(chips)[1:] == ["kind = open", "containment < 1"]
        tab.page.focus("#chips button")
        tab.page.keyboard.press("Enter")
        tab.until(shown, "3 of 5 questions")
        says(tab.run(FOCUSED))
        tab.page.keyboard.press("Enter")
        tab.until("document.querySelectorAll('#chips button').length", 1)
        tab.page.keyboard.press("Enter")
        tab.until(shown, "5 questions")
        assert tab.run(FOCUSED) == "As a table"
        assert tab.axe() == []
