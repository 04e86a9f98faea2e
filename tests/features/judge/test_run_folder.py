"""`ragstone judge` writes a run: what stands in it, what is added to it, what it refuses; the next step."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.summary import ChosenAnswers, chosen_in
from ragstone.kernel.tables import read_rows

SHEET = [
    {"question_id": "a", "question": "Capital of Kenya?", "reference": "Nairobi", "answer": "It is Nairobi."},
    {"question_id": "b", "question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "Brontë did."},
]


@pytest.fixture
def sheet(folder, fake_openai, monkeypatch):
    """A sheet of two answers, and an endpoint."""
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    return write(folder, SHEET)


def write(folder, rows, name="my sheet.jsonl"):
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / name


def judged(folder, name="my-sheet"):
    rows = read_rows(folder / "runs" / name / "judgements.jsonl", Judgement)
    return [(row.judge, row.question_id, row.status) for row in rows]


def test_a_sheet_becomes_a_run_that_the_other_commands_open(folder, sheet):
    ran = ragstone("judge", sheet, "--judge", "containment")
    assert ran.code == 0
    assert ran.err.splitlines()[-1].startswith("Next: ragstone report ")
    run = folder / "runs" / "my-sheet"
    assert {path.name for path in run.iterdir() if not path.name.startswith(".")} == {
        "answers.jsonl",
        "judgements.jsonl",
        "summary.json",
    }
    assert [row.answer for row in read_rows(run / "answers.jsonl", Answer)] == [r["answer"] for r in SHEET]
    assert ragstone("report", run).code == 0
    assert "Brontë did." in (run / "report.html").read_text("utf-8")
    write(folder, [{"question_id": "a", "score": 1}, {"question_id": "b", "score": 0}], "labels.jsonl")
    assert "2 labelled answers" in ragstone("agree", run, "labels.jsonl").out
    assert ragstone("label", run, "-n", 2).code == 0
    assert "Who wrote Emma?" in (folder / "to-label.jsonl").read_text()
    assert ragstone("judge", sheet, "--judge", "containment", "-o", "runs/again").code == 0
    assert ragstone("compare", run, folder / "runs" / "again").code == 0


def test_the_same_command_again_asks_nothing_and_changes_nothing(folder, sheet, fake_openai):
    words = ("judge", sheet, "--judge", "correctness", "--model", "openai/m")
    assert ragstone(*words).code == 0
    n, run = fake_openai.n_requests, folder / "runs" / "my-sheet"
    before = (run / "judgements.jsonl").read_bytes()
    ran = ragstone(*words)
    assert (ran.code, fake_openai.n_requests) == (0, n)
    assert (run / "judgements.jsonl").read_bytes() == before


def test_another_judge_is_added_and_more_answers_are_too(folder, sheet):
    ragstone("judge", sheet, "--judge", "containment", "--limit", 1)
    ragstone("judge", sheet, "--judge", "containment")
    ragstone("judge", sheet, "--judge", "token_f1")
    assert judged(folder) == [(j, q, "scored") for j in ("containment", "token_f1") for q in "ab"]
    summary = json.loads((folder / "runs" / "my-sheet" / "summary.json").read_text())
    assert [(metric["judge"], metric["n_rows"]) for metric in summary["metrics"]] == [
        ("containment", 2),
        ("token_f1", 2),
    ]


def test_models_and_wordings_are_added_and_their_noise_is_in_one_interval(folder, sheet, fake_openai, says):
    rows = [{**SHEET[1], "question_id": f"q{at}", "question": f"Who wrote novel {at}?"} for at in range(12)]
    words = ("judge", write(folder, rows), "--judge", "correctness", "--judge", "correctness@prompt=brief")
    first = ragstone(*words, "--model", "openai/m", "--json")
    ran = ragstone(*words, "--model", "openai/n", "--json")
    for again in (ran, ragstone(*words, "--model", "openai/n", "--json")):
        summary = json.loads(again.out)
        by = [(metric["judge"], metric["model"]) for metric in summary["metrics"]]
        assert by == [(judge, f"openai/{name}") for name in "mn" for judge in words[3::2]]
        host = fake_openai.base_url.removeprefix("http://")
        assert summary["models"] == {"judge": f"openai/m@{host}, openai/n@{host}"}
        [row] = summary["components"]
        assert (row["judges"], row["wordings"]) == (["openai/m", "openai/n"], list(words[3::2]))
        assert sum(row["components"]["shares"].values()) == pytest.approx(1)
    assert len(judged(folder)) == 4 * len(rows)
    assert json.loads(first.out)["components"][0]["judges"] == ["correctness"]
    says(ragstone(*words, "--model", "openai/n", "--all").out)
    run = folder / "runs" / "my-sheet"
    ragstone("report", run)
    for page in ("report.html", "report.md"):
        says(sentence_in((run / page).read_text(), "Over all judges"))


def test_what_has_failed_is_asked_again_and_nothing_else(folder, sheet, fake_openai, says):
    words = ("judge", sheet, "--judge", "correctness", "--model", "openai/m")
    ran = ragstone(*words, "--budget", "1calls")
    assert ran.code == 4
    assert "1 judgement failed: " in ran.err
    says(ran.err)
    ran = ragstone(*words)
    assert (ran.code, fake_openai.n_requests) == (0, 2)
    assert [status for *_, status in judged(folder)] == ["scored", "scored"]


def test_a_run_of_other_answers_is_not_touched(folder, sheet, says):
    ragstone("judge", sheet, "--judge", "containment")
    write(folder, [SHEET[1]])
    ran = ragstone("judge", sheet, "--judge", "containment")
    assert ran.code == 2
    says(ran.err)
    assert len(judged(folder)) == 2
    assert not (folder / "runs" / "my-sheet" / "answers.coming.jsonl").exists()
    assert ragstone("judge", sheet, "--judge", "containment", "--force").code == 0
    assert len(judged(folder)) == 1


def test_a_run_of_another_command_and_a_folder_of_another_tool_are_not_touched(folder, sheet, says):
    (folder / "runs" / "my-sheet").mkdir(parents=True)
    for text in ('{"judges": {}}', '{"name": "An app"}'):
        (folder / "runs" / "my-sheet" / "manifest.json").write_text(text)
        ran = ragstone("judge", sheet, "--judge", "containment")
        assert ran.code == 2
        says(ran.err)


@pytest.mark.parametrize(
    ("again", "said"),
    [
        (["--judge", "token_f1"], "Add --judge containment: nothing is asked twice"),
        (["--judge", "containment", "--limit", 1], "answers that are not in the sheet, such as 'b'"),
    ],
)
def test_a_file_with_more_than_the_command_makes_is_not_touched(folder, sheet, again, said):
    ragstone("judge", sheet, "--judge", "containment", "-o", "j.jsonl")
    before = (folder / "j.jsonl").read_bytes()
    ran = ragstone("judge", sheet, *again, "-o", "j.jsonl")
    assert (ran.code, said in ran.err) == (2, True)
    assert (folder / "j.jsonl").read_bytes() == before


def test_a_file_by_another_model_is_not_touched(folder, sheet, says):
    words = ("judge", sheet, "--judge", "correctness", "-o", "j.jsonl", "--model")
    ragstone(*words, "openai/m")
    ran = ragstone(*words, "openai/other")
    assert ran.code == 2
    says(ran.err)


def test_a_finished_file_and_the_same_command_end_well(folder, sheet, fake_openai):
    words = ("judge", sheet, "--judge", "correctness", "--model", "openai/m", "-o", "j.jsonl")
    ragstone(*words)
    n = fake_openai.n_requests
    ran = ragstone(*words)
    assert (ran.code, fake_openai.n_requests) == (0, n)


def test_where_nothing_was_scored_the_command_ends_with_5(folder):
    sheet = write(folder, [{"question_id": "a", "question": "?", "answer": "yes"}])
    ran = ragstone("judge", sheet, "--judge", "containment")
    assert ran.code == 5
    assert "has no reference" in ran.out


def test_a_page_of_a_file_of_judgements_stands_beside_it(folder, sheet):
    ragstone("judge", sheet, "--judge", "containment", "-o", "j.jsonl")
    assert "Report: j.html" in ragstone("report", "j.jsonl").err
    assert "containment" in (folder / "j.html").read_text("utf-8")
    (folder / "empty.jsonl").write_text("")
    assert ragstone("report", "empty.jsonl").code == 2


def test_a_report_of_a_sheet_says_how_to_judge_it(folder, sheet):
    ran = ragstone("report", sheet)
    assert ran.code == 2
    assert f"ragstone judge '{sheet}' --judge right" in " ".join(ran.err.split())
    assert not list(folder.glob("*.html"))


def test_a_run_keeps_which_columns_its_sheet_was_read_by(folder):
    (folder / "own.csv").write_text("Q,A,So ist es\nCapital of Kenya?,It is Nairobi.,Nairobi\n")
    chosen = {"question": "Q", "answer": "A", "reference": "So ist es"}
    options = [part for pair in chosen.items() for part in ("--column", "=".join(pair))]
    assert ragstone("judge", "own.csv", "--judge", "containment", *options).code == 0
    run = folder / "runs" / "own"
    assert json.loads((run / "summary.json").read_text())["columns"] == chosen
    assert ragstone("judge", run / "answers.jsonl", "--judge", "chrf", "-o", run).code == 0
    assert json.loads((run / "summary.json").read_text())["columns"] == chosen


def test_answers_that_a_filter_leaves_are_judged_into_a_run_that_says_so(folder, sheet, says):
    ragstone("judge", sheet, "--judge", "containment")
    run = folder / "runs" / "my-sheet"
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}
    ran = ragstone("judge", run, "--where", "containment = 0", "--judge", "token_f1")
    assert ran.code == 0
    assert judged(folder, "my-sheet-chosen") == [("token_f1", "b", "scored")]
    assert [row.question_id for row in read_rows(folder / "runs/my-sheet-chosen/answers.jsonl", Answer)] == [
        "b"
    ]
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before
    notes = json.loads((folder / "runs/my-sheet-chosen/summary.json").read_text())["notes"]
    says(notes[0])
    # Another judge of the same answers joins them; other answers do not.
    assert ragstone("judge", run, "--where", "containment = 0", "--judge", "containment").code == 0
    assert {judge for judge, _, _ in judged(folder, "my-sheet-chosen")} == {"token_f1", "containment"}
    refused = ragstone("judge", run, "--where", "containment = 1", "--judge", "token_f1")
    assert refused.code == 2
    says(refused.err.splitlines()[-1].replace(str(folder), "there"))
    for wrong in (
        ["judge", run, "--where", "containment = 9", "--judge", "token_f1"],
        ["judge", run, "--where", "contain = 9", "--judge", "token_f1"],
        ["judge", sheet, "--where", "containment = 1", "--judge", "token_f1"],
        ["judge", run, run, sheet, "--where", "containment = 1", "--judge", "token_f1"],
        ["judge", run, "--each-turn", "--where", "containment = 1", "--judge", "token_f1"],
    ):
        ran = ragstone(*wrong)
        assert ran.code == 2, wrong
        says(ran.err.splitlines()[-1].replace(str(folder), "there")[:100])


def test_a_damaged_summary_is_told_and_its_answers_pass_for_no_sample(folder, sheet, says):
    ragstone("judge", sheet, "--judge", "containment")
    run = folder / "runs" / "my-sheet"
    (run / "summary.json").write_text('{"counts": {')
    with pytest.raises(DataError) as error:
        chosen_in(run)
    says(str(error.value).replace(str(folder), "HERE"))
    ran = ragstone("judge", sheet, "--judge", "token_f1", "--all")
    says(sentence_in(" ".join(ran.out.split()), "of the earlier judgements"))
    (run / "summary.json").write_text('{"of": "another tool"}')
    assert chosen_in(run) is None


def test_no_next_step_is_said_where_nothing_was_scored(folder, sheet, says):
    ran = ragstone("judge", sheet, "--judge", "context_overlap", "-o", "its verdicts.jsonl")
    assert "Next:" not in ran.err
    ran = ragstone("judge", sheet, "--judge", "containment", "-o", "its verdicts.jsonl", "--force")
    says(sentence_in(ran.err, "Next: "))


def test_chosen_answers_are_known_to_whatever_reads_their_run(folder, sheet, says):
    ragstone("judge", sheet, "--judge", "containment")
    run, chosen = folder / "runs" / "my-sheet", folder / "runs" / "my-sheet-chosen"
    assert chosen_in(run) is None
    ragstone("judge", run, "--where", "containment = 0", "--judge", "token_f1")
    assert chosen_in(chosen) == chosen_in(chosen / "answers.jsonl")
    assert chosen_in(chosen) == ChosenAnswers(of="my-sheet", where="containment = 0")
    # Judged again, and chosen from once more, they are still chosen.
    assert ragstone("judge", chosen / "answers.jsonl", "--judge", "chrf", "-o", "runs/again").code == 0
    assert chosen_in(folder / "runs" / "again") == chosen_in(chosen)
    where = "question_id = b"
    narrowed = ragstone("judge", chosen, "--where", where, "--judge", "chrf", "-o", "runs/less")
    assert narrowed.code == 0
    assert chosen_in(folder / "runs" / "less").where == f"({chosen_in(chosen).where}) and ({where})"
    # A file has no summary, so what a reader must know is printed.
    alone = ragstone("judge", run, "--where", "containment = 0", "--judge", "chrf", "-o", "alone.jsonl")
    says(" ".join(alone.out.split()))
    # Labels and agreement of them are those of the choice.
    write(folder, [{"question_id": "b", "score": 1}], "labels.jsonl")
    refused = ragstone("agree", chosen, "labels.jsonl")
    assert refused.code == 2
    says(refused.err.replace(str(folder), "there"))
    assert ragstone("agree", run, "labels.jsonl").code == 0
    sampled = ragstone("label", chosen, "-n", 1)
    says(sampled.err.splitlines()[-1].replace(str(folder), "there"))
    (row,) = [json.loads(line) for line in (folder / "to-label.jsonl").read_text().splitlines()]
    assert row["chosen"] == "containment = 0"
    write(folder, [row | {"score": 1}], "labels.jsonl")
    assert "not a sample" in ragstone("agree", run, "labels.jsonl").err
    assert refused.code == ragstone("compare", run, chosen, "--shared", "--metric", "token_f1").code == 2


@pytest.mark.parametrize(
    "command",
    [
        ("judge", "none.jsonl", "--judge", "right"),
        ("judge", "notes.md", "--judge", "right"),
        ("judge", "my sheet.jsonl", "--judge", "correctness", "--model", "openai/m", "--yes"),
        ("export", "runs/none", "-o", "out/table.csv"),
        ("import", "none.json", "-o", "set"),
        ("ingest", "none", "-o", "out/documents.jsonl"),
    ],
    ids=["no file", "another kind of file", "no key", "export", "import", "ingest"],
)
def test_a_command_that_fails_before_it_has_made_anything_leaves_no_folder(folder, command, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    write(folder, SHEET)
    (folder / "notes.md").touch()
    assert ragstone(*command).code == 2
    assert {path.name for path in folder.iterdir()} - {".ragstone"} == {"my sheet.jsonl", "notes.md"}
