"""A label file says what its labels are of; one that answers another question is refused."""

import json
import re

import pytest
from tests.support.command import ragstone

from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import judge_names, load_judge
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.records import Label
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables._yes_no import NO, YES
from ragstone.kernel.tables.labels import CRITERIA
from ragstone.kernel.tables.names import fold

STATEMENT = {"id": "1", "question": "Maize is a grass.", "reference": "true", "kind": "true_false"}
NO_SCORE = [
    "question_id,reference\n1,true",
    "question_id,answer\n1,yes",
    "question_id,ground_truth\n1,1",
    "question,answerable\nWho?,true",
    "question_id,latency_s\n1,0.5",
    "question_id,cost_usd\n1,0.5",
    "question_id,page\n1,3",
    "question_id,expected_output\n1,wrong",
    "question_id,chunks\n1,4",
]


@pytest.mark.parametrize("text", NO_SCORE)
def test_a_column_that_is_no_score_by_its_name_is_never_taken_for_one(tmp_path, text, says):
    (tmp_path / "l.csv").write_text(text + "\n")
    with pytest.raises(DataError) as error:
        list(read_rows(tmp_path / "l.csv", Label))
    says(error.value)
    column = text.split(",")[1].split("\n")[0]
    own = list(read_rows(tmp_path / "l.csv", Label, columns={"score": column}))
    assert len(own) == 1


def test_a_column_that_means_something_else_is_not_proposed_either(tmp_path):
    (tmp_path / "l.csv").write_text("question_id,reference\n1,true\n")
    with pytest.raises(DataError) as told:
        list(read_rows(tmp_path / "l.csv", Label))
    assert "score=reference" not in str(told.value)


def test_what_people_label_by_hand_has_columns_named_after_the_metrics_of_shipped_judges():
    metrics = {
        load_judge(name).measures for name in judge_names() if isinstance(load_judge(name), JudgeFields)
    }
    by_people = {
        fold(load_judge(name).measures)
        for name in judge_names()
        if getattr(load_judge(name), "prompt", None) and "@" not in name
    }
    assert metrics
    assert by_people <= CRITERIA.keys()


def test_statements_are_labels_of_their_truth(tmp_path, says):
    rows = [STATEMENT, {**STATEMENT, "id": "2", "reference": "false"}]
    (tmp_path / "facts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    read = list(read_rows(tmp_path / "facts.jsonl", Label))
    assert [(row.metric, row.score) for row in read] == [("true_false", 1), ("true_false", 0)]
    open_one = {**STATEMENT, "id": "3", "kind": "open", "reference": "yes"}
    (tmp_path / "mixed.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, open_one]))
    with pytest.raises(DataError) as error:
        list(read_rows(tmp_path / "mixed.jsonl", Label))
    says(error.value)


def _judged(metric, system="s"):
    row = {"judge": "j", "model": "none", "prompt_version": 1, "status": "scored", "scale": [0, 1]}
    return [
        {**row, "question_id": str(at), "system": system, "metric": metric, "score": at % 2}
        for at in range(4)
    ]


def _labelled(**fields):
    return [{"question_id": str(at), "system": "s", "score": 1, **fields} for at in range(4)]


def _named_after(column):
    return [{"question_id": str(at), "system": "s", column: 1} for at in range(4)]


OTHER_QUESTION = [
    (_judged("correctness"), [STATEMENT], "which statements are true.*--judge true_false"),
    (_judged("true_false", "default"), [{**STATEMENT, "id": "0"}, {**STATEMENT, "id": "1"}], None),
    (_judged("correctness"), _judged("correctness"), "these are judgements of 'j', not labels by people"),
    (
        _judged("correctness"),
        _labelled(metric="relevance"),
        "labels are for relevance, the judgements for corr",
    ),
    (
        _judged("correctness"),
        _named_after("Faithfulness"),
        "labels are for faithfulness, the judgements for correctness.*--column score=Faithfulness",
    ),
    (_judged("correctness"), _named_after("groundedness"), "labels are for faithfulness"),
    (_judged("correctness"), _named_after("tone"), "labels are for tone"),
    (_judged("faithfulness"), _named_after("Correctness"), "labels are for correctness"),
    (_judged("faithfulness"), _named_after("accuracy"), "labels are for correctness"),
    (_judged("Tone"), _named_after("tone"), None),
    (_judged("correctness"), _named_after("Correctness"), None),
    (_judged("faithfulness"), _named_after("groundedness"), None),
    (_judged("correctness"), _named_after("overall"), None),
    (_judged("correctness"), _labelled(system="t"), "judgements are for system s, the labels for system t"),
    (_judged("correctness"), [{"F": "Wie?", "score": 1}, {"F": "Wo?", "score": 1}], "--column question="),
    (_judged("correctness"), _labelled(), None),
    (_judged("correctness"), _labelled(metric="correctness"), None),
]


@pytest.mark.parametrize(("judged", "labelled", "wanted"), OTHER_QUESTION)
def test_labels_of_something_else_are_refused_with_what_to_do(
    tmp_path, monkeypatch, judged, labelled, wanted
):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("j.jsonl", judged), ("l.jsonl", labelled)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = ragstone("agree", "j.jsonl", "l.jsonl", "--json")
    if wanted is None:
        assert ran.code == 0
    else:
        assert ran.code == 2
        assert re.search(wanted, " ".join(ran.err.split()))


def test_a_column_that_the_user_names_holds_labels_of_whatever_is_judged(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, rows in (("j.jsonl", _judged("correctness")), ("l.jsonl", _named_after("faithfulness"))):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = ragstone("agree", "j.jsonl", "l.jsonl", "--json", "--column", "score=faithfulness")
    assert [card["metric"] for card in json.loads(ran.out)] == ["correctness"]


def test_the_columns_that_judge_was_given_are_those_of_agree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "de.csv").write_text(
        "Frage des Kunden,Antwort Bot,Muster,Urteil\nWie hoch?,120 m,120 m,richtig\nWo?,Bonn,Berlin,falsch\n"
    )
    columns = {"question": "Frage des Kunden", "answer": "Antwort Bot", "reference": "Muster"}
    options = [part for pair in columns.items() for part in ("--column", "=".join(pair))]
    assert ragstone("judge", "de.csv", "--judge", "match", *options).code == 0
    for judged in ("runs/de", "runs/de/judgements.jsonl"):
        ran = ragstone("agree", judged, "de.csv", "--json")
        assert [card["n"] for card in json.loads(ran.out)] == [2]


def test_no_word_says_right_and_wrong():
    assert not YES & NO


@pytest.mark.parametrize(
    ("written", "score"),
    [("0,125", 0.125), ("-0,333", -0.333), (",500", 0.5), ("0,5", 0.5), ("1,25", 1.25), ("12,5 %", 0.125)],
)  # fmt: skip
def test_a_decimal_comma_is_read_where_it_can_be_nothing_else(tmp_path, written, score):
    (tmp_path / "l.csv").write_text(f"question_id;score\n1;{written}\n")
    assert [row.score for row in read_rows(tmp_path / "l.csv", Label)] == [pytest.approx(score)]


@pytest.mark.parametrize("written", ["1,250", "12,345", "100,000"])
def test_what_may_be_thousands_is_refused_and_asked_for(tmp_path, written):
    (tmp_path / "l.csv").write_text(f"question_id;score\n1;{written}\n")
    with pytest.raises(DataError, match=re.escape(written)):
        list(read_rows(tmp_path / "l.csv", Label))
