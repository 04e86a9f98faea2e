"""The workbench in a real browser: looked through with keys alone, live, hostile texts, axe."""

import json
import time

import msgspec
import pytest
from tests.support.browser import opened_tab
from tests.support.judged_runs import answers, judged, questions, write_run, write_runs_that_differ
from tests.support.run_progress import told_of_a_run
from tests.support.served_workbench import served
from tests.support.tiny_run import JUDGEMENTS, card, summary_of
from tests.workbench.test_run_pages import EVIL, write

from ragstone.kernel.config import load_settings
from ragstone.kernel.engine.progress_file import FILE
from ragstone.kernel.judging import summarise
from ragstone.kernel.records import Judgement
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.stages.notes import judgements_alone
from ragstone.kernel.tables import write_rows

pytestmark = pytest.mark.browser

SHOWN = "document.getElementById('shown').textContent"
FOCUSED = "document.activeElement.textContent.trim().slice(0, 22)"


def full() -> RunSummary:
    return msgspec.structs.replace(summary_of(JUDGEMENTS), cards=[card(better=False)])


def test_a_filter_in_words_leaves_its_rows_and_a_half_written_one_leaves_the_list(project):
    write(project / "runs" / "wheat", summary=full())
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/wheat")
        tab.until(SHOWN, "4 questions")
        wrong = "document.getElementById('where-wrong').textContent"
        tab.page.fill("#tool-where", "correctness < 0.5 and")
        tab.until(f"{wrong}.startsWith('The filter, at character 22: it ends')", value=True)
        assert tab.run(SHOWN) == "4 questions"
        tab.page.fill("#tool-where", "correctness < 0.5 and containment = 1")
        tab.until(SHOWN, "1 of 4 questions")
        assert tab.run(wrong) == ""
        assert "where=correctness" in tab.page.url
        tab.page.reload()
        tab.until(SHOWN, "1 of 4 questions")
        tab.page.click("#reset")
        tab.until(SHOWN, "4 questions")
        assert tab.axe() == []


def test_a_run_is_a_card_on_a_phone(project):
    write(project / "runs" / "wheat", summary=full())
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.page.set_viewport_size({"width": 390, "height": 800})
        tab.visit(f"{address}/workbench/")
        assert tab.run("document.querySelector('.runs tbody tr').getBoundingClientRect().height") < 600
        assert tab.run("document.documentElement.scrollWidth") == 390
        shown = "getComputedStyle(document.querySelector('.runs td:last-child'), '::before').content"
        assert tab.run(shown) == '"Made"'


def test_a_run_is_found_opened_and_read_with_keys_alone(project):
    write(project / "runs" / "wheat", summary=full())
    write_run(project / "runs" / "other", judged([1, 0]))
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/")
        keys = tab.page.keyboard
        keys.press("/")
        keys.type("whe")
        keys.press("Enter")
        tab.page.wait_for_url("**text=whe*")
        tab.until("document.querySelectorAll('[data-row]').length", 1)
        keys.press("j")
        assert tab.run(FOCUSED) == "wheat"
        keys.press("Enter")
        tab.page.wait_for_url("**/runs/0/wheat")
        tab.until(SHOWN, "4 questions")
        keys.press("?")
        tab.until("document.querySelector('dialog.keys').open", value=True)
        keys.press("Escape")
        keys.press("j")
        keys.press("j")
        keys.press("k")
        assert tab.run(FOCUSED) == "How is rust treated?Wi"
        keys.press("Enter")
        tab.page.locator(".opened").wait_for()
        assert "With fungicide." in tab.run("document.querySelector('.opened').textContent")
        assert tab.run("document.querySelectorAll('.passage').length") > 2
        tab.page.select_option("#tool-judge", "0")
        tab.page.select_option("#tool-result", "low")
        tab.until(SHOWN, "1 of 4 questions")
        assert "judge=0" in tab.run("location.search")
        tab.page.locator("#right").scroll_into_view_if_needed()
        assert tab.page.locator("#means svg.chart.wide").is_visible()
        tab.visit(f"{address}/workbench/runs/0/wheat#q-q4%20%26%205")
        tab.until("document.querySelector('details[open].question')?.id", "q-q4 & 5")
        assert tab.complaints == []
        assert tab.requests == [] or all(one.startswith(address) for one in tab.requests)


def test_a_run_that_goes_on_is_shown_as_it_goes(project):
    folder = project / "runs" / "now"
    folder.mkdir()
    told = msgspec.structs.replace(told_of_a_run(), updated=time.time() + 30)
    (folder / FILE).write_bytes(msgspec.json.encode(told))
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/now")
        assert "30 of 100 done" in tab.run("document.querySelector('[data-words]').textContent")
        (folder / FILE).write_bytes(msgspec.json.encode(msgspec.structs.replace(told, done=60)))
        tab.until("document.querySelector('[data-words]').textContent.includes('60 of 100 done')", value=True)
        write(folder, summary=full())
        (folder / FILE).unlink()
        tab.page.locator("#right").wait_for()  # the page has loaded itself anew
        assert "Is it right?" in tab.run("document.body.textContent")


def test_hostile_texts_run_nothing(project):
    name = EVIL.replace("/", "")
    folder = project / "runs" / name
    rows = [
        msgspec.structs.replace(row, rationale=EVIL, system=EVIL, judge=EVIL, model=EVIL)
        for row in JUDGEMENTS[:4]
    ]
    folder.mkdir()
    write_rows(folder / "judgements.jsonl", rows, Judgement)
    with (folder / "questions.jsonl").open("w") as file:
        file.write(json.dumps({"id": EVIL, "question": EVIL, "reference": EVIL, "tags": {EVIL: EVIL}}) + "\n")
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        tab.visit(f"{address}/workbench/")
        tab.page.locator("[data-row]").first.click()
        tab.until(SHOWN, "5 questions")
        for n_opened in range(5):
            tab.page.locator(".question > summary").nth(n_opened).click()
            # What is opened grows, and moves the rows below it: a click while it does can miss its row.
            tab.until("document.querySelectorAll('.opened').length", n_opened + 1)
        assert tab.run("document.querySelectorAll('main img').length") == 0
        assert tab.complaints == []


def test_axe_finds_nothing_to_complain_of(project):
    write(project / "runs" / "wheat", summary=full())
    write_runs_that_differ(project / "runs")
    places = (
        "",
        "runs/0/wheat#q-q1",
        "compare?a=0/a&b=0/b",
        "compare/answers?run=0/a&run=0/b",
        "runs/trends",
        "data",
        "judges",
        "judges/faithfulness",
        "cards",
        "monitor",
    )
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        for place in places:
            tab.visit(f"{address}/workbench/{place}")
            if "#q-" in place:
                tab.page.locator(".opened").wait_for()
            assert tab.findings() == [], place


def test_runs_are_ticked_and_their_flips_read_side_by_side(project):
    before, after = answers(["wheat"] * 3), answers(["rye"] * 3)
    for name, scores, said in (("a", [1, 0, 1], before), ("b", [1, 1, 0], after)):
        rows = judged(scores)
        summary = judgements_alone(name, summarise(rows), [])
        folder = write_run(project / "runs" / name, rows, said=said, asked=questions(3))
        (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    cells = "[...document.querySelectorAll('.sides td > p .chip')].map((one) => one.textContent)"
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/")
        for box in tab.page.locator("input[name=run]").all():
            box.check()
        tab.page.get_by_role("button", name="Compare answers").click()
        tab.page.wait_for_url("**/compare/answers?*")
        tab.page.get_by_label("only flips (2)").check()
        tab.page.get_by_role("button", name="Show").click()
        tab.until("document.querySelectorAll('.sides tbody tr').length", 2)
        assert {one.split()[0] for one in tab.run(cells)[:2]} == {"fails", "passes"}
        tab.page.locator(".sides td summary").first.click()
        assert tab.page.locator(".sides .whole").first.is_visible()
        tab.page.keyboard.press("j")
        assert tab.run(FOCUSED) == "What is 1?"
        tab.page.keyboard.press("Enter")
        tab.page.locator(".opened").wait_for()  # the row in its run
        tab.visit(f"{address}/workbench/runs/trends")
        tab.until("document.querySelectorAll('.canvas svg').length", 1)
        assert tab.complaints == []


def test_of_many_systems_a_row_shows_how_many_a_judge_finds_low(project):
    scores = {"a": [1, 0], "b": [0, 0], "c": [1, 1], "d": [1, 1], "e": [1, "timeout"]}
    rows = [row for name, own in scores.items() for row in judged(own, system=name)]
    rows += [row for name in scores for row in judged([1, 1], "token_f1", system=name)]
    write_run(project / "runs" / "many", rows, asked=questions(2))  # 5 systems and 2 judges: 10 scores
    of_row = "[...one.querySelectorAll('.chip')].map((chip) => chip.textContent)"
    chips = f"[...document.querySelectorAll('#list li')].map((one) => {of_row})"
    with served(load_settings(project / "ragstone.toml")) as address, opened_tab(loopback=True) as tab:
        tab.visit(f"{address}/workbench/runs/0/many")
        tab.until(SHOWN, "2 questions")
        assert tab.run(chips) == [
            ["containment: correctness 1 of 5 low", "token_f1: correctness 0 of 5 low"],
            ["containment: correctness 2 of 4 low, 1 not scored", "token_f1: correctness 0 of 5 low"],
        ]
        told = "document.querySelector('#list .chip').title"
        assert tab.run(told) == "a 1, b 0, c 1, d 1, e 1"
        tab.page.select_option("#tool-judge", "0")
        tab.until(chips, [["a · containment: correctness 1"], ["a · containment: correctness 0"]])
        assert tab.axe() == []
