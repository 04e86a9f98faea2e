"""A sheet is read once, however often its rows are looked through; most of a large one is not in memory."""

import datetime
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from tests.support.command import ragstone

from ragstone.features.judge import _sheet as module
from ragstone.features.judge._sheet import AnswerSheet
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.tables import formats, reading, write_rows


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


@pytest.mark.parametrize("form", ["jsonl", "csv", "json"])
@pytest.mark.parametrize("to_file", [True, False])
def test_a_command_converts_each_row_of_its_sheet_once(form, to_file, tmp_path, monkeypatch, fake_openai):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(module, "BLOCK", 4)  # most of it is spilled
    columns = ("id", "question", "reference", "answer")
    rows = [dict.fromkeys(columns, "At V6.") | {"id": f"q{n}"} for n in range(11)]
    sheet = tmp_path / f"sheet.{form}"
    if form == "csv":
        lines = [",".join(columns), *(",".join(row.values()) for row in rows)]
        sheet.write_text("\n".join(lines))
    elif form == "json":
        sheet.write_bytes(msgspec.json.encode(rows))
    else:
        sheet.write_bytes(msgspec.json.Encoder().encode_lines(rows))
    n_converted, opened = Counter(), []
    convert, open_bytes = reading._RowReader._converted, formats.open_bytes

    def counted(reader: reading._RowReader, raw: object) -> object:
        n_converted[reader._where] += 1
        return convert(reader, raw)

    monkeypatch.setattr(reading._RowReader, "_converted", counted)
    monkeypatch.setattr(formats, "open_bytes", lambda path: opened.append(path) or open_bytes(path))
    # A forecast, a baseline, a stack and a judge that asks: each looks through all rows.
    judges = [part for name in ("match", "right", "correctness") for part in ("--judge", name)]
    output = ["-o", "j.jsonl"] if to_file else []
    assert ragstone("judge", sheet.name, *judges, "--model", "openai/fake", *output).code in (0, 5)
    assert n_converted[sheet.name] == 11
    assert [path.name for path in opened].count(sheet.name) == 1
