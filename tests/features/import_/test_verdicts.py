"""`ragstone import` of other tools' verdicts: judgements, labels and answers, and what is said."""

import json
import shutil
from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone import Answer, Judgement, Label, read_rows

FIXTURES = Path(__file__).parents[2] / "fixtures" / "verdicts"


@pytest.fixture
def recorded(folder):
    """The recorded files, in the folder that one is in."""
    for path in FIXTURES.glob("*.*"):
        shutil.copy(path, folder / path.name)
    return folder


def test_a_folder_gets_judgements_labels_and_answers(recorded, says):
    ran = ragstone("import", "langfuse.jsonl", "-o", "found")
    assert ran.code == 0
    says(ran.err)
    judgements = list(read_rows("found/judgements.jsonl", Judgement))
    assert judgements == list(read_rows("langfuse.jsonl", Judgement))
    assert [row.score for row in read_rows("found/labels.jsonl", Label)][:4] == [1, 1, 1, 0]
    ids = {row.question_id for row in read_rows("found/answers.jsonl", Answer)}
    assert ids == {row.question_id for row in judgements}


def test_a_file_gets_the_judgements_and_what_has_no_room_is_said(recorded, says):
    ran = ragstone("import", "mlflow-traces.jsonl", "-o", "judgements.jsonl")
    assert (ran.code, len(list(read_rows("judgements.jsonl", Judgement)))) == (0, 32)
    assert not (recorded / "imported").exists()
    says(ran.err)


def test_traces_and_verdicts_in_files_of_their_own_are_read_together(recorded):
    lines = [json.loads(line) for line in (recorded / "langsmith.jsonl").read_text().splitlines()]
    for name, wanted in (("runs.jsonl", True), ("feedback.jsonl", False)):
        rows = [row for row in lines if ("run_type" in row) is wanted]
        (recorded / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    ragstone("import", "langsmith.jsonl", "-o", "whole")
    assert ragstone("import", "runs.jsonl", "feedback.jsonl", "-o", "parts").code == 0
    for kind in ("judgements", "labels", "answers"):
        assert (recorded / "parts" / f"{kind}.jsonl").read_text() == (
            recorded / "whole" / f"{kind}.jsonl"
        ).read_text()


@pytest.mark.parametrize("name", ["azure-evaluation.json", "phoenix-evals.csv"])
def test_a_sheet_with_verdicts_in_columns_gives_its_answers_too(recorded, name):
    assert ragstone("import", name, "-o", "found").code == 0
    [first, *others] = read_rows("found/answers.jsonl", Answer)
    assert (first.question, first.answer, len(others)) == ("When is winter wheat sown?", "In October.", 15)
    judged = {row.question_id for row in read_rows("found/judgements.jsonl", Judgement)}
    assert {row.question_id for row in (first, *others)} >= judged


def test_strict_fails_where_a_verdict_has_no_score(recorded):
    assert ragstone("import", "langsmith.jsonl", "--strict", "-o", "a").code == 5
    assert ragstone("import", "langsmith.jsonl", "-o", "b").code == 0


def test_the_summary_is_json_on_request(recorded):
    told = json.loads(ragstone("import", "langsmith.jsonl", "--json").out)
    assert told["judges"] == {"correctness": 16}
    assert told["statuses"] == {"scored": 15, "timeout": 1}
    assert (told["n_labels"], told["annotators"], told["n_answers"]) == (16, ["Ada"], 16)
    assert told["output"] == [f"imported/{kind}.jsonl" for kind in ("judgements", "labels", "answers")]
    assert told["not_written"] == {}


def test_files_that_exist_are_kept(recorded):
    (recorded / "imported").mkdir()
    (recorded / "imported" / "labels.jsonl").write_text("mine")
    ran = ragstone("import", "langsmith.jsonl")
    assert (ran.code, "labels.jsonl" in ran.err) == (2, True)
    assert (recorded / "imported" / "labels.jsonl").read_text() == "mine"
    assert not (recorded / "imported" / "judgements.jsonl").exists()
    assert ragstone("import", "langsmith.jsonl", "--force").code == 0


def test_what_does_not_fit_is_said(recorded, says):
    (recorded / "q.csv").write_text("question,answer\nWhen?,Now.\n")
    says(ragstone("import", "q.csv", "--format", "verdicts").err)
    says(ragstone("import", "langsmith.jsonl", "--split", "test").err)
    people = [line for line in (recorded / "langsmith.jsonl").read_text().splitlines() if '"app"' in line]
    (recorded / "people.jsonl").write_text("\n".join(people) + "\n")
    says(ragstone("import", "people.jsonl", "-o", "j.jsonl").err)
    whole = (recorded / "langsmith.jsonl").read_text()
    (recorded / "cut.jsonl").write_text(whole[:3000])
    says(ragstone("import", "cut.jsonl").err)
    records = FIXTURES.parent / "records"
    (recorded / "cut.eval").write_bytes((records / "inspect.eval").read_bytes()[:3000])
    says(ragstone("import", "cut.eval").err)
    shutil.copy(records / "every-eval-ever.json", recorded / "means.json")
    says(ragstone("import", "means.json").err)
    assert not (recorded / "imported").exists()


def test_what_people_wrote_that_is_no_label_is_counted(recorded, caplog, says):
    assert ragstone("import", "langfuse-scores-v3.jsonl").code == 0
    assert not (recorded / "imported" / "labels.jsonl").exists()
    says("\n".join(caplog.messages))


LOG = {
    "eventName": "gen_ai.client.inference.operation.details",
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
        *(
            {"key": name, "value": {"stringValue": json.dumps([{"role": role, "parts": [part]}])}}
            for name, role, part in (
                ("gen_ai.input.messages", "user", {"type": "text", "content": "When is wheat sown?"}),
                ("gen_ai.output.messages", "assistant", {"type": "text", "content": "In October."}),
            )
        ),
    ],
}


def log_file(path, *records):
    path.write_text(json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": [*records]}]}]}) + "\n")


def test_log_events_and_spans_without_a_verdict_give_answers(folder, says):
    log_file(folder / "logs.jsonl", LOG)
    assert ragstone("import", "logs.jsonl", "-o", "found").code == 0
    assert [path.name for path in (folder / "found").iterdir()] == ["answers.jsonl"]
    [answer] = read_rows("found/answers.jsonl", Answer)
    assert (answer.question, answer.answer) == ("When is wheat sown?", "In October.")
    shutil.copy(FIXTURES.parent / "interchange" / "otlp.json", folder / "spans.json")
    assert ragstone("import", "spans.json", "-o", "spans").code == 0
    assert list(read_rows("spans/answers.jsonl", Answer)) == list(read_rows("spans.json", Answer))
    says(ragstone("import", "logs.jsonl", "-o", "j.jsonl").err)
    log_file(folder / "empty.jsonl", {**LOG, "attributes": []})
    says(ragstone("import", "empty.jsonl", "-o", "none").err)
    assert not (folder / "none").exists()


def test_log_events_with_a_verdict_give_answers_and_judgements_of_the_same_ids(folder):
    attributes = [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "relevance"}},
        {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 4.0}},
    ]
    log_file(
        folder / "logs.jsonl",
        {**LOG, "eventName": "gen_ai.evaluation.result", "attributes": attributes},
        LOG,
    )
    assert ragstone("import", "logs.jsonl", "-o", "found").code == 0
    [row] = read_rows("found/judgements.jsonl", Judgement)
    [answer] = read_rows("found/answers.jsonl", Answer)
    assert (row.question_id, row.system, row.score) == (answer.question_id, answer.system, 4.0)


def test_a_verdict_whose_fields_are_in_the_body_of_its_event_is_the_same(folder):
    fields = [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "relevance"}},
        {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 4.0}},
    ]
    event = {**LOG, "eventName": "gen_ai.evaluation.result", "attributes": []}
    log_file(folder / "body.jsonl", {**event, "body": {"kvlistValue": {"values": fields}}}, LOG)
    log_file(folder / "plain.jsonl", {**event, "attributes": fields}, LOG)
    [in_body] = read_rows("body.jsonl", Judgement)
    assert [in_body] == list(read_rows("plain.jsonl", Judgement))
    assert (in_body.judge, in_body.score) == ("relevance", 4.0)


def test_a_set_of_questions_is_still_one(recorded):
    (recorded / "q.csv").write_text("question,answer\nWhen?,Now.\n")
    assert ragstone("import", "q.csv").code == 0
    assert (recorded / "imported" / "questions.jsonl").exists()


def test_verdicts_without_their_answers_are_told(recorded, caplog, says):
    assert ragstone("import", "openinference-evaluators.jsonl", "-o", "alone").code == 0
    says("\n".join(caplog.messages))
