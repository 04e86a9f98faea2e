"""`ragstone note`."""

import json

import pytest
from tests.support import tiny_run as tiny
from tests.support.command import ragstone
from tests.support.spans import TRACE, asked

from ragstone.kernel.runs.joined import read_run
from ragstone.kernel.runs.notes import read_notes

write_run, summary = tiny.write_run, tiny.summary  # fixtures


@pytest.fixture
def folder(write_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_run()


def test_notes_are_written_listed_filtered_exported_and_removed(folder, tmp_path):
    ran = ragstone("note", folder, "q1", "Names wheat.", "--tag", "wrong crop", "--author", "ann", "--json")
    made = json.loads(ran.out)
    assert (ran.code, made["text"], made["tags"], made["author"]) == (
        0,
        "Names wheat.",
        ["wrong crop"],
        "ann",
    )
    assert ragstone("note", folder, "q2", "--system", "rag", "--tag", "vague").code == 0
    assert [note["question_id"] for note in json.loads(ragstone("note", folder, "--json").out)] == [
        "q1",
        "q2",
    ]
    assert "wrong crop" in ragstone("note", folder, "--tag", "wrong crop").out
    assert "vague" not in ragstone("note", folder, "--tag", "wrong crop").out
    ragstone("export", folder, "a.jsonl", "--where", "notes ~ wheat")
    row = json.loads((tmp_path / "a.jsonl").read_text())
    assert (row["question_id"], row["notes"], row["note_tags"]) == ("q1", ["Names wheat."], ["wrong crop"])
    assert ragstone("note", folder, "--remove", made["id"]).code == 0
    assert [note.tags for note in read_run(folder).notes] == [["vague"]]


@pytest.mark.parametrize(
    "given",
    [
        ["q1"],
        ["q9", "text"],
        ["q1", "text", "--system", "other"],
        ["--author", "ann"],
        ["--remove", "0123"],
        ["q1", "text", "--remove", "0123"],
    ],
)
def test_what_cannot_be_written_is_said(folder, given, says):
    ran = ragstone("note", folder, *given)
    assert ran.code == 2
    says(ran.err)
    assert read_run(folder).notes == []


def test_a_run_without_notes_says_how_to_write_one(folder, says):
    says(ragstone("note", folder).err)


def test_a_file_of_notes_that_is_broken_is_named(folder, says):
    (folder / "notes.jsonl").write_text('{"id": 1}\n')
    says(ragstone("note", folder).err)


@pytest.fixture
def traces(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / ".ragstone" / "traces"
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(asked("Is it?", "It is.") + b"\n")
    return folder


def test_notes_on_traces_are_those_that_the_workbench_shows(traces, tmp_path):
    assert ragstone("note", traces, TRACE, "Odd.", "--tag", "vague", "--author", "ann").code == 0
    assert ragstone("note", traces / "a.jsonl", TRACE, "Slow.", "--span", f"{1:016x}").code == 0
    notes = json.loads(ragstone("note", traces, "--json").out)
    assert [(note["question_id"], note["text"], note.get("span")) for note in notes] == [
        (TRACE, "Odd.", None),
        (TRACE, "Slow.", f"{1:016x}"),
    ]
    assert [note.text for note in read_notes(tmp_path / ".ragstone" / "workbench" / "traces")] == [
        "Odd.",
        "Slow.",
    ]
    assert ragstone("note", traces, "--remove", notes[0]["id"]).code == 0
    assert len(json.loads(ragstone("note", traces, "--json").out)) == 1


@pytest.mark.parametrize(
    "given",
    [
        ["0" * 32, "text"],
        [TRACE, "text", "--span", "5"],
        [TRACE, "text", "--system", "rag"],
        [TRACE],
        ["--remove", "0123"],
    ],
)
def test_what_cannot_be_written_on_a_trace_is_said(traces, given, says):
    ran = ragstone("note", traces, *given)
    assert ran.code == 2
    says(ran.err)


def test_a_span_is_of_a_trace(folder, says):
    ran = ragstone("note", folder, "q1", "text", "--span", "5")
    assert ran.code == 2
    says(ran.err)
