"""Answers of several runs side by side: what is a flip, what is found, what a page reads."""

import re
from urllib.parse import urlencode

import pytest
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, write_run
from tests.support.served_project import made_project, served

from ragstone.kernel.records import Answer
from ragstone.kernel.serve.rows.indexes import MOST_OPEN
from ragstone.workbench.side_by_side import LONGEST_TEXT, MOST_COLUMNS, SIDE_ROWS
from ragstone.workbench.side_pages import MOST_RUNS

EVIL = "<script>alert('x')</script>"


def side(client, *runs: str, **query: object) -> str:
    pairs = [*(("run", f"0/{run}") for run in runs), *query.items()]
    answered = client.get(f"/workbench/compare/answers?{urlencode(pairs)}")
    assert answered.status_code == 200
    return answered.text


def asked(page: str) -> list[str]:
    """Return the ids of the questions on a page."""
    return re.findall(r"row\?question=([^\"]+)\" data-row", page)


def said(page: str, row: int) -> list[str]:
    """Return what the cells of a row show first: the score, or why there is none."""
    cells = re.split(r"<td>", page.split("<tr")[2 + row])[1:]
    return [" ".join(re.sub(r"<[^>]+>", " ", cell.split("</p>")[0]).split()) for cell in cells]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """A client of a project with two runs, for tests that only read them."""
    project = made_project(tmp_path_factory.mktemp("read"))
    #          q0  q1 q2         q3 q4
    # before:  1   0  0.5        1  0
    # after:   1   1  0          0  timeout
    before, after = [1, 0, 0.5, 1, 0], [1, 1, 0, 0, "timeout"]
    texts = ["wheat", "maize", "rye", "oats", "barley"]
    write_run(project / "runs" / "before", judged(before), said=answers(texts), asked=questions(5))
    write_run(project / "runs" / "after", judged(after), said=answers(texts[::-1]), asked=questions(5))
    with served(project) as client:
        yield client


def test_a_flip_passes_in_one_column_and_fails_in_another(reader, says):
    page = side(reader, "before", "after")
    # q1: fails, passes. q2: 0.5 is the middle of 0 to 1 and passes, 0 fails. q3: passes, fails.
    # q4: fails, timed out: no second verdict, so no flip.
    assert asked(page) == ["q0", "q1", "q2", "q3", "q4"]
    assert asked(side(reader, "before", "after", flips="true")) == ["q1", "q2", "q3"]
    assert "only flips (3)" in page
    says(sentence_in(page, "3 of 5 pass"))
    says(sentence_in(page, "2 of 4 pass"))
    assert said(page, 4) == ["fails 0", "timed out"]
    assert said(page, 2) == ["passes 0.5", "fails 0"]


def test_what_should_not_be_fails_where_its_score_is_high(project, client):
    for name, scores in (("before", [0, 1, 0.5]), ("after", [1, 1, 0])):
        rows = judged(scores, "toxicity", metric="toxicity")
        write_run(project / "runs" / name, rows, said=answers(["a", "b", "c"]), asked=questions(3))
    page = side(client, "before", "after")
    assert [said(page, row) for row in range(3)] == [
        ["passes 0", "fails 1"],
        ["fails 1", "fails 1"],
        ["passes 0.5", "passes 0"],
    ]
    assert asked(side(client, "before", "after", flips="true")) == ["q0"]


def test_systems_of_one_run_are_columns_and_can_be_chosen(project, client, says):
    rows = [*judged([1, 0], system="bm25"), *judged([0, 0], system="dense")]
    write_run(project / "runs" / "grid", rows)
    page = side(client, "grid")
    assert page.count('<th scope="col">') == 3
    assert asked(side(client, "grid", flips="true")) == ["q0"]
    assert side(client, "grid", system="DEN").count('<th scope="col">') == 2
    says(sentence_in(side(client, "grid", system="qdrant"), "No system in"))


def test_a_judge_asked_through_two_models_is_two_columns(project, client):
    rows = [*judged([1, 0], "grader", model="a/one"), *judged([1, 1], "grader", model="b/two")]
    write_run(project / "runs" / "judges", rows)
    page = side(client, "judges", flips="true")
    assert "judged by a/one" in page
    assert "judged by b/two" in page
    assert asked(page) == ["q1"]


def test_the_judge_that_counts_is_chosen_and_the_one_that_most_runs_have_is_first(project, client, says):
    write_run(project / "runs" / "a", [*judged([1, 1], "token_f1"), *judged([1, 1])])
    write_run(project / "runs" / "b", judged([0, 1]))
    assert asked(side(client, "a", "b", flips="true")) == ["q0"]  # containment, which both have
    page = side(client, "a", "b", metric="token_f1|correctness")
    says(sentence_in(page, "not judged"))
    assert said(page, 0) == ["passes 1", "no judgement"]
    assert "only flips (0)" in page


def test_a_judge_that_no_run_has_is_told(reader, says):
    page = side(reader, "before", "after", metric="grace|x")
    says(sentence_in(page, "None of these"))
    assert "containment|correctness" in page


def test_text_is_found_in_the_answers_of_any_run(reader, says):
    # barley answers q4 in `before`, q0 in `after`
    assert asked(side(reader, "before", "after", text="BARLEY")) == ["q0", "q4"]
    assert asked(side(reader, "before", "after", text="what is 3")) == ["q3"]
    page = side(reader, "before", "after", text="quinoa")
    assert "No question matches" in page
    says(sentence_in(page, "0 of 5 questions"))


def test_questions_of_one_run_alone_and_other_wordings_are_told(project, client, says):
    write_run(project / "runs" / "a", judged([1]), asked=questions(1), said=answers(["x"]))
    other = [*questions(1), *questions(2)[1:]]
    other[0] = type(other[0])(id="q0", question="And what is nought?")
    write_run(project / "runs" / "b", judged([1, 1]), asked=other, said=answers(["x", "y"]))
    page = side(client, "a", "b")
    assert asked(page) == ["q0", "q1"]
    says(sentence_in(page, "Asked differently"))
    says(sentence_in(page, "And what is nought"))
    assert page.count("not asked here") == 1
    assert 'href="/workbench/runs/0/b/row?question=q1" data-row' in page  # the run that has it


def test_long_failed_and_absent_answers(project, client, says):
    long = "word " * LONGEST_TEXT
    texts = [
        Answer(question_id="q0", system="mine", answer=long),
        Answer(question_id="q1", system="mine", answer="", error="HTTP 503"),
        Answer(question_id="q2", system="mine", answer=""),
    ]
    write_run(project / "runs" / "a", judged([1, "app_error", 0, 1]), said=texts)
    page = side(client, "a")
    assert "has the rest" in page
    assert len(page) < 2 * LONGEST_TEXT + 12_000
    says(sentence_in(page, "No answer:"))
    assert "an empty answer" in page
    says(sentence_in(page, "no answer in"))


def test_pages_keep_what_was_chosen(project, client):
    n = SIDE_ROWS + 1
    for name, score in (("a", 0), ("b, c", 1)):
        write_run(project / "runs" / name, judged([score] * n))
    page = side(client, "a", "b, c", flips="true")
    assert len(asked(page)) == SIDE_ROWS
    (more,) = re.findall(r'rel="next" href="([^"]+)"', page)
    assert asked(client.get(f"/workbench/compare/answers{more.replace('&amp;', '&')}").text) == [f"q{n - 1}"]
    assert asked(side(client, "a", "b, c", at=99)) == [f"q{n - 1}"]


@pytest.mark.parametrize("query", ["at=0", "at=x", "flips=maybe"])
def test_a_filter_that_is_none_is_refused(reader, query):
    answered = reader.get(f"/workbench/compare/answers?run=0/before&{query}")
    assert answered.status_code == 400
    assert "is not valid" in answered.text


def test_a_run_that_is_gone_is_told(reader, says):
    answered = reader.get("/workbench/compare/answers?run=0/gone")
    assert answered.status_code == 404
    says(sentence_in(answered.text, "There is no"))


def test_too_many_runs_or_systems_are_told(project, client, says):
    for at in range(MOST_RUNS + 1):
        write_run(project / "runs" / f"r{at}", judged([1]))
    says(sentence_in(side(client, *(f"r{at}" for at in range(MOST_RUNS + 1))), "fit side"))
    grid = [row for at in range(MOST_COLUMNS + 2) for row in judged([1], system=f"s{at}")]
    write_run(project / "runs" / "grid", grid)
    says(sentence_in(side(client, "grid"), "2 further columns"))


def test_texts_are_text_and_without_runs_there_is_a_choice(project, client, says):
    says(sentence_in(side(client), "No run here"))
    rows = judged({EVIL: 1}, EVIL, system=EVIL, metric=EVIL, model=EVIL)
    write_run(project / "runs" / "evil", rows, said=[Answer(question_id=EVIL, system=EVIL, answer=EVIL)])
    page = side(client, "evil", text="script")
    assert EVIL not in page
    assert "&lt;script&gt;" in page
    assert 'type="checkbox" name="run" value="0/evil"' in side(client)


@pytest.mark.long
def test_an_index_in_use_stays_open_when_others_are_opened(project, state):
    for at in range(MOST_OPEN + 2):
        write_run(project / "runs" / f"r{at}", judged([1]))
    folders = [project / "runs" / f"r{at}" for at in range(MOST_OPEN + 2)]
    with state.indexes.of(folders[0]) as first:
        for folder in folders[1:]:
            with state.indexes.of(folder) as index:
                assert index.con.execute("SELECT count(*) FROM lines").fetchone() == (1,)
        assert first.con.execute("SELECT count(*) FROM lines").fetchone() == (1,)
    state.close()
