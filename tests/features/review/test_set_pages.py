"""The data sets of a project in the workbench."""

from tests.support.golden import sentence_in
from tests.support.judged_runs import judged, questions, write_run
from tests.support.served_project import client, project
from tests.support.tiny_run import QUESTIONS

from ragstone.kernel.records import Question
from ragstone.kernel.tables import write_rows

__all__ = ["client", "project"]  # its fixtures

EVIL = "<script>alert('x')</script>"


def test_data_sets_are_those_of_the_project_and_of_runs_each_once(project, client, says):
    write_rows(project / "mine.jsonl", QUESTIONS, Question)
    (project / "answers.jsonl").write_text('{"id": "1", "question": "?", "answer": "!"}\n')
    (project / "sub").mkdir()
    write_rows(project / "sub" / "theirs.jsonl", questions(3), Question)
    write_run(project / "runs" / "a", judged([1]), asked=QUESTIONS)
    page = client.get("/workbench/data").text
    says(sentence_in(page, "2 files of"))
    assert page.count('<h2 dir="auto">') == 2
    assert "mine.jsonl" in page
    assert "sub/theirs.jsonl" in page
    says(sentence_in(page, "4 questions,"))
    assert ">a</a>" in page  # the run that holds a copy
    assert "answers.jsonl" not in page


def test_a_data_set_shows_its_first_questions(project, client):
    write_rows(project / "mine.jsonl", [Question(id=EVIL, question=EVIL, tags={EVIL: EVIL})], Question)
    address = client.get("/workbench/data").text.split('href="/workbench/data/')[1].split('"')[0]
    page = client.get(f"/workbench/data/{address}").text
    assert "&lt;script&gt;" in page
    assert EVIL not in page
    assert client.get("/workbench/data/000000000000").status_code == 404


def test_a_broken_set_says_what_is_wrong(project, client):
    (project / "mine.jsonl").write_text('{"id": "1", "question": "?"}\n{"id": 2}\n')
    page = client.get("/workbench/data").text
    assert "mine.jsonl:2:" in page
    assert "0 questions" not in page


def test_review_stands_below_data_sets(project, client):
    write_rows(project / "questions.jsonl", [Question(id="1", question="?")], Question)
    page = client.get("/workbench/review").text
    assert '<p class="crumbs"><a href="/workbench/data">Data sets</a></p>' in page
    assert '<a href="/workbench/data" aria-current="true">' in page
