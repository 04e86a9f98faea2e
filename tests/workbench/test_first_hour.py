"""From a file of answers to the judge's report card, by nothing but the next steps that are shown."""

import json
import re
from pathlib import Path

import pytest
from tests.support.browser import opened_tab
from tests.support.command import ragstone
from tests.support.served_workbench import served

from ragstone.workbench.serving import project_at

pytestmark = pytest.mark.browser

N = 12
SENT = """
Object.entries(localStorage).every(([key, kept]) => !key.startsWith("ragstone-outbox") || kept === "[]")
"""
SHEET = [
    {
        "question": f"What is {n} plus {n}?",
        "reference": str(2 * n),
        "answer": f"It is {2 * n if n % 3 else 'unknown'}.",
    }
    for n in range(1, N + 1)
]


@pytest.mark.parametrize(
    ("output", "name", "steps"),
    [
        ([], "answers", r"^Next: (ragstone report \S+) .*; (ragstone serve)"),
        (["-o", "judged.jsonl"], "judged", r"^Next: (ragstone report \S+) .*; (ragstone serve \S+ \S+) "),
    ],
)
def test_judge_report_serve_label_card_without_a_dead_end(tmp_path, monkeypatch, output, name, steps):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SHEET))
    judged = ragstone("judge", "answers.jsonl", "--judge", "containment", *output)
    step = re.search(steps, judged.err, re.MULTILINE)
    assert step, judged.err
    assert ragstone(*step[1].split()[1:]).code == 0
    (tmp_path / "ragstone.toml").write_text('[workbench]\nannotator = "ann"\n')
    project = project_at([Path(file) for file in step[2].split()[2:]])
    with opened_tab(loopback=True) as tab, served(project.settings) as address:
        page = tab.page
        tab.visit(f"{address}/workbench/")
        page.click(f"a:has-text('{name}')")
        assert "containment" in page.inner_text("main")
        page.click("a:has-text('Label answers')")
        page.fill("input[name=n]", "10")
        page.click("button:has-text('Make the queue')")
        page.wait_for_url("**/progress")
        page.click("a.main:has-text('Label')")
        for _ in range(10):
            tab.until("document.getElementById('screen').matches('[hidden], [aria-busy]')", False)
            number = int(re.search(r"What is (\d+)", page.inner_text("#question"))[1])
            page.keyboard.press("1" if number % 3 else "0")
        page.wait_for_selector("#end:not([hidden])")
        tab.until(SENT, True)
        page.click("#end a:has-text('See the report card')")
        page.wait_for_url("**/progress#card-1")
        told = page.inner_text("main")
        assert "10 of 10 answers done" in told, told
        assert "How far the judge agrees with people" in told
        assert "exact agreement\t1.000" in told
        assert tab.complaints == []
