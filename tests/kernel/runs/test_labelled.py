"""Labels of the answers to one question, of the files that a project knows."""

import msgspec

from ragstone.kernel.config import load_settings
from ragstone.kernel.records import Label
from ragstone.kernel.runs.labelled import label_files, labels_of_row
from ragstone.kernel.tables import write_rows

ANSWERS = {"a": "Yes.", "b": "No."}


def label(system: str = "a", score: float = 1, **more: object) -> Label:
    return Label(question_id="q1", system=system, score=score, **more)  # type: ignore[arg-type]


def test_a_label_is_of_this_answer_or_left_out(tmp_path):
    rows = [
        label(annotator="ann", metric="correctness", rationale="right", metadata={"answer": "Yes."}),
        label(annotator="ben", metadata={"answer": "Yes, it is."}),  # of an earlier run of this system
        label("b", 0),  # tells no text
        label("c"),  # no system of this run
        msgspec.structs.replace(label(), question_id="q2"),
        label(annotator="adjudicator Olga", metadata={"answer": "Yes."}),
    ]
    write_rows(tmp_path / "x.jsonl", rows, Label)
    found, wrong = labels_of_row({"x": tmp_path / "x.jsonl", "none": tmp_path / "y.jsonl"}, "q1", ANSWERS)
    assert wrong == []
    assert [(one.system, one.annotator, one.has_text, one.settles) for one in found] == [
        ("a", "ann", True, False),
        ("b", None, False, False),
        ("a", "adjudicator Olga", True, True),
    ]
    assert (found[0].source, found[0].metric, found[0].rationale) == ("x", "correctness", "right")


def test_the_files_of_a_project_are_each_there_once(tmp_path):
    (tmp_path / "labels").mkdir()
    for name in ("first", "own"):
        (tmp_path / "labels" / f"{name}.jsonl").write_text("")
    named = {"agree": "labels/own.jsonl", "gate": "pairs.jsonl", "blame": "pairs.jsonl"}
    tables = (f'[{table}]\nlabels = "{name}"\n' for table, name in named.items())
    (tmp_path / "ragstone.toml").write_text("".join(tables))
    files = label_files(load_settings(tmp_path / "ragstone.toml"))
    assert {name: path.relative_to(tmp_path).as_posix() for name, path in files.items()} == {
        "first": "labels/first.jsonl",
        "own": "labels/own.jsonl",
        "pairs.jsonl": "pairs.jsonl",
    }
