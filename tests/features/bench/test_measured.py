"""The benches beside a run: which say something of it, what they say, and why the others do not."""

import json
import shutil

import msgspec
import pytest
from tests.support.golden import sentence_in

import ragstone
from ragstone.features.bench import benched_changes
from ragstone.kernel.config import load_settings
from ragstone.kernel.engine.digests import hexdigest
from ragstone.kernel.runs.folders import MANIFEST

NAMES, CROPS = (
    ("Amber", "Birch", "Cedar", "Delta", "Ebony", "Fjord"),
    ("rye", "oat", "pea", "hop", "kale", "leek"),
)
SETTINGS = """[run]
name = "mine"
[documents]
paths = ["documents.jsonl"]
[questions]
path = "questions.jsonl"
[chunk]
method = "sentence"
size = 60
[retrieve]
k = 3
[answer]
system = "mute"
[systems.mute]
kind = "extractive"
threshold = 1.0
[judge]
judges = ["match"]
[bench.retrievers]
chunkers = [{method = "sentence", size = 60}, {method = "whole"}]
retrievers = ["bm25"]
k = [1]
[bench.answerers]
systems = ["mute", "extractive"]
"""


def lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def benched(tmp_path_factory):
    """A run that cuts farm and crop apart and answers nothing, with both benches beside it."""
    folder = tmp_path_factory.mktemp("benched")
    documents, questions = [], []
    for n, (name, crop) in enumerate((name, crop) for name in NAMES for crop in CROPS):
        text = f"This page is about the farm {name} in the north. Its fields of {crop} cover {100 + n} acres."
        documents.append({"id": f"d{n}", "text": text})
        question = f"How many acres do fields of {crop} cover on the farm {name}?"
        row = {"id": f"q{n}", "question": question, "reference": f"{100 + n} acres"}
        questions.append(row | {"document_ids": [f"d{n}"]})
    lines(folder / "documents.jsonl", documents)
    lines(folder / "questions.jsonl", questions)
    (folder / "ragstone.toml").write_text(SETTINGS)
    settings = load_settings(folder / "ragstone.toml")
    ragstone.run(settings)
    ragstone.bench_retrievers(settings)
    ragstone.bench_answerers(settings)
    return folder


@pytest.fixture
def runs(benched, tmp_path):
    shutil.copytree(benched, tmp_path / "project")
    return tmp_path / "project" / "runs"


def changes(runs):
    return benched_changes(runs / "mine", "mute")


def edit(path, change):
    tables = json.loads(path.read_text())
    change(tables)
    path.write_text(json.dumps(tables))


def test_both_benches_name_the_better_configuration_with_the_test_that_shows_it(runs):
    found, notes = changes(runs)
    assert notes == []
    answers, retrieval = found
    assert (retrieval.bench, retrieval.of, retrieval.verdict) == ("mine-retrievers", "retrieval", "better")
    assert (retrieval.current, retrieval.best) == ("sentence 60 · bm25", "whole · bm25")
    assert (answers.bench, answers.of, answers.verdict) == ("mine-answerers", "answers", "better")
    assert (answers.current, answers.best, answers.judge) == ("mute", "extractive", "match")
    for change in found:
        assert change.difference.low > 0
        assert (change.p_holm <= 0.05, change.family, change.n, change.difference.n) == (True, 1, 2, 36)
    board = json.loads((runs / "mine-retrievers/leaderboard.json").read_text())["leaderboard"]
    assert retrieval.measure == board["measure"] == "ndcg@1"
    whole, cut = (row["measures"]["1"]["ndcg@1"]["value"] for row in board["standings"])
    assert retrieval.difference.value == pytest.approx(whole - cut)


@pytest.mark.parametrize("file", ["questions.jsonl", "documents.jsonl"])
def test_a_bench_of_other_rows_or_of_none_that_it_names_is_not_used(runs, file, says):
    what = file.removesuffix(".jsonl")
    edit(runs / "mine-retrievers" / MANIFEST, lambda tables: tables["files"].update({file: "0" * 32}))
    edit(runs / "mine-answerers" / MANIFEST, lambda tables: tables["files"].pop(file))
    found, [unused, command] = changes(runs)
    assert found == []
    assert f"mine-retrievers (other {what}" in unused
    says(unused)
    assert "`ragstone bench retrievers`" in command


def test_the_same_documents_read_from_another_place_are_the_same(runs):
    path = runs / "mine-retrievers/documents.jsonl"
    rows = [json.loads(line) | {"source": "elsewhere.jsonl"} for line in path.read_text().splitlines()]
    for text, used in (("", True), ("!", False)):
        lines(path, [row | {"text": row["text"] + text} for row in rows])
        digest = hexdigest(path.read_bytes())
        edit(
            runs / "mine-retrievers" / MANIFEST,
            lambda tables, new=digest: tables["files"].update({path.name: new}),
        )
        assert ("mine-retrievers" in [each.bench for each in changes(runs)[0]]) is used


def other_retriever(tables):
    tables["settings"]["retrieve"]["retriever"] = "dense"


def other_k(tables):
    tables["settings"]["retrieve"]["k"] = 4


def other_system(tables):
    tables["settings"]["systems"]["mute"]["sentences"] = 3


def filtered(tables):
    tables["settings"]["retrieve"]["where"] = {"lang": "en"}


@pytest.mark.parametrize(
    ("change", "used"),
    [
        (other_retriever, []),
        (other_k, ["mine-retrievers"]),  # a leaderboard names its own k
        (other_system, ["mine-retrievers"]),
        (filtered, []),
    ],
)
def test_a_bench_whose_grid_lacks_the_configuration_of_the_run_is_not_used(runs, change, used):
    edit(runs / "mine" / MANIFEST, change)
    found, notes = changes(runs)
    assert [each.bench for each in found] == used
    assert "are not used" in notes[0]


def test_why_a_bench_is_not_used_names_what_to_add(runs, says):
    edit(runs / "mine" / MANIFEST, other_retriever)
    [unused, command] = changes(runs)[1]
    says(unused)
    says(command)
    edit(runs / "mine" / MANIFEST, filtered)
    says(changes(runs)[1][0])


def test_what_is_not_shown_is_no_gain_and_a_run_that_is_the_best_is_named_so(runs):
    def not_shown(tables):
        for row in tables["leaderboard"]["standings"]:
            if row["comparison"]:
                row["comparison"]["p_holm"] = 0.051

    edit(runs / "mine-retrievers/leaderboard.json", not_shown)
    edit(runs / "mine" / MANIFEST, lambda tables: tables["settings"]["answer"].update(system="extractive"))
    found, notes = changes(runs)
    assert ([each.verdict for each in found], notes) == (["is current", "cannot tell"], [])
    assert found[0].difference is None


def test_an_interval_that_reaches_zero_is_no_gain_whatever_the_test_says(runs):
    def at_zero(tables):
        for row in tables["leaderboard"]["standings"]:
            if row["comparison"]:
                row["comparison"]["difference"]["low"] = 0.0

    edit(runs / "mine-retrievers/leaderboard.json", at_zero)
    assert changes(runs)[0][1].verdict == "cannot tell"


def test_a_race_and_a_broken_or_unfinished_bench_are_named_with_the_reason(runs, says):
    (runs / "mine-retrievers/leaderboard.json").write_text("{")
    (runs / "mine-answerers" / MANIFEST).unlink()
    found, notes = changes(runs)
    assert found == []
    says(notes[0])


def test_alone_a_run_names_the_commands_that_measure_and_a_sheet_none(runs):
    for bench in ("mine-retrievers", "mine-answerers"):
        shutil.rmtree(runs / bench)
    found, [command] = changes(runs)
    assert (found, "`ragstone bench answerers`" in command) == ([], True)

    def by_http(tables):
        tables["settings"]["answer"]["system"] = "app"
        tables["settings"]["systems"]["app"] = {"kind": "http"}

    edit(runs / "mine" / MANIFEST, by_http)
    assert "bench retrievers" not in changes(runs)[1][0]
    edit(runs / "mine" / MANIFEST, lambda tables: tables["settings"]["answer"].update(sheet="a.jsonl"))
    assert changes(runs) == ([], [])
    (runs / "mine" / MANIFEST).unlink()
    assert changes(runs) == ([], [])


def test_a_model_is_the_runs_only_with_its_prompt_temperature_and_settings(runs, says):
    def by_model(tables):
        tables["settings"]["answer"].update(system=None, model="openai/a", temperature=None)
        tables["settings"]["models"]["openai/a"] = {"temperature": 0.0}

    def cells(tables):
        for row, model in zip(tables["board"]["standings"], ("openai/b", "openai/a"), strict=True):
            row["cell"].update(model=model, prompt="strict")

    for folder in ("mine", "mine-answerers"):
        edit(runs / folder / MANIFEST, by_model)
    edit(runs / "mine-answerers/bench.json", cells)
    assert changes(runs)[0][0].current == "mute"
    for key, value in (("top_p", 0.5), ("temperature", 1.0), ("prompt", "brief"), ("model", "openai/c")):
        before = (runs / "mine" / MANIFEST).read_text()
        edit(
            runs / "mine" / MANIFEST,
            lambda tables, pair=(key, value): tables["settings"]["answer"].update([pair]),
        )
        says(changes(runs)[1][0])
        (runs / "mine" / MANIFEST).write_text(before)
    edit(runs / "mine" / MANIFEST, lambda tables: tables["settings"]["models"]["openai/a"].clear())
    says(changes(runs)[1][0])


def test_blame_has_them_with_what_if_and_not_without(runs, says):
    settings = load_settings(runs.parent / "ragstone.toml")
    assert ragstone.blame(runs / "mine", settings=settings).benched == []
    summary = ragstone.blame(runs / "mine", settings=settings, what_if=5)
    assert [each.best for each in summary.benched] == ["extractive", "whole · bm25"]
    written = json.loads((runs / "mine" / "blame.json").read_text())["benched"]
    assert written == msgspec.to_builtins(summary.benched)
    says(sentence_in((runs / "mine" / "report.html").read_text(), "whole · bm25 instead"))
