"""The questions that failed first: absent before deep, with what was found instead."""

import json

from tests.support.command import ragstone

from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.tables import write_rows


def ranking(question: str, *documents: str) -> Ranking:
    items = [{"document_id": name, "score": 9.0 - place} for place, name in enumerate(documents)]
    return Ranking(question_id=question, retriever="mine", items=items)


def measured(folder, *more: str):
    questions = [Question(id=name, question=f"What of {name}?", document_ids=["d"]) for name in "abc"]
    questions.append(Question(id="x", question="Unanswerable?", answerable=False))
    write_rows(folder / "q.jsonl", questions, Question)
    rankings = [ranking("a", "d", "e"), ranking("b", "e", "d"), ranking("c", "e", "f"), ranking("x", "e")]
    write_rows(folder / "r.jsonl", rankings, Ranking)
    return ragstone("retrieve", "--questions", "q.jsonl", "--rankings", "r.jsonl", *more)


def test_absent_ones_come_before_deep_ones_and_found_ones_are_left_out(folder):
    failed = json.loads(measured(folder, "--json").out)["failed"]
    assert [(one["question_id"], one["rank"], one["first"]) for one in failed] == [
        ("c", None, "e"),
        ("b", 2, "e"),
    ]
    assert failed[0]["relevant"] == ["d"]


def test_the_terminal_names_them_with_what_was_found_first(folder):
    told = measured(folder).out
    lines = told[told.index("The questions that failed first") :].splitlines()
    assert lines[2].split() == ["c", "What", "of", "c?", "d", "absent", "e"]
    assert lines[3].split() == ["b", "What", "of", "b?", "d", "2", "e"]


def test_qrels_say_what_was_wanted(folder):
    (folder / "qrels.txt").write_text("a 0 e 1\nb 0 d 1\nc 0 f 2\n")
    failed = json.loads(measured(folder, "--json", "--qrels", "qrels.txt").out)["failed"]
    assert {one["question_id"]: (one["rank"], one["relevant"]) for one in failed} == {
        "a": (2, ["e"]),
        "b": (2, ["d"]),
        "c": (2, ["f"]),
    }


def test_where_all_is_found_nothing_is_said(folder):
    write_rows(folder / "q.jsonl", [Question(id="a", question="?", document_ids=["d"])], Question)
    write_rows(folder / "r.jsonl", [ranking("a", "d")], Ranking)
    assert "failed first" not in ragstone("retrieve", "--questions", "q.jsonl", "--rankings", "r.jsonl").out
