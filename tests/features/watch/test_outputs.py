"""What `ragstone watch` writes: the page, the work list of gaps, an evaluation set with its answers."""

import csv
import json

import pytest
from tests.support.command import ragstone
from tests.support.monitor_store import fill, row

from ragstone.kernel.records import Answer, Question
from ragstone.kernel.serve.keys import as_bearer
from ragstone.kernel.tables import read_rows

ROWS = [
    row(f"x{n}", question=question, answered=int(n > 2), faithfulness=1, tags={"crop": "tea"})
    for n, question in enumerate(
        ("Which worms do goats get?", "Is lime good for fields?", "Does snow harm garlic?", "Who sows tea?")
    )
]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragstone.toml").write_text('[monitor]\nmodel = "openai/fake"\njudges = ["answered"]\n')
    fill(tmp_path / ".ragstone" / "monitor", ROWS).close()


def test_the_page_and_the_gaps_are_told(tmp_path, says):
    ran = ragstone("watch", "--gaps", "gaps.csv", "--all")
    assert ran.code == 0
    assert "Gaps since 2026-02-02" in ran.out
    says(ran.err)
    assert "monitor.html" in ran.err
    assert (tmp_path / ".ragstone" / "monitor" / "monitor.html").is_file()
    with (tmp_path / "gaps.csv").open(encoding="utf-8-sig", newline="") as file:
        assert len(list(csv.DictReader(file))) == 3
    again = ragstone("watch", "--gaps", "gaps.csv")
    assert (again.code, "--force" in again.err) == (2, True)
    assert ragstone("watch", "--gaps", "gaps.csv", "--force").code == 0
    assert len(json.loads(ragstone("watch", "--json").out)["gaps"]["gaps"]) == 3


def test_questions_go_into_a_set_with_their_answers(tmp_path, says):
    ran = ragstone("watch", "--questions", "set/questions.jsonl", "--count", 3, "--by", "frequency")
    assert ran.code == 0
    says(ran.err)
    questions = list(read_rows(tmp_path / "set" / "questions.jsonl", Question))
    answers = list(read_rows(tmp_path / "set" / "answers.jsonl", Answer))
    assert [one.id for one in questions] == [one.question_id for one in answers]
    assert questions[0].tags == {"crop": "tea"}


@pytest.mark.parametrize(
    "options",
    [
        ("logs/day.jsonl", "--questions", "logs/day.jsonl"),
        ("logs", "--gaps", "logs/gaps.csv"),
        ("logs/../logs/day.answers.jsonl", "--questions", "logs/day.jsonl"),
    ],
)
def test_not_even_force_replaces_the_log_or_writes_into_it(tmp_path, options, says):
    (tmp_path / "logs").mkdir()
    for name in ("day.jsonl", "day.answers.jsonl"):
        (tmp_path / "logs" / name).write_text(
            '{"question": "When is wheat sown?", "answer": "In October."}\n'
        )
    before = {path: path.read_bytes() for path in (tmp_path / "logs").iterdir()}
    ran = ragstone("watch", *options, "--judge", "no_refusal", "--force")
    assert ran.code == 2
    says(ran.err)
    assert {path: path.read_bytes() for path in (tmp_path / "logs").iterdir()} == before


def test_gaps_and_questions_are_two_files(tmp_path):
    ran = ragstone("watch", "--gaps", "one.jsonl", "--questions", "one.jsonl")
    assert (ran.code, "is given twice" in ran.err) == (2, True)


def test_a_browsers_password_is_a_key():
    assert as_bearer("Basic YW5uYTprZXk6MQ==") == "Bearer key:1"  # anna:key:1
    assert as_bearer("Bearer k") == "Bearer k"
    assert as_bearer("Basic ???") is None
