"""Files of judgements and of answers, served as runs."""

import json

import pytest
from tests.support.workbench import create_workbench, opened

from ragstone.features.judge.judging import judge
from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement
from ragstone.kernel.tables import write_rows
from ragstone.workbench.bare_files import link_files, links_in
from ragstone.workbench.serving import project_at

SHEET = [
    {"question": "How far is the moon?", "reference": "384,400 km", "answer": "It is 384,400 km away."},
    {"question": "How hot is the sun?", "reference": "5,500 °C", "answer": "Nobody knows."},
]


@pytest.fixture
def sheet(project, monkeypatch):
    monkeypatch.chdir(project)
    path = project / "answers.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in SHEET))
    return path


@pytest.fixture
def judgements(sheet):
    path = sheet.with_name("judged.jsonl")
    write_rows(path, judge(SHEET, judges=["containment"]), Judgement)
    return path


def client_of(project):
    return opened(create_workbench(load_settings(project / "ragstone.toml")))


def test_judgements_are_listed_and_opened_with_numbers_and_rows(project, judgements):
    project_at([judgements], project / "ragstone.toml")
    with client_of(project) as client:
        listed = client.get("/workbench/").text
        assert "/workbench/runs/1/judged" in listed
        assert '<span class="of">judgements</span>' in listed
        shown = client.get("/workbench/runs/1/judged").text
        assert "containment" in shown
        assert "0.50" in shown  # one of two answers holds its reference
        assert str(judgements) in shown  # where it stands, not where the link does
        rows = client.get("/workbench/runs/1/judged/rows").json()
        assert (rows["n"], [line["cells"] for line in rows["lines"]]) == (2, [[1.0], [0.0]])
        report = client.get("/workbench/runs/1/judged/report.html")
        assert (report.status_code, "containment" in report.text) == (200, True)


def test_a_sheet_beside_judgements_gives_them_their_texts_and_can_be_labelled(project, sheet, judgements):
    project_at([judgements, sheet], project / "ragstone.toml")
    with client_of(project) as client:
        shown = client.get("/workbench/runs/1/judged").text
        assert "/workbench/label/new?run=1/judged" in shown
        (first, second) = client.get("/workbench/runs/1/judged/rows").json()["lines"]
        assert (first["question"], second["question"]) == tuple(row["question"] for row in SHEET)
        assert "Nobody knows." in client.get("/workbench/runs/1/judged/report.html").text
        assert client.get("/workbench/label/new?run=1/judged").status_code == 200


def test_a_sheet_alone_has_its_rows_and_no_numbers(project, sheet):
    project_at([sheet], project / "ragstone.toml")
    with client_of(project) as client:
        assert client.get("/workbench/runs/1/answers").status_code == 200
        assert client.get("/workbench/runs/1/answers/rows").json()["n"] == 2


def test_two_files_are_compared_in_the_workbench(project, judgements, sheet):
    better = judgements.with_name("better.csv")
    answered = [{**row, "answer": row["reference"]} for row in SHEET]
    write_rows(better, judge(answered, judges=["containment"]), Judgement)
    project_at([judgements, better], project / "ragstone.toml")
    with client_of(project) as client:
        told = client.get("/workbench/compare?a=1/judged&b=1/better").text
        assert "cannot tell" in told.casefold()
        assert "containment" in told


def test_a_file_is_the_same_run_again_and_another_of_its_name_is_another(project, judgements):
    settings = load_settings(project / "ragstone.toml")
    (first,) = link_files(settings, [judgements])
    other = project / "elsewhere" / judgements.name
    other.parent.mkdir()
    other.write_bytes(judgements.read_bytes())
    assert [folder.name for folder in link_files(settings, [other, judgements])] == ["judged-2", "judged"]
    assert link_files(settings, [judgements]) == [first]
    assert first.parent == links_in(settings)
    judgements.unlink()
    with client_of(project) as client:  # a link to nothing is no row, and no page fails for it
        assert client.get("/workbench/").status_code == 200
        assert client.get("/workbench/runs/1/judged").status_code == 200


def test_what_cannot_be_served_is_told_in_a_sentence(project, sheet, judgements):
    other = sheet.with_name("labels.csv")
    other.write_text("question_id,rating\nq1,1\n")
    empty = sheet.with_name("empty.jsonl")
    empty.touch()
    second = sheet.with_name("second.jsonl")
    second.write_bytes(sheet.read_bytes())
    for paths, words in (
        ([other], "neither judgements nor answers"),
        ([empty], "empty.jsonl: the file has neither"),
        ([judgements, sheet, second], "a second answer sheet"),
        ([judgements, project], "name one folder alone"),
        ([sheet.with_name("gone.jsonl")], "no such folder or file"),
    ):
        with pytest.raises(DataError, match=words):
            project_at(paths)
    assert not links_in(load_settings(project / "ragstone.toml")).exists()
