"""The page of the matrix: cells of runs and of a bench, and the rows that they lead to."""

import json
import re

import msgspec
import pytest
from tests.features.bench.answerers.test_words import bench
from tests.support.golden import sentence_in
from tests.support.judged_runs import judged
from tests.workbench.test_run_table import made

from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.tables import write_rows

MATRIX = "/workbench/runs/matrix"


@pytest.fixture
def four(project):
    """Two retrievers with two k, 0.25 to 1.00 right."""
    n_right = iter((1, 2, 3, 4))
    for retriever in ("bm25", "dense"):
        for k in (5, 10):
            n = next(n_right)
            scores = [1] * n + [0] * (4 - n)
            made(project, f"{retriever}-{k}", judged(scores), retriever=retriever, k=k)


def cells(page: str) -> list[list[str]]:
    rows = re.findall(r"<tr><th scope=\"row\".*?</tr>", page, re.DOTALL)
    return [re.findall(r">(\d\.\d\d)<", row) for row in rows]


def links(page: str) -> list[str]:
    return re.findall(r"<td[^>]* class=\"h\d\".*?href=\"([^\"]+)\"", page)


def test_runs_are_cells_that_lead_to_their_rows(four, client):
    page = client.get(MATRIX).text
    assert cells(page) == [["0.25", "0.50"], ["0.75", "1.00"]]
    assert links(page)[0] == "/workbench/runs/0/bm25-5#questions"
    assert all(client.get(link).status_code == 200 for link in links(page))


def test_axes_and_runs_are_chosen(four, client):
    page = client.get(f"{MATRIX}?down=[retrieve] k&across=[retrieve] retriever").text
    assert cells(page) == [["0.25", "0.75"], ["0.50", "1.00"]]
    assert cells(client.get(f"{MATRIX}?text=dense").text) == [["0.75"], ["1.00"]]
    assert cells(client.get(f"{MATRIX}?run=0/dense-5&run=0/bm25-5").text) == [["0.25"], ["0.75"]]


def test_nothing_to_lay_out_is_told(project, client, says):
    says(sentence_in(client.get(MATRIX).text, "No run here"))
    made(project, "one", judged([1, 0]))
    says(sentence_in(client.get(MATRIX).text, "1 mean"))
    assert client.get(f"{MATRIX}?metric=absent|x").status_code == 422


def test_a_system_with_quotes_leads_to_its_own_rows(project, client):
    made(project, "two", [*judged([1, 0], system="a 'b\" c"), *judged([1, 1], system="c")])
    page = client.get(MATRIX).text
    query = re.search(r"\?(where=[^#]+)#", page)[1]
    assert client.get(f"/workbench/runs/0/two/rows?{query}").json()["n"] == 2


@pytest.fixture
def benched(project):
    """A finished bench of answerers whose cells have their files."""
    folder = project / "runs" / "grid"
    folder.mkdir(parents=True)
    summary = bench()
    write_rows(folder / "questions.jsonl", [Question(id="q0", question="How much seed?")], Question)
    standings = []
    for number, standing in enumerate(summary.board.standings, 1):
        name = standing.cell.name
        file = f"judgements-{number:02}-cell.jsonl"
        write_rows(folder / file, judged([1], system=name), Judgement)
        write_rows(
            folder / file.replace("judgements", "answers"),
            [Answer(question_id="q0", system=name, answer=f"By {name}")],
            Answer,
        )
        standings.append(msgspec.structs.replace(standing, file=file))
    board = msgspec.structs.replace(summary.board, standings=standings)
    summary = msgspec.structs.replace(summary, board=board)
    (folder / "bench.json").write_bytes(msgspec.json.encode(summary))
    return folder


def test_cells_of_a_bench_lead_to_their_rows(benched, client):
    page = client.get(f"{MATRIX}?run=0/grid").text
    assert "/workbench/runs/0/grid/cells/1" in page
    assert MATRIX in client.get("/workbench/runs/0/grid").text
    shown = client.get("/workbench/runs/0/grid/cells/1")
    assert shown.status_code == 200
    rows = client.get(f"{str(shown.url).partition('#')[0]}/rows").json()
    assert [(line["question"], line["cells"]) for line in rows["lines"]] == [("How much seed?", [1.0])]
    # It is a part of the bench, and no run of its own.
    assert "cells" not in client.get("/workbench/").text
    assert client.get("/workbench/").text.count("data-row") == 1


def test_a_cell_that_is_gone_and_one_that_leads_elsewhere_are_refused(benched, client):
    assert client.get("/workbench/runs/0/grid/cells/99").status_code == 404
    (benched / "judgements-01-cell.jsonl").unlink()
    wrong = client.get("/workbench/runs/0/grid/cells/1")
    assert wrong.status_code == 422
    content = (benched / "bench.json").read_text()
    (benched / "bench.json").write_text(content.replace("judgements-02-cell", "../../../etc/passwd"))
    assert client.get("/workbench/runs/0/grid/cells/2").status_code == 422


def test_a_bench_and_runs_are_not_mixed(benched, four, client):
    assert client.get(f"{MATRIX}?run=0/grid&run=0/bm25-5").status_code == 422


def test_runs_of_chosen_answers_are_in_no_matrix_and_no_trend_and_marked_in_the_list(
    four, project, client, says
):
    file = project / "runs" / "bm25-5" / "summary.json"
    held = json.loads(file.read_text())
    file.write_text(json.dumps(held | {"chosen": {"of": "all", "where": "answer ~ <b>"}}))
    page = client.get(MATRIX).text
    assert cells(page) == [["0.50"], ["0.75", "1.00"]]
    for path in (MATRIX, "/workbench/runs/trends"):
        page = client.get(path).text
        says(sentence_in(page, "A run that"))
        alone = client.get(f"{path}?run=0/bm25-5").text
        assert "left out" in alone
        assert "0.25" not in alone
        assert "left out" not in client.get(f"{path}?run=0/bm25-10&run=0/dense-5").text
    assert "answer ~ &lt;b&gt;" in client.get("/workbench/").text
