"""The data sets of a project in the workbench."""

import re
from urllib.parse import urlencode

from tests.support.golden import sentence_in
from tests.support.judged_runs import judged, questions, write_run
from tests.support.served_project import client, project
from tests.support.tiny_run import QUESTIONS

from ragstone.kernel.records import Answer, Evidence, Question
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


def many(n=120):
    return [
        Question(
            id=f"q{at}",
            question=f"How tall is plant {at}?" if at != 70 else "how tall is plant 3?",
            reference=f"{at} cm",
            kind="true_false" if at % 10 == 0 else "open",
            lang="de" if at % 2 else "en",
            tags={"crop": "maize" if at < 30 else "rye"},
            evidence=[Evidence(document_id="d1", start=0, end=3)] if at < 5 else None,
            answerable=False if at == 7 else None,
        )
        for at in range(n)
    ]


def page_of(client, query=""):
    listed = client.get("/workbench/data").text
    address = listed.split('href="/workbench/data/')[1].split('"')[0]
    page = client.get(f"/workbench/data/{address}{query}")
    assert page.status_code == 200
    return page.text


def ids(page):
    return re.findall(r"id <bdi>(q\d+)</bdi>", page)


def test_a_set_is_paged_searched_and_filtered(project, client, says):
    write_rows(project / "questions.jsonl", many(), Question)
    assert ids(page_of(client)) == [f"q{at}" for at in range(50)]
    assert ids(page_of(client, "?at=3")) == [f"q{at}" for at in range(100, 120)]
    assert ids(page_of(client, "?at=99")) == [f"q{at}" for at in range(100, 120)]
    assert ids(page_of(client, "?at=-1"))[0] == "q0"
    assert ids(page_of(client, "?text=PLANT+77")) == ["q77"]
    for where, expected in {
        "crop = maize and lang = de": [f"q{at}" for at in range(1, 30, 2)],
        "tags.crop = maize and kind = true_false": ["q0", "q10", "q20"],
        "evidence": [f"q{at}" for at in range(5)],
        "documents = d1 and not repeats": [f"q{at}" for at in range(5)],
        "repeats": ["q70"],
        "answerable = false": ["q7"],
        "reference = '119 cm'": ["q119"],
        "question_id in (q3, q4)": ["q3", "q4"],
        "review = accepted": [],
    }.items():
        assert ids(page_of(client, f"?{urlencode({'where': where})}")) == expected, where
    page = page_of(client, f"?{urlencode({'where': 'lang = en', 'at': 2})}")
    assert ids(page)[-1] == "q118"
    assert "where=lang+%3D+en" in page  # the pager keeps the filter
    assert "repeats <bdi>q3</bdi>" in page_of(client, "?where=repeats")
    says(sentence_in(page, "1 repeats an"))


def test_a_filter_that_cannot_be_read_says_where_and_lists_everything(project, client, says):
    write_rows(project / "questions.jsonl", many(), Question)
    page = page_of(client, "?where=crp+%3D+maize")
    says(sentence_in(page, "The filter, at"))
    assert len(ids(page)) == 50
    assert 'aria-invalid="true"' in page
    assert "No question matches" in page_of(client, "?text=nothing+like+it")


def test_a_question_shows_its_review_and_leads_to_it(project, client):
    write_rows(project / "questions.jsonl", many(3), Question)
    listed = client.get("/workbench/review").text
    review = listed.split('href="/workbench/review/')[1].split('"')[0]
    decision = {"id": "d1-of-a-page", "question_id": "q1", "decision": "accept", "stands": ""}
    sent = client.post(f"/workbench/review/{review}/decide", json=decision)
    assert sent.status_code == 201, sent.text
    page = page_of(client)
    assert f'href="/workbench/review/{review}/question?question=q1"' in page
    assert ids(page_of(client, "?where=review+%3D+accepted")) == ["q1"]
    assert ids(page_of(client, "?where=review+%3D+undecided")) == ["q0", "q2"]


def test_a_question_leads_to_the_runs_that_answered_it_alone(project, client):
    asked = many(4)
    write_rows(project / "questions.jsonl", asked, Question)
    shouted = Question(id="q1", question=f" {asked[1].question.upper()}")
    answers = [Answer(question_id="q1", system="s", answer="1 cm")]
    run = write_run(project / "runs" / "part", judged([1]), asked=[shouted])
    write_rows(run / "answers.jsonl", answers, Answer, force=True)
    other = write_run(project / "runs" / "other", judged([1]), asked=[Question(id="q1", question="Another?")])
    write_rows(other / "answers.jsonl", answers, Answer, force=True)
    page = page_of(client)
    assert page.count("Answered in") == 1  # the same id with other words is another question
    assert 'href="/workbench/runs/0/part/row?question=q1"' in page
    assert "runs/0/other/row" not in page


def test_a_set_without_a_certificate_says_so(project, client, says):
    write_rows(project / "questions.jsonl", many(2), Question)
    says(sentence_in(page_of(client), "no certificate"))
