"""A run in MLflow: a real store in a folder, and servers that are not there or are no MLflow."""

import contextlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from importlib.util import find_spec
from pathlib import Path

import msgspec
import pytest
from tests.support.tiny_run import JUDGEMENTS, MODEL, judgement, summary_of

import ragstone
from ragstone.features.export._judged_system import made_from
from ragstone.features.export.mlflow import PATIENCE, TABLE, log_to_mlflow, metrics_of, params_of
from ragstone.kernel.errors import DataError, MissingExtra

if find_spec("mlflow") is None:  # to import it takes seconds, also where none of these tests runs
    pytest.skip("needs mlflow", allow_module_level=True)

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


@pytest.mark.long
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


@pytest.mark.long
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


@pytest.fixture(params=["folder", "sqlite", "server"])
def traced(request, store, tmp_path, monkeypatch):
    """A store that keeps traces: a folder, which mlflow-skinny has; a database; a real server with one."""
    if request.param == "folder":
        yield store
        return
    if find_spec("sqlalchemy") is None or find_spec("flask") is None:
        pytest.skip(
            "the whole package mlflow, which has the server, is not installed (dev has mlflow-skinny)"
        )
    monkeypatch.chdir(tmp_path)  # where a database keeps its files
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/direct.db"
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--host", "127.0.0.1"]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path}/m.db", "--workers", "1"]
    command += ["--default-artifact-root", "mlflow-artifacts:/", "--artifacts-destination", f"{tmp_path}/a"]
    server = subprocess.Popen(
        command, start_new_session=True, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2).close()
                break
            time.sleep(0.5)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def traces_in(store):
    client = client_of(store)
    place = client.get_experiment_by_name("ragstone").experiment_id
    return client.search_traces(locations=[place])


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_answers_are_traces_and_judgements_are_their_feedback(run, traced):
    import mlflow

    before = mlflow.get_tracking_uri()
    tracked = log_to_mlflow(run, tracking_uri=traced, traces=True)
    assert tracked.n_feedback == len(JUDGEMENTS)
    assert mlflow.get_tracking_uri() == before
    assert not {"MLFLOW_TRACKING_URI", "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"} & os.environ.keys()
    mlflow.set_tracking_uri(traced)
    traces = traces_in(traced)
    mlflow.set_tracking_uri(before)
    os.environ.pop("MLFLOW_TRACKING_URI", None)
    assert len(traces) == 4
    said = {
        (trace.data.spans[0].attributes["ragstone.question_id"], feedback.name): feedback
        for trace in traces
        for feedback in trace.info.assessments
    }
    for row in run.judgements:
        feedback = said[row.question_id, row.judge]
        assert feedback.feedback.value == row.score
        error = feedback.feedback.error
        assert (error.error_code if error else "scored") == row.status
        assert feedback.rationale == row.rationale
    right = said["q1", "correctness"]
    assert (right.source.source_type, right.source.source_id) == ("LLM_JUDGE", MODEL)
    assert right.metadata["ragstone.digest"] == "ab12"
    assert said["q1", "containment"].source.source_type == "CODE"
    failed = next(trace for trace in traces if str(trace.info.state).endswith("ERROR"))
    assert "HTTP 503" in failed.info.response_preview


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_a_log_of_traces_that_broke_off_is_continued_and_doubles_nothing(run, traced, monkeypatch):
    import mlflow

    whole, calls = mlflow.log_assessment, []

    def breaks(*args):
        if len(calls) == 5:
            raise mlflow.exceptions.MlflowException("503 of the proxy")
        calls.append(args)
        return whole(*args)

    monkeypatch.setattr(mlflow, "log_assessment", breaks)
    monkeypatch.setattr("ragstone.features.export._mlflow_traces._THREADS", 1)
    with pytest.raises(DataError, match="MLflow did not take the run: 503 of the proxy"):
        log_to_mlflow(run, tracking_uri=traced, traces=True)
    monkeypatch.undo()
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    again = log_to_mlflow(run, tracking_uri=traced, traces=True)
    assert (again.updated, again.n_feedback) == (True, len(JUDGEMENTS) - 5)
    assert log_to_mlflow(run, tracking_uri=traced, traces=True).n_feedback == 0
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(traced)
    names = [
        (trace.info.trace_id, feedback.name)
        for trace in traces_in(traced)
        for feedback in trace.info.assessments
    ]
    mlflow.set_tracking_uri(before)
    os.environ.pop("MLFLOW_TRACKING_URI", None)
    assert len(names) == len({*names}) == len(JUDGEMENTS)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_traces_that_mlflow_loses_without_a_word_are_missed(run, store, monkeypatch, says):
    import mlflow

    monkeypatch.setattr(mlflow, "log_assessment", lambda *_: None)
    with pytest.raises(DataError) as error:
        log_to_mlflow(run, tracking_uri=store, traces=True)
    says(error.value)


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_files_that_the_server_refuses_are_told_and_sent_again(run, store, monkeypatch):
    from mlflow import MlflowClient

    def refuses(*_):
        raise OSError("413 Client Error: Payload Too Large")

    with monkeypatch.context() as patched:
        patched.setattr(MlflowClient, "log_artifact", refuses)
        with pytest.raises(DataError, match="MLflow did not take the run: 413 Client Error"):
            log_to_mlflow(run, tracking_uri=store)
    assert log_to_mlflow(run, tracking_uri=store).updated


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")
def test_an_mlflow_without_feedback_is_told(run, store, monkeypatch, says):
    import mlflow

    monkeypatch.delattr(mlflow, "log_assessment")
    with pytest.raises(DataError) as error:
        log_to_mlflow(run, tracking_uri=store, traces=True)
    says(error.value)
