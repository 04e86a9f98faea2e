"""What is done with chosen traces: judged into a run, labelled, added to a data set, noted."""

import json
import time

import msgspec
import pytest
from tests.support.golden import sentence_in
from tests.support.served_project import client, project
from tests.support.spans import TRACE, asked, request, span
from tests.support.texts import element
from tests.support.workbench import peopled

from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.runs.summary import ChosenAnswers, read_summary
from ragstone.kernel.tables import read_rows

__all__ = ["client", "project"]  # its fixtures

T = "/workbench/traces"
OTHER, SILENT = TRACE[::-1], "ab" * 16


@pytest.fixture
def traced(project):
    """The project with three traces; nothing is asked in the last."""
    folder = project / ".ragstone" / "traces"
    folder.mkdir(parents=True)
    bodies = [
        asked("When is maize sown? Write to jo@farm.example", "In spring."),
        asked("Is it?", "I cannot answer.", OTHER),
    ]
    body = b"".join(each + b"\n" for each in [*bodies, request(span(1, trace=SILENT))])
    (folder / "a.jsonl").write_bytes(body)
    return project


def ended(client, job):
    """Return the state of a job when it is over."""
    for _ in range(1_200):
        found = client.get(job, headers={"Accept": "application/json"}).json()
        if found["state"]["life"] != "running":
            return found
        time.sleep(0.05)
    raise AssertionError("the job goes on")


def judged(client, **given):
    body = {"ids": [TRACE], "name": "mine", "judges": ["no_refusal"]} | given
    return client.post(f"{T}/judge", json=body, headers={"Accept": "application/json"})


def test_chosen_traces_are_judged_into_a_run_that_labels_can_be_made_of(client, traced, says):
    page = client.get(f"{T}/chosen?act=judge&id={TRACE}&id={OTHER}").text
    says(sentence_in(page, "Judge the answers"))
    forecast = client.post(
        f"{T}/judge/forecast", json={"ids": [TRACE, OTHER], "name": "mine", "judges": ["no_refusal"]}
    ).json()
    assert (forecast["calls"], forecast["lines"][0]) == (0, "2 answers.")
    job = judged(client, ids=[TRACE, OTHER, SILENT]).json()["job"]
    found = ended(client, job)
    assert (found["state"]["life"], found["state"]["number"], found["run"]) == ("done", 2, "0/mine")
    run = traced / "runs" / "mine"
    scores = {row.question_id: row.score for row in read_rows(run / "judgements.jsonl", Judgement)}
    rows = list(read_rows(run / "answers.jsonl", Answer))
    assert {row.metadata["trace_id"]: scores[row.question_id] for row in rows} == {TRACE: 1.0, OTHER: 0.0}
    assert {row.system for row in rows} == {"shop"}
    assert client.get("/workbench/runs/0/mine").status_code == 200
    assert "no_refusal" in client.get("/workbench/label/new?run=0/mine").text
    summary = read_summary(run)
    assert summary.chosen == ChosenAnswers(of="traces", where="by hand")
    assert summary.notes[0] == summary.chosen.note
    assert "judged traces" in (traced / ".ragstone" / "workbench" / "audit.jsonl").read_text()


@pytest.mark.parametrize(
    "given",
    [
        {"judges": []},
        {"judges": ["faithfulness"]},
        {"ids": []},
        {"ids": [SILENT]},
        {"ids": ["gone"]},
        {"every": True, "where": "question ~ nothing"},
        {"every": True, "where": "foo = 1"},
        {"name": "../x"},
        {"name": ""},
        {"budget": "much"},
        {"model": "openai/other"},
    ],
)
def test_what_cannot_be_judged_is_said_and_nothing_is_written(client, traced, given, says):
    refused = judged(client, **given)
    assert refused.status_code == 422
    says(refused.json()["detail"])
    assert list((traced / "runs").iterdir()) == []


def test_an_unknown_judge_is_refused(client, traced):
    assert judged(client, judges=["no_such_judge"]).status_code == 422
    assert list((traced / "runs").iterdir()) == []


def test_a_run_that_is_there_is_not_written_again(client, traced):
    ended(client, judged(client).json()["job"])
    assert judged(client).status_code == 422
    assert 'value="traces"' in client.get(f"{T}/chosen?act=judge&id={TRACE}").text
    ended(client, judged(client, name="traces").json()["job"])
    assert 'value="traces-2"' in client.get(f"{T}/chosen?act=judge&id={TRACE}").text


def test_all_that_a_filter_leaves_can_be_chosen(client, traced, says):
    page = client.get(f"{T}/chosen?act=set&all=1&where=question+~+maize").text
    says(sentence_in(page, "Add the questions"))
    assert client.get(f"{T}/chosen?act=judge").status_code == 422


def test_all_traces_are_no_choice_and_those_of_a_filter_are(client, traced):
    for name, where in (("every", ""), ("some", "not failed")):
        ended(client, judged(client, ids=[], every=True, where=where, name=name).json()["job"])
        chosen = read_summary(traced / "runs" / name).chosen
        assert (chosen and chosen.where) == (where or msgspec.UNSET)


def test_questions_go_to_a_set_once_masked_and_without_a_reference(client, traced):
    def added(*ids):
        return client.post(f"{T}/set", json={"ids": [*ids], "name": "from-traces"}).json()

    assert added(TRACE) == {"added": 1, "there": 0, "path": "from-traces/questions.jsonl"}
    assert added(TRACE, OTHER) == {"added": 1, "there": 1, "path": "from-traces/questions.jsonl"}
    one, two = read_rows(traced / "from-traces" / "questions.jsonl", Question)
    assert (one.reference, one.metadata["answer"], one.metadata["trace_id"]) == (None, "In spring.", TRACE)
    assert "jo@farm.example" not in one.question
    assert two.question == "Is it?"
    assert "from-traces" in client.get("/workbench/data").text
    for name in ("runs", "../x", ""):
        assert client.post(f"{T}/set", json={"ids": [TRACE], "name": name}).status_code == 422


def test_notes_on_a_trace_and_a_span_are_shown_found_downloaded_and_removed(client, traced):
    note = client.post(
        f"{T}/{TRACE}/notes", json={"text": "Names <wheat>.", "tags": "wrong crop, odd"}
    ).json()
    of_span = {"text": "Slow.", "span": f"{1:016x}"}
    assert client.post(f"{T}/{TRACE}/notes", json=of_span).json()["span"] == f"{1:016x}"
    page = client.get(f"{T}/{TRACE}").text
    assert "Names &lt;wheat&gt;." in page
    assert "wrong crop" in page
    assert "2 notes" in client.get(f"{T}?where=note_tags+%3D+odd").text
    (row,) = map(json.loads, client.get(f"{T}/list.jsonl?where=notes+~+wheat").text.splitlines())
    assert (row["id"], [each["text"] for each in row["notes"]]) == (TRACE, ["Names <wheat>.", "Slow."])
    assert client.post(f"{T}/{TRACE}/notes/remove", json={"id": note["id"]}).status_code == 200
    assert client.post(f"{T}/{TRACE}/notes/remove", json={"id": note["id"]}).status_code == 422
    assert client.post(f"{T}/{TRACE}/notes", json={"text": " "}).status_code == 422
    assert client.post(f"{T}/{'0' * 32}/notes", json={"text": "x"}).status_code == 404


def test_who_may_what(traced):
    (traced / "ragstone.toml").write_text('[serve]\nhost = "0.0.0.0"\n[run]\nname = "mine"\n')
    with peopled(load_settings(traced / "ragstone.toml")) as people:
        reader, ann = people.person("Rea", "reader"), people.person("Ann", "annotator")
        ben, owner = people.person("Ben", "annotator"), people.person("Olu", "owner")
        assert reader.get(T).status_code == 200
        assert "Judge" not in element(reader.get(f"{T}/{TRACE}").text, "Notes")
        assert reader.post(f"{T}/{TRACE}/notes", json={"text": "x"}).status_code == 403
        note = ann.post(f"{T}/{TRACE}/notes", json={"text": "x"}).json()
        assert note["author"] == "Ann"
        assert ben.post(f"{T}/{TRACE}/notes/remove", json={"id": note["id"]}).status_code == 403
        assert owner.post(f"{T}/{TRACE}/notes/remove", json={"id": note["id"]}).status_code == 200
        for path in ("judge", "judge/forecast", "set"):
            body = {"ids": [TRACE], "name": "x", "judges": ["no_refusal"]}
            assert ann.post(f"{T}/{path}", json=body).status_code == 403
        assert ann.get(f"{T}/chosen?act=judge&id={TRACE}").status_code == 403
