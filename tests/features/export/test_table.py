"""The table of a run as files that other programs open."""

import csv

import msgspec
import polars
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.tiny_run import JUDGEMENTS, summary_of

import ragstone
from ragstone.features.export.table import MOST_IN_A_CELL, export_table, n_cut_by_excel
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Context
from ragstone.kernel.tables.cells import FORMULA

FORMULAS = ["=1+1", "+1x", "-x", "@SUM(A1)", "\t=1", "\r=1", "＝1+1", '=HYPERLINK("http://x","y")']


@pytest.fixture
def run(write_run):
    return ragstone.read_run(write_run())


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "T.CSV"])
def test_every_row_is_there_and_can_be_judged_again(run, tmp_path, name):
    assert export_table(run, tmp_path / name) == 4
    sheet = list(ragstone.read_rows(tmp_path / name, ragstone.Answer))
    assert [row.question_id for row in sheet] == ["q1", "q2", "q3", "q4 & 5"]
    assert [row.answer for row in sheet] == [row.answer for row in run.answers]
    assert [row.contexts for row in sheet] == [row.contexts for row in run.answers]
    assert sheet[0].tags == {"crop": "wheat"}
    assert sheet[0].reference == "with fungicide"
    judged = ragstone.judge(sheet, judges=["containment"])
    assert judged[0].score == 1


def test_csv_is_read_by_a_spreadsheet_as_it_is(run, tmp_path, says):
    export_table(run, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes().startswith(b"\xef\xbb\xbfquestion_id,")
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    says(rows[1]["question"])
    assert (rows[0]["correctness"], rows[2]["correctness"]) == ("1.0", "")
    assert msgspec.json.decode(rows[0]["contexts"])[0]["document_id"] == "wheat"
    assert polars.read_csv(tmp_path / "t.csv").columns == [*run.table().columns(), "guarded_cells"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_and_no_head_of_a_csv_is_a_formula(write_run, tmp_path, text):
    rows = [msgspec.structs.replace(JUDGEMENTS[0], judge=text, rationale=text, metric="m")]
    answer = Answer(question_id="q1", system=text, answer=text, contexts=[Context(text=text)], error=None)
    run = ragstone.read_run(write_run(judgements=rows, answers=[answer], summary=summary_of(rows)))
    export_table(run, tmp_path / "t.csv", force=True)
    with (tmp_path / "t.csv").open(encoding="utf-8-sig", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert f"'{text}" in cells
    assert not [cell for cell in cells if cell.startswith(FORMULA)]


@pytest.mark.long
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_jsonl_and_parquet_keep_every_text_as_it_is(write_run, tmp_path, text):
    run = ragstone.read_run(write_run(answers=[Answer(question_id="q1", system="rag", answer=text)]))
    export_table(run, tmp_path / "t.jsonl", force=True)
    export_table(run, tmp_path / "t.parquet", force=True)
    first = msgspec.json.decode((tmp_path / "t.jsonl").read_bytes().split(b"\n")[0])
    assert first["answer"] == pq.read_table(tmp_path / "t.parquet")["answer"][0].as_py() == text


def test_parquet_has_numbers_as_numbers_and_contexts_as_structs(run, tmp_path):
    export_table(run, tmp_path / "t.parquet")
    frame = polars.read_parquet(tmp_path / "t.parquet")
    assert frame["correctness"].to_list() == [1.0, 0.0, None, None]
    assert frame["found_rank"].to_list() == [1, 2, None, 0]
    assert frame["contexts"][0].struct.field("document_id").to_list() == ["wheat", "soil"]
    assert frame.columns == list(run.table().columns())


def test_a_file_that_exists_is_not_touched_without_force(run, tmp_path, says):
    (tmp_path / "t.csv").write_text("mine")
    with pytest.raises(DataError) as error:
        export_table(run, tmp_path / "t.csv")
    says(error.value)
    assert (tmp_path / "t.csv").read_text() == "mine"
    export_table(run, tmp_path / "t.csv", force=True)
    assert not list(tmp_path.glob("*.partial"))


def test_rows_of_the_run_itself_are_never_replaced(run, tmp_path, says):
    before = (run.folder / "answers.jsonl").read_bytes()
    with pytest.raises(DataError) as error:
        export_table(run, run.folder / "answers.jsonl", force=True)
    says(error.value)
    assert (run.folder / "answers.jsonl").read_bytes() == before
    assert export_table(run, run.folder / "table.jsonl") == 4


def test_an_unknown_ending_is_told_with_those_that_are_known(run, tmp_path, says):
    with pytest.raises(DataError) as error:
        export_table(run, tmp_path / "t.xlsx")
    says(error.value)


def test_cells_that_excel_would_cut_are_counted(write_run):
    answers = [Answer(question_id="q1", system="rag", answer="x" * (MOST_IN_A_CELL + n)) for n in (0, 1)]
    counts = [n_cut_by_excel(ragstone.read_run(write_run(answers=[row])).table()) for row in answers]
    assert counts == [0, 1]


def test_a_filter_leaves_its_rows_in_the_order_of_the_table(run, tmp_path):
    assert export_table(run, tmp_path / "t.jsonl", where="correctness = none and crop != wheat") == 2
    sheet = list(ragstone.read_rows(tmp_path / "t.jsonl", ragstone.Answer))
    assert [row.question_id for row in sheet] == ["q3", "q4 & 5"]
    assert [row["question_id"] for row in run.where("crop = wheat")] == ["q1"]
    assert run.where("crop = rye").columns() == run.table().columns()


def test_a_filter_that_cannot_be_read_writes_nothing(run, tmp_path):
    with pytest.raises(DataError, match="at character 1"):
        export_table(run, tmp_path / "t.csv", where="correctnes < 1")
    assert list(tmp_path.glob("t.*")) == []
