"""`ragstone sample --feedback`: four files, then what labels and a run say."""

import json

import pytest
from tests.support.command import ragstone

from ragstone.kernel.records import Answer, Label, Question
from ragstone.kernel.tables import read_rows

WITH = ("sample", "logs", "--feedback", "-o", "fb/questions.jsonl")


@pytest.fixture
def logs(folder):
    (folder / "logs").mkdir()
    rows = [
        {"question_id": f"x{n}", "question": f"When is crop {n} sown?", "answer": f"In week {n}."}
        for n in range(30)
    ]
    said = [
        {
            "question_id": f"x{n}",
            "metric": "thumb",
            "score": float(n % 2),
            "rationale": None if n % 2 else "In May.",
        }
        for n in range(6)
    ]
    for name, some in (("exchanges-1", rows), ("feedback-1", said)):
        (folder / "logs" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in some))
    return folder


def fill(path):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["score"] = int(row["question_id"] != "x0")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_feedback_becomes_questions_answers_labels_and_a_queue(logs, says):
    ran = ragstone(*WITH, "--count", 12)
    assert ran.code == 0
    says(ran.out)
    says(ran.err)
    assert {one.reference for one in read_rows("fb/questions.jsonl", Question)} == {"In May."}
    assert sum(1 for _ in read_rows("fb/thumbs.jsonl", Label)) == 6
    sheet = {row.question_id for row in read_rows("fb/answers.jsonl", Answer)}
    queue = [json.loads(line) for line in (logs / "fb" / "to-label.jsonl").read_text().splitlines()]
    assert {row["question_id"] for row in queue} <= sheet
    assert (len(queue), {row["score"] for row in queue}) == (12, {None})
    assert ragstone(*WITH, "--count", 13).code == 2  # files of another draw are kept
    assert ragstone(*WITH, "--count", 13, "--force").code == 0


def test_files_in_the_folder_of_the_log_are_refused(logs, says):
    ran = ragstone("sample", "logs", "--feedback", "-o", "logs/deep/questions.jsonl")
    assert ran.code == 2
    says(ran.err)
    assert len(list((logs / "logs").iterdir())) == 2


def test_labels_give_the_share_of_right_answers_and_write_nothing(logs, says):
    ragstone(*WITH, "--count", 30)
    fill(logs / "fb" / "to-label.jsonl")
    before = {path: path.read_bytes() for path in (logs / "fb").iterdir()}
    ran = ragstone("sample", "logs", "--feedback", "--labels", "fb/to-label.jsonl")
    assert ran.code == 0
    says(ran.out)
    assert {path: path.read_bytes() for path in (logs / "fb").iterdir()} == before
    ran = ragstone("sample", "logs", "--feedback", "--labels", "fb/to-label.jsonl", "--json")
    rate = json.loads(ran.out)["rate"]
    assert rate["right"]["value"] == pytest.approx(29 / 30)


@pytest.mark.parametrize(
    "options",
    [
        ("--feedback", "--by", "random"),
        ("--feedback", "--tag", "crop"),
        ("--labels", "l.jsonl"),
        ("--run", "a"),
    ],
)
def test_options_that_do_not_go_together_are_refused(logs, says, options):
    ran = ragstone("sample", "logs", *options)
    assert ran.code == 2
    says(ran.err)
