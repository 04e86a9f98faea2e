"""The list of runs, and how one is found."""

import os
import re
from pathlib import Path

import msgspec
import pytest
from litestar.exceptions import NotFoundException
from tests.support.golden import sentence_in
from tests.support.judged_runs import judged, write_run
from tests.support.served_project import client, project, state
from tests.support.tiny_run import JUDGEMENTS, summary_of

from ragstone.kernel.serve.runs import free_name
from ragstone.workbench.run_list_pages import RUNS_A_PAGE

__all__ = ["client", "project", "state"]  # its fixtures

EVIL = "<script>alert('x')<\"&>"


def finished(folder: Path, name: str = "Wheat and maize") -> Path:
    """Write a run with a summary."""
    write_run(folder, JUDGEMENTS)
    summary = msgspec.structs.replace(summary_of(JUDGEMENTS), name=name)
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    return folder


def test_a_run_is_listed_with_its_counts_models_and_headline_mean(project, client, says):
    finished(project / "runs" / "wheat")
    page = client.get("/workbench/").text
    says(sentence_in(page, "4 answers ·"))
    assert "openai/<wbr>gpt-4o-mini" in page
    # correctness scored q1 as 1 and q2 as 0: 0.50 of 2 scored rows
    assert "<b>0.50</b>" in page
    assert re.search(r'<span class="of">2 scored, 1 not applicable, 1 \w', page)
    assert 'href="/workbench/runs/0/wheat"' in page


def test_the_newest_run_comes_first_and_others_can_be_chosen(project, state, client, says):
    for age, name in enumerate(("beta", "alpha", "gamma")):
        folder = finished(project / "runs" / name)
        for file in folder.iterdir():
            os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))
    assert [entry.name for entry in state.runs.all()] == ["beta", "alpha", "gamma"]
    page = client.get("/workbench/?order=name").text
    assert page.index(">alpha<") < page.index(">beta<") < page.index(">gamma<")
    page = client.get("/workbench/?text=GAM").text
    assert ">gamma<" in page
    assert ">alpha<" not in page
    says(sentence_in(page, "1 of 3 runs"))


def test_a_broken_run_says_what_is_wrong(project, state, says):
    folder = write_run(project / "runs" / "broken", JUDGEMENTS)
    (folder / "summary.json").write_text("{")
    (entry,) = state.runs.all()
    says(sentence_in(entry.wrong or "", "not a summary"))


def test_a_run_that_did_not_finish_says_how_to_go_on(project, state):
    folder = project / "runs" / "half"
    folder.mkdir()
    (folder / "answers.jsonl.partial").write_text("{}\n")
    (entry,) = state.runs.all()
    assert "Run it again" in (entry.wrong or "")


def test_a_folder_of_judgements_alone_is_a_run_and_another_folder_is_none(project, state):
    write_run(project / "runs" / "judged", judged([1, 0]))
    (project / "runs" / "notes").mkdir()
    (project / "runs" / "notes" / "todo.txt").write_text("buy milk")
    for name in ("questions.md", "summary.json", "manifest.json"):  # of another tool
        (project / "runs" / "notes" / name).write_text('{"total": {}}')
    (project / "runs" / "notes" / "answers").mkdir()
    (project / "runs" / ".hidden").mkdir()
    (entry,) = state.runs.all()
    assert (entry.name, entry.kind, entry.wrong) == ("judged", "judgements", None)


def test_a_changed_run_is_read_again(project, state):
    folder = finished(project / "runs" / "wheat")
    (before,) = state.runs.all()
    assert state.runs.all()[0] is before
    (folder / "summary.json").write_text("{")
    assert state.runs.all()[0].wrong


def test_names_and_texts_are_shown_as_text(project, client):
    finished(project / "runs" / EVIL.replace("/", ""))
    page = client.get("/workbench/", params={"text": "script"}).text
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


@pytest.mark.parametrize(
    "run_id",
    [
        "",
        "0",
        "0/",
        "0/..",
        "0/.",
        "0/../..",
        "1/wheat",
        "x/wheat",
        "0/gone",
        "-1/wheat",
        "0/a\\b",
        "٣/wheat",
        "0/" + "x" * 300,
    ],
)
def test_what_is_no_run_is_not_found(project, state, run_id):
    finished(project / "runs" / "wheat")
    with pytest.raises(NotFoundException):
        state.runs.find(run_id)
    assert state.runs.find("0/wheat") == project / "runs" / "wheat"


def test_a_long_list_has_pages(project, client, says):
    for at in range(RUNS_A_PAGE + 1):
        write_run(project / "runs" / f"run{at:03}", judged([1]))
    says(sentence_in(client.get("/workbench/").text, "Page 1 of 2"))
    assert client.get("/workbench/?at=2").text.count("data-row ") == 1


def test_an_empty_project_says_how_to_make_a_run(client):
    assert "Load an example" in client.get("/workbench/").text


def test_a_name_that_is_no_text_breaks_nothing(project, client):
    finished(project / "runs" / "wheat")
    (project / "runs" / os.fsdecode(b"bad-\xff")).mkdir()
    page = client.get("/workbench/")
    assert page.status_code == 200
    assert "rename it" in page.text
    assert ">wheat<" in page.text


def test_a_link_that_leads_nowhere_breaks_nothing(project, client):
    folder = finished(project / "runs" / "wheat")
    (folder / "gone.jsonl").symlink_to(folder / "nothing")
    assert "2 scored, " in client.get("/workbench/").text
    assert client.get("/workbench/runs/0/wheat").status_code == 200


def test_a_free_name_is_the_wanted_one_in_plain_signs_with_a_number_where_it_is_taken():
    taken = {"traces", "traces-2"}
    assert free_name("traces", taken.__contains__) == "traces-3"
    assert free_name("Räder 4.1/a_b", taken.__contains__) == "R-der-4-1-a_b"
    assert free_name("../..", taken.__contains__) == free_name("", taken.__contains__) == "chosen"
    assert len(free_name("x" * 300, taken.__contains__)) == 50
