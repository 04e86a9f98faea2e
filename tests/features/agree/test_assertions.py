"""Assertions have report cards, in the terminal, on the page of a run and in the workbench."""

import json
from pathlib import Path

import pytest
from tests.support.command import ragstone
from tests.support.workbench import create_workbench, opened

from ragstone.kernel.config import load_settings

JUDGE = 'name = "{}"\nversion = 1\nkind = "assertion"\nsource = "own"\n'
FILES = {
    "brief.toml": JUDGE.format("brief") + 'check = "max_words"\nexpect = 3\nmetric = "tone"\n',
    "enough.toml": JUDGE.format("enough")
    + 'check = "threshold"\nexpect = 0.5\nmembers = [{ judge = "containment" }]\n',
}
# answer, reference, then what people say of: it cites, it is right, its tone is good
ROWS = [
    ("Oats [1].", "Oats", 1, 1, 1),
    ("Rye [1] and much else that nobody asked.", "Rye", 1, 1, 0),
    ("Barley.", "Barley", 0, 1, 1),
    ("Maize [2].", "Wheat", 0, 0, 1),
    ("Rice [1].", "Wheat", 0, 0, 0),
]
METRICS = ("cites_sources", "correctness", "tone")


@pytest.fixture
def run(project):
    """A run of the five answers by an assertion that ships, one in a file, and one with a threshold."""
    for name, text in FILES.items():
        Path(name).write_text(text)
    with Path("sheet.jsonl").open("w") as sheet, Path("l.jsonl").open("w") as labels:
        for n, (answer, reference, *grades) in enumerate(ROWS):
            row = {"question_id": f"q{n}", "question": f"What {n}?", "answer": answer, "contexts": ["Oats."]}
            sheet.write(json.dumps({**row, "reference": reference, "system": "s"}) + "\n")
            for metric, grade in zip(METRICS, grades, strict=True):
                label = {"question_id": f"q{n}", "system": "s", "metric": metric, "score": grade}
                labels.write(json.dumps(label) + "\n")
    Path("ragstone.toml").write_text(
        '[run]\nname = "five"\n[questions]\npath = "sheet.jsonl"\n[answer]\nsystem = "s"\n'
        '[systems]\ns = { kind = "sheet", path = "sheet.jsonl" }\n[agree]\nlabels = "l.jsonl"\n'
        '[judge]\njudges = ["cites_sources", "brief.toml", "enough.toml"]\n'
    )
    ran = ragstone("run", "--all")
    assert ran.code == 0, ran.err
    return ran


# cites_sources says 1 1 0 0 1 and people 1 1 0 0 0: 4 of 5 agree. brief (at most 3 words: "Oats 1" has two,
# the second answer eight) says 1 0 1 1 1 and people 1 0 1 1 0: 4 of 5. enough says 1 1 1 0 0, as people do.
AGREED = {"cites_sources": 0.8, "brief": 0.8, "enough": 1.0}


def test_agree_shows_a_card_for_each_with_the_agreement_that_is_counted_by_hand(run):
    cards = json.loads(ragstone("agree", "runs/five", "l.jsonl", "--json").out)
    assert {card["judge"]: card["agreement"]["exact agreement"]["value"] for card in cards} == AGREED
    assert [card["metric"] for card in cards] == ["cites_sources", "tone", "correctness"]


@pytest.mark.long
def test_the_run_its_page_and_the_workbench_show_them_too(run, says):
    page = Path("runs/five/report.html").read_text()
    with opened(create_workbench(load_settings("ragstone.toml"))) as client:
        shown = client.get("/workbench/runs/0/five").text
    for place in (" ".join(run.out.split()), page, shown):
        assert "brief" in place
        assert "5 labels" in place or "5 labelled" in place
    lines = " ".join(run.out.split())
    for begins in ("cites_sources, 5 labels", "enough: correctness, 5"):
        start = lines.index(begins)
        says(lines[start : lines.index("; baselines:", start)])
