"""`ragstone data diff`: rows added, changed, dropped, and which figures of which runs still compare."""

import json

import msgspec
import pytest
from tests.support.command import ragstone

import ragstone as api
from ragstone.kernel.engine.digests import hexdigest
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Document, Evidence, Question
from ragstone.kernel.tables import write_rows

A = [
    Question(id="mill", question="When was it built?", reference="1843", document_ids=["d1"]),
    Question(id="wheel", question="How fast was it?", reference="12", document_ids=["d1"]),
    Question(id="bread", question="Who bought bread?", reference="30 villages", document_ids=["d2"]),
    Question(id="ferry", question="What crossed the river?", reference="a ferry"),
]
B = [
    A[0],
    msgspec.structs.replace(A[1], reference="15", tags={"part": "wheel"}),
    msgspec.structs.replace(A[2], id="bread-2"),
    Question(id="dam", question="Who built the dam?", reference="nobody"),
]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_rows("a.jsonl", A, Question)
    write_rows("b.jsonl", B, Question)
    return tmp_path


def run_of(name, questions, folder):
    place = folder / "runs" / name
    place.mkdir(parents=True)
    write_rows(place / "questions.jsonl", questions, Question)
    digest = hexdigest((place / "questions.jsonl").read_bytes())
    (place / "manifest.json").write_text(json.dumps({"files": {"questions.jsonl": digest}}))
    return place


def test_rows_are_added_changed_and_dropped_and_an_id_that_changed_is_known_by_its_text(files):
    diff = api.diff_sets("a.jsonl", "b.jsonl")
    assert (diff.n_a, diff.n_b, diff.same, diff.added, diff.dropped) == (4, 4, 1, ["dam"], ["ferry"])
    wheel, bread = diff.changed
    assert [(change.field, change.a, change.b) for change in wheel.changes] == [
        ("reference", ["12"], ["15"]),
        ("tags", None, {"part": "wheel"}),
    ]
    assert (bread.id, bread.id_b, bread.changes) == ("bread", "bread-2", [])
    assert diff.fields == {"reference": 1, "tags": 1}
    assert diff.runs == []


def test_a_text_that_several_rows_have_pairs_none_of_them(files):
    twins = [Question(id=name, question="Why?", reference="so") for name in ("one", "two")]
    write_rows("c.jsonl", twins, Question)
    write_rows("d.jsonl", [msgspec.structs.replace(twins[0], id="three")], Question)
    diff = api.diff_sets("c.jsonl", "d.jsonl")
    assert (diff.added, diff.dropped, diff.changed) == (["three"], ["one", "two"], [])


def test_runs_compare_on_questions_that_say_the_same_and_ranks_only_with_the_same_evidence(files, says):
    moved = msgspec.structs.replace(A[0], evidence=[Evidence(document_id="d1", start=5, end=9)])
    write_rows("moved.jsonl", [moved, *B[1:]], Question, force=True)
    run_of("old", A, files)
    run_of("new", [moved, *B[1:]], files)
    run_of("other", [Question(id="x", question="Other?")], files)
    broken = run_of("edited", A, files)
    write_rows(broken / "questions.jsonl", A[:1], Question, force=True)
    diff = api.diff_sets("a.jsonl", "moved.jsonl", runs="runs")
    standing = {row.run.rpartition("/")[2]: row for row in diff.runs}
    assert [standing[name].version for name in ("old", "new", "other", "edited")] == [
        "A",
        "B",
        "neither",
        "unknown",
    ]
    # mill alone says the same in both; its evidence does not.
    assert [(standing[name].n_scores, standing[name].n_ranks) for name in ("old", "new")] == [(1, 0), (1, 0)]
    assert (standing["other"].n_scores, standing["edited"].n_questions) == (0, 0)
    done = ragstone("data", "diff", "a.jsonl", "moved.jsonl")
    says(done.out + done.err)
    assert len(done.out.splitlines()) <= 25


def test_a_run_whose_questions_differ_in_evidence_alone_is_of_the_version_with_its_evidence(files):
    def at(start):
        span = Evidence(document_id="d1", start=start, end=start + 4)
        return [msgspec.structs.replace(A[0], evidence=[span]), *A[1:]]

    write_rows("m.jsonl", at(5), Question)
    write_rows("n.jsonl", at(6), Question)
    for name, rows in (("m", at(5)), ("n", at(6)), ("other", at(7))):
        run_of(name, rows, files)
    standing = {
        row.run.rpartition("/")[2]: row for row in api.diff_sets("m.jsonl", "n.jsonl", runs="runs").runs
    }
    assert [standing[name].version for name in ("m", "n", "other")] == ["A", "B", "A and B"]
    assert {row.n_ranks for row in standing.values()} == {3}
    same = api.diff_sets("m.jsonl", "m.jsonl", runs="runs")
    assert {row.run.rpartition("/")[2]: row.n_ranks for row in same.runs} == {"m": 4, "n": 3, "other": 3}


def test_where_the_evidence_alone_was_placed_anew_all_scores_compare(files):
    row = msgspec.structs.replace(A[0], metadata={"evidence_sources": [], "refresh": {"state": "moved"}})
    write_rows("e.jsonl", [row, *A[1:]], Question)
    run_of("old", A, files)
    diff = api.diff_sets("a.jsonl", "e.jsonl", runs="runs")
    assert (diff.same, diff.changed) == (4, [])
    assert (diff.runs[0].version, diff.runs[0].n_scores, diff.runs[0].n_ranks) == ("A and B", 4, 4)


def test_the_same_file_twice_and_runs_as_versions(files, says):
    done = ragstone("data", "diff", "a.jsonl", "a.jsonl")
    assert done.code == 0
    says(done.out)
    old, new = run_of("old", A, files), run_of("new", B, files)
    told = json.loads(ragstone("data", "diff", old, new, "--json").out)
    assert (told["kind"], told["added"], len(told["runs"])) == ("questions", ["dam"], 2)


def test_columns_are_chosen_as_for_other_commands(files):
    (files / "old.csv").write_text("Nr,Worum es geht\n1,When?\n2,Why?\n")
    (files / "new.csv").write_text("Nr,Worum es geht\n1,When?\n2,Why not?\n")
    columns = ("--column", "question=Worum es geht", "--column", "id=Nr")
    told = json.loads(ragstone("data", "diff", "old.csv", "new.csv", *columns, "--json").out)
    assert told["fields"] == {"question": 1}


def test_documents_are_compared_too(files):
    write_rows("d1.jsonl", [Document(id="x", text="One."), Document(id="y", text="Two.")], Document)
    write_rows("d2.jsonl", [Document(id="x", text="One!"), Document(id="z", text="Two.")], Document)
    diff = api.diff_sets("d1.jsonl", "d2.jsonl")
    assert (diff.kind, diff.fields) == ("documents", {"text": 1})
    assert [(row.id, row.id_b) for row in diff.changed] == [("x", None), ("y", "z")]


@pytest.mark.long
def test_a_long_screen_stays_a_screen(files):
    many = [Question(id=f"q{at}", question=f"Question {at}?", reference="a " * 200) for at in range(300)]
    write_rows("m.jsonl", many, Question)
    other = [msgspec.structs.replace(row, reference="b " * 200) for row in many[:200]]
    write_rows("n.jsonl", other, Question)
    for at in range(30):
        run_of(f"r{at}", many, files)
    done = ragstone("data", "diff", "m.jsonl", "n.jsonl")
    assert len(done.out.splitlines()) <= 25


def test_bad_input_gets_one_sentence(files):
    write_rows("sheet.jsonl", [Answer(question_id="mill", answer="1843", question="When?")], Answer)
    write_rows("docs.jsonl", [Document(id="x", text="One.")], Document)
    (files / "empty.jsonl").write_text("")
    row = (files / "a.jsonl").read_text().splitlines()[0]
    (files / "twice.jsonl").write_text(f"{row}\n{row}\n")
    (files / "runs" / "judged").mkdir(parents=True)
    (files / "runs" / "judged" / "summary.json").write_text("{}")
    for other, said in (
        ("sheet.jsonl", "sheet.jsonl holds answers. Give two files of questions or of documents"),
        ("docs.jsonl", "a.jsonl holds questions and docs.jsonl holds documents"),
        ("none.jsonl", "none.jsonl"),
        ("empty.jsonl", "the file is empty"),
        ("twice.jsonl", "mill"),
        ("runs/judged", "this run has no file of questions"),
    ):
        done = ragstone("data", "diff", "a.jsonl", other)
        assert (done.code, said in done.err) == (2, True), done.err
    assert ragstone("data", "diff", "a.jsonl", "b.jsonl", "--runs", "nowhere").code == 2
    with pytest.raises(DataError, match="no such folder"):
        api.diff_sets("a.jsonl", "b.jsonl", runs="nowhere")
