"""A run in MLflow: a real store in a folder, and servers that are not there or are no MLflow."""

import http.server
import os
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest
from tests.support.tiny_run import JUDGEMENTS, MODEL, judgement, summary_of

import ragstone
from ragstone.features.export.mlflow import PATIENCE, TABLE, log_to_mlflow, made_from, metrics_of, params_of
from ragstone.kernel.errors import DataError, MissingExtra

pytest.importorskip("mlflow")
MANIFEST = {
    "settings": {"retrieve": {"retriever": "bm25", "k": 5}, "answer": {"model": MODEL, "prompt": "strict"}},
    "judges": {"correctness": {"version": 1, "digest": "ab12"}},
    "prompt": {"name": "strict", "version": 1, "digest": "cd34"},
    "files": {"answers.jsonl": "ef56"},
}


@pytest.fixture
def run(write_run):
    folder = write_run()
    (folder / "manifest.json").write_bytes(msgspec.json.encode(MANIFEST))
    (folder / "report.html").write_text("<p>The report.</p>")
    return ragstone.read_run(folder)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A folder that MLflow keeps runs in; the server's database would need more than mlflow-skinny."""
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    return (tmp_path / "mlruns").as_uri()


def client_of(store):
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=store)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_numbers_settings_table_and_report_are_there(run, store, tmp_path, says):
    tracked = log_to_mlflow(run, tracking_uri=store)
    assert not tracked.updated
    there = client_of(store).get_run(tracked.run_id)
    assert there.info.status == "FINISHED"
    assert there.info.run_name == "Wheat and maize"
    metrics = there.data.metrics
    assert metrics["correctness/mean"] == 0.5
    assert metrics["correctness/low"] < 0.5 < metrics["correctness/high"]
    assert (metrics["correctness/n"], metrics["correctness/rows"]) == (2, 4)
    assert there.data.params["k"] == "5"
    assert there.data.params["judge.correctness"] == "version 1, ab12"
    files = {file.path for file in client_of(store).list_artifacts(tracked.run_id)}
    assert files == {TABLE, "summary.json", "manifest.json", "report.html"}
    path = client_of(store).download_artifacts(tracked.run_id, TABLE, str(tmp_path))
    table = msgspec.json.decode(Path(path).read_bytes())
    assert table["columns"] == list(run.table().columns())
    assert len(table["data"]) == 4
    says(there.data.tags["mlflow.loggedArtifacts"])


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_the_same_run_again_updates_the_one_that_is_there(run, store):
    first = log_to_mlflow(run, tracking_uri=store)
    again = log_to_mlflow(run, tracking_uri=store)
    assert (again.run_id, again.updated) == (first.run_id, True)
    client = client_of(store)
    experiment = client.get_experiment_by_name("ragstone")
    assert len(client.search_runs([experiment.experiment_id])) == 1
    assert len(client.get_metric_history(first.run_id, "correctness/mean")) == 1
    changed = MANIFEST | {"files": {"answers.jsonl": "other"}}
    (run.folder / "manifest.json").write_bytes(msgspec.json.encode(changed))
    other = log_to_mlflow(ragstone.read_run(run.folder), tracking_uri=store, experiment="ragstone")
    assert (other.updated, other.run_id == first.run_id) == (False, False)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_experiment_and_store_are_those_that_are_named_or_of_the_environment(run, store, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "wheat")
    assert log_to_mlflow(run).experiment == "wheat"
    assert log_to_mlflow(run, experiment="maize").experiment == "maize"
    assert not PATIENCE.keys() & os.environ.keys()


def test_a_summary_of_other_calls_is_the_same_run(run):
    before = made_from(run.folder)
    (run.folder / "summary.json").write_bytes(b"{}")
    assert made_from(run.folder) == before
    (run.folder / "manifest.json").unlink()
    assert made_from(run.folder) != before


def test_names_hold_system_and_model_only_where_there_are_several(write_run):
    rows = [
        *JUDGEMENTS,
        judgement("q1", "correctness", 0.0, model="openai/other"),
        judgement("q1", "containment", 1, system="a+b"),
        judgement("q1", "containment", 0, system="a?b"),
    ]
    metrics = metrics_of(ragstone.read_run(write_run(judgements=rows, summary=summary_of(rows))))
    assert f"rag/correctness/{MODEL}/mean" in metrics
    assert metrics["rag/correctness/openai/other/mean"] == 0
    assert (metrics["a_b/containment/mean"], metrics["a_b/containment/mean_"]) == (1, 0)


def test_params_say_what_decided_the_outcome(run):
    params = params_of(run)
    assert params["model.answer"] == MODEL
    assert (params["retriever"], params["prompt"]) == ("bm25", "strict version 1, cd34")
    assert params["digest.answers.jsonl"] == "ef56"


def test_without_a_store_it_says_how_to_name_one(run, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(DataError, match="Give --tracking-uri"):
        log_to_mlflow(run)


def test_a_server_that_is_not_there_is_told_at_once(run, says):
    began = time.monotonic()
    with pytest.raises(DataError) as told:
        log_to_mlflow(run, tracking_uri="http://user:secret@127.0.0.1:9")
    says(told.value)
    assert time.monotonic() - began < 10
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("address", ["http://localhost:port", "http://[x"])
def test_an_address_that_is_none_is_told(run, address):
    with pytest.raises(DataError, match="not an address"):
        log_to_mlflow(run, tracking_uri=address)


class Page(http.server.BaseHTTPRequestHandler):
    """Some other server: a page for everything."""

    def do_GET(self):
        self.send_response(404)
        self.end_headers()
        self.wfile.write(b"<html>nothing here</html>")

    do_POST = do_GET  # noqa: N815 - the name that the library calls

    def log_message(self, *_):
        pass


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_server_that_is_no_mlflow_is_told(run):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with pytest.raises(DataError, match="MLflow did not take the run"):
            log_to_mlflow(run, tracking_uri=f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_database_needs_the_whole_package(run, tmp_path):
    try:
        import sqlalchemy  # noqa: F401
    except ImportError:
        with pytest.raises(DataError, match="needs the whole package: pip install mlflow"):
            log_to_mlflow(run, tracking_uri=f"sqlite:///{tmp_path}/m.db")


def test_without_mlflow_it_says_what_installs_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtra, match=r"ragstone\[mlflow\]"):
        log_to_mlflow(run, tracking_uri="file:x")
