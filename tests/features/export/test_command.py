import pytest
from tests.support import tiny_run as tiny
from tests.support.command import ragstone

from ragstone.kernel.records import Answer

write_run, summary = tiny.write_run, tiny.summary  # fixtures


@pytest.fixture
def folder(write_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return write_run()


def test_export_writes_as_many_files_as_are_named(folder, tmp_path):
    ran = ragstone("export", folder, "a.csv", "out/b.parquet", "c.jsonl")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.splitlines() == ["a.csv: 4 rows.", "out/b.parquet: 4 rows.", "c.jsonl: 4 rows."]
    assert (tmp_path / "out" / "b.parquet").stat().st_size > 1000


def test_export_takes_its_files_as_all_commands_do(folder, tmp_path):
    ran = ragstone("export", folder, "a.csv", "-o", "b.jsonl", "--output", "a.csv")
    assert (ran.code, ran.err.splitlines()) == (0, ["a.csv: 4 rows.", "b.jsonl: 4 rows."])


def test_export_replaces_nothing_unasked(folder, tmp_path, says):
    (tmp_path / "a.csv").write_text("mine")
    ran = ragstone("export", folder, "b.csv", "a.csv")
    assert ran.code == 2
    says(ran.err)
    assert not (tmp_path / "b.csv").exists()  # all are checked before one is written
    assert ragstone("export", folder, "a.csv", "--force").code == 0


def test_export_of_nothing_or_of_no_run_says_what_to_do(folder, says):
    says(ragstone("export", folder).err)
    says(ragstone("export", "runs/none", "a.csv").err)
    ran = ragstone("export", folder, "a.xlsx")
    assert ran.code == 2
    says(ran.err)


def test_export_tells_of_cells_that_excel_cuts(write_run, folder):
    answers = [Answer(question_id="q1", system="rag", answer="long " * 10_000)]
    ran = ragstone("export", write_run(answers=answers), "a.csv", "a.jsonl")
    assert ran.err.count("Longer than Excel shows (32,767 characters): 1 cell;") == 1


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_export_to_mlflow_says_where_the_run_is(folder, tmp_path, monkeypatch, says):
    pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    store = (tmp_path / "mlruns").as_uri()
    says(ragstone("export", folder, "--mlflow").err)
    ran = ragstone("export", folder, "--mlflow", "--tracking-uri", store, "--experiment", "wheat")
    assert (ran.code, "of experiment wheat logged." in ran.err) == (0, True)
    assert (
        "of experiment wheat updated."
        in ragstone("export", folder, "--tracking-uri", store, "--experiment", "wheat").err
    )


def test_export_writes_the_rows_that_a_filter_leaves(folder, says):
    ran = ragstone("export", folder, "a.csv", "--where", "correctness < 0.5")
    assert (ran.code, ran.err.splitlines()) == (0, ["a.csv: 1 row."])
    says(ragstone("export", folder, "b.csv", "--where", "correctnes < 0.5").err)
    says(ragstone("export", folder, "--mlflow", "--where", "correctness < 0.5").err)
