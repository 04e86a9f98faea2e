"""`ragstone bench answerers`: as a user types it."""

import json

import pytest
from tests.support.answering_models import case_files, reading
from tests.support.command import ragstone
from tests.support.golden import sentence_in

SETTINGS = """
[documents]
paths = ["documents.jsonl"]
[questions]
path = "questions.jsonl"
[judge]
judges = ["containment", "context_overlap", "no_refusal"]
[bench.answerers]
models = ["openai/good", "openai/poor"]
conditions = ["gold", "none"]
"""


def write_grid(folder, fake, n=10):
    """Write n cases and settings with two models, one of which refuses whatever it is shown."""
    case_files(folder, n)
    (folder / "ragstone.toml").write_text(SETTINGS + fake.toml("openai/good") + fake.toml("openai/poor"))
    fake.script = reading(blind={"poor": set(range(n))})
    return folder


@pytest.fixture
def grid(folder, fake_openai):
    return write_grid(folder, fake_openai)


def test_bench_is_shown_and_its_report_named(grid, says):
    ran = ragstone("bench", "answerers", "--all")
    assert ran.code == 0, ran.err
    says("\n".join(ran.out.splitlines()[:6]))
    assert "runs/run-answerers/report.html" in ran.err
    assert (grid / "runs/run-answerers/report.html").is_file()
    assert "40 made" in ran.out
    again = ragstone("bench", "answerers").out
    says(next(line for line in again.splitlines() if line.startswith("Calls:")))


def test_bench_as_json_is_one_document(grid):
    ran = ragstone("bench", "answerers", "--json", "--limit", 4, "--seed", 3)
    found = json.loads(ran.out)
    assert found["board"]["n_questions"] == 4
    assert found["board"]["standings"][0]["cell"]["name"] == "good · gold"
    assert found["calls"]["made"] == 16


@pytest.mark.long
def test_deadline_that_cuts_everything_off_ends_with_four_and_a_page(grid, fake_openai, says):
    fake_openai.latency_s = 30
    ran = ragstone("bench", "answerers", "--deadline", "1s")
    assert ran.code == 4
    says("\n".join(line for line in ran.out.splitlines() if "score" in line and ": " in line))
    assert (grid / "runs/run-answerers/report.html").is_file()


def test_wrong_use_is_told_in_one_message(grid, says):
    def told(table):
        (grid / "ragstone.toml").write_text(SETTINGS.partition("[bench")[0] + table)
        ran = ragstone("bench", "answerers", "--all")
        assert (ran.code, ran.out) == (2, "")
        return ran.err

    says(told("[bench.answerers]\n"))
    says(told('[bench.answerers]\nconditions = ["golden"]\n'))
    says(told('[bench.answerers]\nmodel = "openai/good"\n'))
    says(told('[bench.answerers]\nsystems = ["mine"]\n'))
    assert "budget" in ragstone("bench", "answerers", "--budget", "much").err


def write_labels(folder, name="labels.jsonl", cells=("good · gold", "poor · gold"), n=10):
    """Write what people say of the first n answers of two cells: right and wrong."""
    rows = [
        {"question_id": question["id"], "system": cell, "score": int(cell == cells[0])}
        for question in map(json.loads, (folder / "questions.jsonl").read_text().splitlines()[:n])
        for cell in cells
    ]
    (folder / name).write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))


@pytest.mark.long
def test_labels_are_added_to_a_bench_that_is_done_and_nobody_is_asked_again(grid, fake_openai, says):
    ragstone("bench", "answerers")
    n_calls = fake_openai.n_requests
    write_labels(grid)
    ran = ragstone("bench", "answerers", "--labels", "labels.jsonl", "--all")
    assert ran.code == 0, ran.err
    assert fake_openai.n_requests == n_calls
    says(next(line for line in ran.out.splitlines() if line.startswith("gold:")))
    says(sentence_in(ran.out, "Places under gold"))
    found = json.loads(ragstone("bench", "answerers", "--labels", "labels.jsonl", "--json").out)
    assert found["board"]["labels"] == {
        "file": "labels.jsonl",
        "n": 20,
        "n_elsewhere": 0,
        "conditions": ["gold"],
    }
    assert found["board"]["comparisons"][0]["n_labelled"] == 10
    assert json.loads((grid / "runs/run-answerers/bench.json").read_bytes())["board"]["labels"]["n"] == 20


def test_labels_may_stand_in_the_settings(grid):
    write_labels(grid)
    file = grid / "ragstone.toml"
    file.write_text(
        file.read_text().replace("[bench.answerers]", '[bench.answerers]\nlabels = "labels.jsonl"')
    )
    found = json.loads(ragstone("bench", "answerers", "--json").out)
    assert found["board"]["labels"]["n"] == 20


def test_labels_that_correct_nothing_cost_no_call(grid, fake_openai, says):
    write_labels(grid, cells=("good · gold", "good · none"))
    for arguments in ((), ("--forecast",)):
        ran = ragstone("bench", "answerers", "--labels", "labels.jsonl", *arguments)
        assert (ran.code, ran.out) == (2, "")
        says(ran.err.splitlines()[-1].replace(str(grid), "FOLDER"))
    assert fake_openai.n_requests == 0
    assert ragstone("bench", "answerers", "--labels", "no.jsonl").code == 2


def test_a_race_that_the_judge_ended_uses_no_labels_and_says_so(folder, fake_openai, says):
    write_grid(folder, fake_openai, 40)
    write_labels(folder, n=40)
    ran = ragstone("bench", "answerers", "--race", "--labels", "labels.jsonl", "--all")
    assert ran.code == 0, ran.err
    says(sentence_in(ran.out.replace("\n  ", " "), "The labels of"))
    assert "by people's labels" not in ran.out
    assert json.loads((folder / "runs/run-answerers/bench.json").read_bytes())["board"]["labels"] is None
