"""The table of the list of runs, and trends: which columns, in which order, what changed between runs."""

import os
import re
from pathlib import Path

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.judged_runs import judged, write_run

from ragstone.kernel.document.html import breakable
from ragstone.kernel.judging import summarise
from ragstone.kernel.runs.settings import RunManifest
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.serve.runs import RunEntry
from ragstone.kernel.stages.notes import judgements_alone
from ragstone.workbench.run_list_pages import run_steps
from ragstone.workbench.run_table import in_order, metric_columns, run_table
from ragstone.workbench.trend import RunStep, trend_chart

MODEL = "openai/gpt-4o-mini"


def made(project: Path, name: str, rows, age: int = 0, calls: Calls | None = None, **retrieve) -> None:
    """Write a finished run. age: of its files, in seconds; retrieve: keys of [retrieve]."""
    folder = write_run(
        project / "runs" / name,
        rows,
        digests={"containment": "c"},
        settings={"retrieve": {"retriever": "bm25", "k": 5} | retrieve},
        files={"rankings.jsonl": "r"},
        ragstone="1.0",
    )
    summary = judgements_alone(name, summarise(rows), [])
    summary = msgspec.structs.replace(summary, calls=calls or Calls())
    (folder / "summary.json").write_bytes(msgspec.json.encode(summary))
    for file in folder.iterdir():
        os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))


@pytest.fixture
def three(project):
    """Three runs: the oldest with k 5, then k 10, then k 10 and dense; 0.25, 0.50 and 0.75 right."""
    made(project, "first", judged([1, 0, 0, 0]), age=300)
    made(project, "second", judged([1, 1, 0, 0]), age=200, k=10)
    made(project, "third", judged([1, 1, 1, 0]), age=100, k=10, retriever="dense")


def heads(page: str) -> list[str]:
    return [re.sub(r"<[^>]+>", "", head).strip() for head in re.findall(r"<th scope=\"col\".*?</th>", page)]


def names(page: str) -> list[str]:
    return re.findall(r"data-row dir=\"auto\">([^<]+)<", page)


def test_only_settings_that_differ_are_columns_unless_all_are_asked_for(three, client, says):
    page = client.get("/workbench/").text
    judge = "containment: correctness"
    assert heads(page) == [
        "Run",
        "Questions",
        judge,
        "retrieve retriever",
        "retrieve k",
        "Cost",
        "Made ↓",
    ]
    # of `first` and `second` only k differs
    found = client.get("/workbench/?text=s").text  # fir-s-t, s-econd
    assert [name for name in heads(found) if name.startswith("retrieve")] == ["retrieve k"]
    says(sentence_in(found, "2 of 3 runs"))
    whole = heads(client.get("/workbench/?whole=true").text)
    assert {"judges", "Ragstone"} <= set(whole)


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("-made", ["third", "second", "first"]),
        ("name", ["first", "second", "third"]),
        ("-metric containment|correctness", ["third", "second", "first"]),
        ("metric containment|correctness", ["first", "second", "third"]),
        ("setting [retrieve] k", ["first", "second", "third"]),  # 5 before 10: as numbers
        ("-setting [retrieve] retriever", ["third", "first", "second"]),
    ],
)
def test_a_column_sorts(three, state, client, order, expected):
    assert [entry.name for entry in in_order(state.runs.all(), order)] == expected
    assert names(client.get("/workbench/", params={"order": order}).text) == expected


def test_runs_without_a_value_come_last_either_way(three, project, state):
    write_run(project / "runs" / "bare", judged([1]))
    for sign in ("", "-"):
        for key in ("cost", "questions", "setting [retrieve] k", "metric containment|correctness"):
            assert run_table(state.runs.all(), sign + key, whole=False).entries[-1].name in ("bare", "third")
        assert in_order(state.runs.all(), f"{sign}setting [retrieve] k")[-1].name == "bare"


@pytest.mark.parametrize("order", ["colour", "setting", "metric ", "name x", "-"])
def test_an_order_that_there_is_not_is_told(three, client, order, says):
    answered = client.get("/workbench/", params={"order": order})
    assert answered.status_code == 422
    says(sentence_in(answered.text, "Click a heading"))


def test_costs_are_known_unknown_or_none(project, client):
    made(project, "a", judged([1]), calls=Calls(made=3, cost_usd=0.25))
    made(project, "b", judged([1]), calls=Calls(made=3))
    made(project, "c", judged([1]))
    page = client.get("/workbench/?order=-cost").text
    assert names(page)[0] == "a"
    assert re.findall(r'<td class="num" data-label="Cost">(0.2500 USD|unknown|no calls)</td>', page) == [
        "0.2500 USD",
        "unknown",
        "no calls",
    ]


def test_systems_of_a_run_stand_in_its_cell(project, client):
    rows = [row for at in range(5) for row in judged([1, at % 2], system=f"s{at}")]
    made(project, "grid", rows)
    page = client.get("/workbench/").text
    assert [name in page for name in ("s0", "s1", "s2", "s3")] == [True, True, True, False]
    assert "and 2 more" in page


def test_a_trend_follows_the_order_of_files_and_says_what_changed(three, client, says):
    page = client.get("/workbench/runs/trends").text
    assert names(page) == ["first", "second", "third"]
    says(sentence_in(page, "[retrieve] k:"))
    says(sentence_in(page, "[retrieve] retriever:"))
    assert len(re.findall(r'<div dir="auto">[^<]*→', page)) == 2
    values = re.findall(r'"value":([\d.]+)', page)
    assert values == ["0.25", "0.5", "0.75"]
    assert re.findall(r'"place":([\d.]+)', page) == ["1", "2", "3", "1.5", "2.5"]  # three runs, two marks
    assert names(client.get("/workbench/runs/trends?order=-made").text) == ["third", "second", "first"]


def test_a_trend_compares_questions_where_a_manifest_is_missing(three, project, client):
    unknown = '<div class="muted">settings unknown'
    assert unknown not in client.get("/workbench/runs/trends").text
    made(project, "bare", judged([1]))
    (project / "runs" / "bare" / "manifest.json").unlink()
    page = client.get("/workbench/runs/trends").text
    assert page.count(unknown) == 1
    assert "questions: 1 of " in page


def test_a_trend_of_ticked_runs_and_of_too_few(three, project, client, says):
    made(project, "other", judged([1], "token_f1"))
    page = client.get("/workbench/runs/trends?run=0/first&run=0/third").text
    assert names(page) == ["first", "third"]
    says(sentence_in(client.get("/workbench/runs/trends?text=third").text, "A trend needs"))
    says(sentence_in(client.get("/workbench/runs/trends").text, "1 other run"))
    answered = client.get("/workbench/runs/trends?metric=grace|x")
    assert answered.status_code == 422
    says(sentence_in(answered.text, "None of these"))
    says(
        sentence_in(
            client.get("/workbench/runs/trends?text=zzz").text,
            "No run here",
        )
    )


def test_other_scales_make_the_axis_a_share(three, says):
    steps = [
        RunStep(run="a", means=[("mean", *summarise(judged([1, 0])))], changes=[]),
        RunStep(run="b", means=[("mean", *summarise(judged([5, 3], scale=(1, 5))))], changes=["k: 1 → 2"]),
    ]
    chart = trend_chart("grader", steps)
    assert chart is not None
    # 0.5 of 0 to 1; 4 of 1 to 5 is 3 / 4
    assert [row[1] for row in chart.rows] == ["0.50", "0.75"]
    says(sentence_in(chart.said, "1 change marked"))
    assert trend_chart("grader", steps[:1]) is None


def test_a_run_whose_judges_are_not_main_shows_a_mean_beside_many_that_have_others(project, client):
    """The first three columns are of judges that most runs have, and `demo` has none of these."""
    main = ("correctness", "faithfulness", "relevance")
    for at in range(4):
        rows = [row for name in main for row in judged([1, 0], name, metric=name, model="openai/any")]
        made(project, f"run-{at}", rows)
    made(project, "demo", judged([1, 1, 0], "right") + judged([1, 1, 1], "no_refusal", metric="answered"))
    page = client.get("/workbench/").text
    assert [head for head in heads(page) if head.partition(":")[0] in (*main, "right", "no_refusal")] == [
        *main,
        "right: correctness",
    ]
    row = page.partition(">demo</a>")[2].partition("</tr>")[0]
    assert "<b>0.67</b>" in row


def test_the_name_of_a_model_breaks_after_a_sign_and_never_inside_a_word():
    assert breakable("openai/gpt-4o-mini@127.0.0.1:8000/v1") == (
        "openai/<wbr>gpt-4o-mini@<wbr>127.0.0.1:<wbr>8000/<wbr>v1"
    )
    assert breakable("extractive") == "extractive"
    assert breakable("https://a.b/<i>") == "https://<wbr>a.<wbr>b/<wbr>&lt;i&gt;"


def test_a_trend_says_where_runs_have_other_answers_and_where_no_manifest_tells_the_settings(says):
    def entry(name, n, manifest=None):
        (metric,) = summarise(judged([1] * n))
        return RunEntry(
            id=f"0/{name}",
            name=name,
            folder=Path(name),
            written=0.0,
            kind="judged",
            counts={"answers": n},
            metrics=[metric],
            manifest=manifest,
        )

    known = RunManifest(judges={})
    runs = [entry("a", 2), entry("b", 3), entry("c", 3, known), entry("d", 3, known)]
    steps = run_steps(runs, metric_columns(runs)[0], lambda _: None)
    assert [len(step.changes) for step in steps] == [0, 1, 0, 0]
    says(steps[1].changes[0])
    unknown = "settings and questions"
    assert [step.unknown for step in steps] == ["", unknown, unknown, ""]
    ids = {name: frozenset({"q1", "q2", f"of {name}" if name == "b" else "q3"}) for name in "abcd"}
    steps = run_steps(runs, metric_columns(runs)[0], lambda entry: ids[entry.name])
    assert [step.unknown for step in steps] == ["", "settings", "settings", ""]
    assert [len(step.changes) for step in steps] == [0, 2, 1, 0]
    says(steps[2].changes[0])
