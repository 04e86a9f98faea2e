"""Each tutorial is followed from an empty folder, in order, by somebody without a key.

The blocks run as those of other pages do (tests/test_docs.py), and besides:

- a file of docs/tutorials/data that the text links to is downloaded: copied into the folder;
- what a paragraph starts "in a second terminal" runs as a program of its own until the end of the page;
- ports that a page names are free ones of this machine, which the page's output does not show.
"""

import csv
import re
import shlex
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest
import yaml
from tests.support.tutorials import FOLDER, TUTORIALS, followed, run_ragstone
from tests.test_docs import ROOT, blocks_of

__all__ = ["followed"]

MOST_LINES = 200


@pytest.mark.docs
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_is_followed_from_an_empty_folder(page, followed):
    lesson = followed(page)
    assert lesson.n_commands >= 3
    assert lesson.n_checked >= 2


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_tutorial_is_one_path_of_at_most_200_lines(page):
    text = page.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[-2:] == ["What you have now", "Where next"]
    assert {block.kind for block in blocks_of(text)} <= {
        "sh", "python", "toml", "jsonl", "csv", "yaml", "text", "text checked",
    }  # fmt: skip


def test_first_report_takes_five_commands_at_most():
    text = (ROOT / "docs/tutorials/first-report.md").read_text(encoding="utf-8")
    lines = [line for block in blocks_of(text) if block.kind == "sh" for line in block.text.splitlines()]
    assert lines.index("ragstone run") < 5


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_what_a_tutorial_offers_for_download_is_there(page):
    for name in re.findall(r"\]\((data/[^)]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / name).is_file()


def test_no_file_for_download_is_left_over():
    linked = {
        name
        for page in TUTORIALS
        for name in re.findall(r"\]\(data/([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    there = {file.name for file in Path(TUTORIALS[0].parent / "data").iterdir()}
    assert there == linked


@pytest.mark.docs
def test_labels_to_download_are_of_the_answers_that_the_reader_draws(followed):
    folder = Path(followed(FOLDER / "trust-your-judge.md").folder)
    drawn, labels = (
        [row["question_id"] for row in csv.DictReader((folder / name).read_text("utf-8-sig").splitlines())]
        for name in ("to-label.csv", "labels.csv")
    )
    assert sorted(drawn) == sorted(labels)


@pytest.mark.docs
def test_workflow_of_the_gate_fails_the_harmful_change(followed, tmp_path, monkeypatch):
    folder = Path(followed(FOLDER / "gate-in-ci.md").folder)
    workflow = yaml.safe_load((folder / ".github/workflows/gate.yml").read_text(encoding="utf-8"))
    for branch in ("main", "pull"):
        checkouts = ignore_patterns("runs", "baseline", ".ragstone", "__pycache__")
        copytree(folder, tmp_path / branch, ignore=checkouts)
    harmless = next(
        block.text
        for block in blocks_of((FOLDER / "gate-in-ci.md").read_text(encoding="utf-8"))
        if "best_passages(question)" in block.text and "split" not in block.text and "re." not in block.text
    )
    (tmp_path / "main" / "farm_app.py").write_text(harmless, encoding="utf-8")
    codes = []
    for step in workflow["jobs"]["gate"]["steps"]:
        words = shlex.split(step.get("run", ""))
        if words[:1] == ["ragstone"]:
            monkeypatch.chdir(tmp_path / step["working-directory"])
            codes.append(run_ragstone(words[1:]))
    assert codes == [0, 0, 1]
    assert (tmp_path / "pull" / "comparison.md").is_file()
