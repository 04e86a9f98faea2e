"""A sheet is read once, however often its rows are looked through; most of a large one is not in memory."""

import datetime
from pathlib import Path

import pytest

from ragstone.features.judge import _sheet as module
from ragstone.features.judge._sheet import AnswerSheet
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.tables import write_rows


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files with three answers each."""
    paths = [tmp_path / "first.jsonl", tmp_path / "second.jsonl"]
    for path in paths:
        write_rows(path, [Answer(question_id=f"{path.stem}{n}", answer="a") for n in range(3)], Answer)
    return paths


def test_files_are_read_once_and_only_when_rows_are_needed(files, monkeypatch):
    n_read = []
    read_rows = module.read_rows
    monkeypatch.setattr(module, "read_rows", lambda *args: n_read.append(args[0]) or read_rows(*args))
    sheet = AnswerSheet([*files, files[0]])
    assert n_read == []
    assert len(sheet) == len(list(sheet)) == len(list(sheet)) == 6
    assert n_read == files


def test_a_large_sheet_gives_the_same_rows_as_a_small_one(files, monkeypatch):
    rows = list(AnswerSheet(files))
    monkeypatch.setattr(module, "BLOCK", 2)
    sheet = AnswerSheet(files)
    assert (list(sheet), len(sheet), list(sheet)) == (rows, 6, rows)
    assert list(zip(sheet, sheet, strict=True)) == list(zip(rows, rows, strict=True))
    assert len(sheet._read()) == 2


def test_values_of_other_columns_keep_their_types_beyond_memory(files, monkeypatch):
    day = datetime.date(2026, 11, 26)
    made = [Answer(question_id=f"q{n}", answer="a", metadata={"day": day, "n": n}) for n in range(5)]
    monkeypatch.setattr(module, "BLOCK", 2)
    monkeypatch.setattr(module, "read_rows", lambda *_args: iter(made))
    assert list(AnswerSheet(files[0])) == made


def test_a_limit_and_questions_hold_for_all_files(files, tmp_path):
    question = Question(id="second0", question="Why?", reference="So.", document_ids=["d1"])
    write_rows(tmp_path / "questions.jsonl", [question], Question)
    *_rest, last = AnswerSheet(files, questions=tmp_path / "questions.jsonl", limit=4)
    assert (last.question_id, last.question, last.reference) == ("second0", "Why?", "So.")
    assert last.metadata == {"document_ids": ["d1"]}


def test_a_row_that_cannot_be_read_stops_before_the_first_is_given(files):
    files[1].write_text('{"question_id": "q", "answer": 1}\n{"question_id"\n')
    sheet = AnswerSheet(files)
    for _ in range(2):
        with pytest.raises(DataError):
            next(iter(sheet))
