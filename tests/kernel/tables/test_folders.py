"""The folder of an assistant's log, read as one file of rows."""

from pathlib import Path

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Label, Question
from ragstone.kernel.tables import read_rows


def log_in(folder: Path) -> Path:
    for stamp, ids in (("20260101T000000-10", "cd"), ("20260101T000000-9", "b"), ("20251231T235959-1", "a")):
        rows = "".join(f'{{"question_id": "{one}", "answer": "x"}}\n' for one in ids)
        (folder / f"exchanges-{stamp}.jsonl").write_text(rows)
    (folder / "feedback-20260101T000000-1.jsonl").write_text('{"question_id": "a", "score": 1}\n')
    (folder / "exchanges-notes.jsonl").write_text("not of the log\n")
    return folder


def test_exchanges_are_answers_in_the_order_of_their_files_and_feedback_is_labels(
    tmp_path: Path, says
) -> None:
    folder = log_in(tmp_path)
    assert [row.question_id for row in read_rows(folder, Answer)] == ["a", "b", "c", "d"]
    assert [(row.question_id, row.score) for row in read_rows(folder, Label)] == [("a", 1.0)]
    with pytest.raises(DataError) as error:
        list(read_rows(folder, Question))
    says(error.value)


def test_a_line_that_is_still_written_is_passed_over_and_a_broken_one_is_named(tmp_path: Path) -> None:
    folder = log_in(tmp_path)
    last = folder / "exchanges-20260101T000000-10.jsonl"
    with last.open("a") as file:
        file.write('{"question_id": "e"')
    assert len(list(read_rows(folder, Answer))) == 4
    with last.open("a") as file:
        file.write("\n")
    with pytest.raises(DataError, match=r"exchanges-20260101T000000-10\.jsonl, line 3"):
        list(read_rows(folder, Answer))
