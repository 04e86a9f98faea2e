"""A conversation in a browser: on the labelling page, on the run's page and in the report, as one thread."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.browser import Tab, opened_tab
from tests.support.command import ragstone
from tests.support.served_workbench import served

from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Answer, Context, Step, Turn
from ragstone.kernel.tables import write_rows

pytestmark = pytest.mark.browser

PHONE = {"width": 360, "height": 740}
HOSTILE = "<script>alert(1)</script>"
THREAD = Answer(
    question_id="c",
    answer="غدا.",
    turns=[
        Turn("system", "You help farmers."),
        Turn("user", f"Will it rain? {HOSTILE}"),
        Turn("assistant", "", tool_calls=[Step(tool="weather", arguments={"place": "Molo"}, result="rain")]),
        Turn("assistant", "Yes.", contexts=[Context(text="It rains in " + "Llanfair" * 20)]),
        Turn("user", "متى؟"),
        Turn("assistant", "غدا."),
    ],
)
TURNS = (
    "[...document.querySelectorAll('.turns > li')]"
    ".map((one) => `${one.value} ${one.innerText.replace(/\\n+/g, '\\n')}`)"
)
DIRECTIONS = (
    "[...document.querySelectorAll('.turns > li > .text')].map((one) => getComputedStyle(one).direction)"
)
MAKE = """
post("/workbench/label/new", {name: "first", run: "0/chats-turns", judge: "no_refusal|answered", by: "random",
  n: 2, annotators: "ann"})
"""
DIFFER = """
Promise.all([["ann", 0], ["bo", 1]].map(([annotator, score]) => post("/workbench/label/first/import", {
  annotator, file: "labels.jsonl", text: JSON.stringify({question_id: "c#4", system: "default", score})})))
"""


@pytest.fixture
def judged(tmp_path, monkeypatch):
    """A project with a run of a conversation's two replies."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragstone.toml").write_text('[workbench]\nannotator = "ann"\n')
    write_rows(tmp_path / "chats.jsonl", [THREAD], Answer)
    assert ragstone("judge", "chats.jsonl", "--judge", "no_refusal", "--each-turn").code == 0
    return tmp_path


@contextlib.contextmanager
def workbench_of(judged: Path) -> Iterator[tuple[str, Tab]]:
    """Give the address of a project's workbench, and a tab on a phone."""
    with (
        served(load_settings(judged / "ragstone.toml")) as address,
        opened_tab(loopback=True, viewport=PHONE) as tab,
    ):
        yield address, tab


def check_page(tab: Tab) -> None:
    tab.run("document.querySelectorAll('.thread details').forEach((one) => { one.open = true; })")
    assert tab.findings() == []
    assert tab.complaints == []


def test_the_labelling_page_shows_the_thread_with_the_judged_reply(judged):
    with (
        served(load_settings(judged / "ragstone.toml")) as address,
        opened_tab(loopback=True, viewport=PHONE) as tab,
    ):
        tab.visit(f"{address}/workbench/label")
        tab.run(MAKE)
        tab.visit(f"{address}/workbench/label/first")
        tab.until("document.getElementById('screen').matches('[hidden], [aria-busy]')", False)
        seen = {}
        for _ in range(2):
            turns = tab.run(TURNS)
            seen[len(turns)] = turns
            check_page(tab)
            tab.page.keyboard.press("1")
            tab.until("document.getElementById('screen').matches('[hidden], [aria-busy]')", False)
        assert seen[4][:3] == [
            "1 System\nYou help farmers.",
            f"2 User\nWill it rain? {HOSTILE}",
            "3 Assistant\nweather place: Molo\nrain",
        ]
        assert seen[4][3].startswith("4 Assistant judged reply\nYes.\nContexts given (1)")
        assert seen[6][5] == "6 Assistant judged reply\nغدا."
        tab.until(
            "JSON.parse(localStorage.getItem('ragstone-outbox:/workbench/label/first:ann') || '[]').length", 0
        )
    labels = (judged / "labels" / "first.jsonl").read_text()
    assert '"c#4"' in labels
    assert '"c#6"' in labels


def test_the_page_of_differences_shows_the_thread(judged):
    with (
        served(load_settings(judged / "ragstone.toml")) as address,
        opened_tab(loopback=True, viewport=PHONE) as tab,
    ):
        tab.visit(f"{address}/workbench/label")
        tab.run(MAKE)
        tab.run(DIFFER)
        tab.visit(f"{address}/workbench/label/first/adjudicate")
        turns = tab.run(TURNS)
        assert turns[1] == f"2 User\nWill it rain? {HOSTILE}"
        assert turns[3].startswith("4 Assistant judged reply\nYes.\nContexts given (1)")
        check_page(tab)
        tab.page.click(".difference [data-score='1']")
        tab.page.wait_for_selector(".difference .said:has-text('Settled: 1')")
        tab.visit(f"{address}/workbench/label/first/adjudicate")
        assert tab.run("document.querySelectorAll('.settled .turns > li').length") == 4


def test_the_report_and_the_page_of_the_run_show_it_too(judged):
    run = judged / "runs" / "chats-turns"
    assert ragstone("report", run).code == 0
    with opened_tab(viewport=PHONE) as tab:
        tab.open(run / "report.html", "#q-c%236")
        tab.until("document.querySelectorAll('.turns > li').length", 6)
        assert tab.run(TURNS)[4:] == ["5 User\nمتى؟", "6 Assistant judged reply\nغدا."]
        assert tab.run(DIRECTIONS)[-1] == "rtl"
        check_page(tab)
    with (
        served(load_settings(judged / "ragstone.toml")) as address,
        opened_tab(loopback=True, viewport=PHONE) as tab,
    ):
        tab.visit(f"{address}/workbench/runs/0/chats-turns#q-c%236")
        tab.until("document.querySelectorAll('.turns > li').length", 6)
        assert "6 Assistant judged reply\nغدا." in tab.run(TURNS)
        check_page(tab)


def test_of_a_long_conversation_the_last_turns_are_shown(judged):
    turns = [Turn(role, f"Turn {n}") for n in range(500) for role in ("user", "assistant")]
    write_rows(judged / "long.jsonl", [Answer(question_id="l", answer="Turn 499", turns=turns)], Answer)
    assert ragstone("judge", "long.jsonl", "--judge", "no_refusal").code == 0
    assert ragstone("report", "runs/long").code == 0
    with opened_tab() as tab:
        tab.open(judged / "runs" / "long" / "report.html", "#q-l")
        tab.until("document.querySelectorAll('.turns > li').length", 60)
        assert tab.run(TURNS)[-1] == "1000 Assistant\nTurn 499"
        assert "940 turns before are not shown." in tab.run("document.querySelector('.thread').innerText")
