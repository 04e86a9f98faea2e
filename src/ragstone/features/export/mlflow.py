"""A run -> a run of MLflow: means with intervals, what decided the outcome, the joined table, the report."""

import contextlib
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import urlsplit

import msgspec

from ragstone.features.export._judged_system import judged_system, made_from, metric_name
from ragstone.kernel.errors import DataError, checks_arguments, explaining, optional_package
from ragstone.kernel.runs.joined import FinishedRun
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.frames import plain

EXPERIMENT = "ragstone"
TABLE = "results.json"
FILES = ("summary.json", "manifest.json", "report.html", "report.md", "blame.json", "causes.jsonl")
DIGEST = "ragstone.made_from"
# MLflow tries seven times, for some minutes, to reach a server that is not there.
PATIENCE = {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2", "MLFLOW_HTTP_REQUEST_TIMEOUT": "30"}
CONNECT_S = 5.0
T = TypeVar("T")
FORBIDDEN = re.compile(r"[^\w\-. :/]")
LONGEST_NAME, LONGEST_VALUE = 250, 500
BATCH = 100  # parameters, or tags, in one call; MLflow takes no more
SETTINGS = {
    "retriever": ("retrieve", "retriever"),
    "k": ("retrieve", "k"),
    "embedder": ("retrieve", "embedder"),
    "chunk.method": ("chunk", "method"),
    "chunk.size": ("chunk", "size"),
    "answer.model": ("answer", "model"),
    "answer.prompt": ("answer", "prompt"),
    "answer.system": ("answer", "system"),
    "answer.sheet": ("answer", "sheet"),
    "judge.model": ("judge", "model"),
    "seed": ("run", "seed"),
}


class Tracked(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run stands in MLflow now.

    updated: it was there before. n_feedback: judgements that were added to traces.
    """

    experiment: str
    run_id: str
    updated: bool
    n_metrics: int
    n_feedback: int = 0


@checks_arguments
def log_to_mlflow(
    run: FinishedRun,
    *,
    tracking_uri: str | None = None,
    experiment: str | None = None,
    traces: bool = False,
) -> Tracked:
    """Log a run to an MLflow server or store, and return where it is stored.

    tracking_uri: default MLFLOW_TRACKING_URI; experiment: default MLFLOW_EXPERIMENT_NAME, else `ragstone`.
    The same run again (by its manifest) updates the run of MLflow that is there; a run that
    was made anew is another one. traces: also log each answer as a trace with its judgements as feedback, of
    which only those are added that are not there. Raises MissingExtra without mlflow, DataError where there
    is no store, or it refuses.
    """
    tracking_uri = tracking_uri or os.environ.get("MLFLOW_TRACKING_URI")
    if not tracking_uri:
        raise DataError(
            "No MLflow store is named. Give --tracking-uri, e.g. http://localhost:5000 (a server, started by "
            "`mlflow server`), or set MLFLOW_TRACKING_URI."
        )
    _check_there(tracking_uri)
    with _patience():
        mlflow = _mlflow("mlflow")
        try:
            client = mlflow.MlflowClient(tracking_uri=tracking_uri)
            named = experiment or os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT
            tracked = _log(client, run, named)
            return _with_traces(client, run, tracked, tracking_uri) if traces else tracked
        except (mlflow.exceptions.MlflowException, OSError) as mistake:  # the latter of files that it sends
            hint = ""
            if tracking_uri.partition(":")[0] in ("sqlite", "postgresql", "mysql", "mssql"):
                hint = " A database needs the whole package: pip install mlflow, or log to a server."
            raise DataError(
                f"{_shown(tracking_uri)}: MLflow did not take the run: {str(mistake)[:LONGEST_VALUE]}{hint}"
            ) from None


def _log(client: Any, run: FinishedRun, experiment: str) -> Tracked:  # noqa: ANN401 - of an optional package
    entities = _mlflow("mlflow.entities")
    digest = made_from(run.folder)
    existing = client.get_experiment_by_name(experiment)
    experiment_id = existing.experiment_id if existing else client.create_experiment(experiment)
    before = client.search_runs([experiment_id], f"tags.`{DIGEST}` = '{digest}'")
    tags = {DIGEST: digest, "ragstone.run": run.summary.name, "ragstone.version": run.summary.version}
    known = before[0] if before else client.create_run(experiment_id, run_name=run.summary.name, tags=tags)
    run_id: str = known.info.run_id
    metrics, params = metrics_of(run), params_of(run)
    now = int(time.time() * 1000)
    new = [entities.Metric(name, v, now, 0) for name, v in metrics.items() if name not in known.data.metrics]
    new_params = [entities.Param(name, v) for name, v in params.items() if name not in known.data.params]
    for start in range(0, max(len(new), len(new_params)), BATCH):
        client.log_batch(run_id, metrics=new[start : start + BATCH], params=new_params[start : start + BATCH])
    table = run.table()
    rows = [
        [
            msgspec.json.encode(plain(value)).decode() if isinstance(value, list | Mapping) else value
            for value in row.values()
        ]
        for row in table
    ]
    client.log_dict(run_id, {"columns": list(table.columns()), "data": rows}, TABLE)
    # What MLflow's page looks for to offer its view of a table.
    client.set_tag(run_id, "mlflow.loggedArtifacts", f'[{{"path": "{TABLE}", "type": "table"}}]')
    for name in FILES:
        if (run.folder / name).is_file():
            client.log_artifact(run_id, str(run.folder / name))
    client.set_terminated(run_id)
    return Tracked(experiment=experiment, run_id=run_id, updated=bool(before), n_metrics=len(metrics))


def _with_traces(
    client: Any,  # noqa: ANN401 - of an optional package
    run: FinishedRun,
    tracked: Tracked,
    tracking_uri: str,
) -> Tracked:
    from ragstone.features.export._mlflow_traces import log_traces

    systems = dict.fromkeys(metric.system for metric in run.summary.metrics)
    n_feedback = log_traces(
        _mlflow("mlflow"),
        _mlflow("mlflow.entities"),
        tracking_uri,
        [judged_system(run, system) for system in systems],
        (client.get_experiment_by_name(tracked.experiment).experiment_id, tracked.run_id),
        made_from(run.folder),
    )
    return msgspec.structs.replace(tracked, n_feedback=n_feedback)


def metrics_of(run: FinishedRun) -> dict[str, float]:
    """Return name -> value: of each mean its value, interval and denominator; rank measures; cost.

    The system and the model are part of a name only where there are several: so a judge's mean has the same
    name in every run of one system, and MLflow can draw them side by side.
    """
    summary = run.summary
    metrics: dict[str, float] = {}
    for metric in summary.metrics:
        name = metric_name(metric, summary.metrics)
        metrics[f"{name}/rows"] = metric.n_rows
        if metric.estimate:
            metrics |= _estimate(name, metric.estimate)
        for label, share in metric.labels.items():
            metrics |= _estimate(f"{name}/{label}", share)
    for row in summary.retrieval:
        for measure, estimate in row.measures.items():
            metrics |= _estimate(f"{row.retriever}/{measure.replace('@', ' at ')}", estimate)
    if summary.calls.cost_usd is not None:
        metrics["cost_usd"] = summary.calls.cost_usd
    return {name: float(value) for name, value in _accepted(metrics).items()}


def _estimate(name: str, estimate: Estimate) -> dict[str, float]:
    ends = {"low": estimate.low, "high": estimate.high}
    known = {f"{name}/{end}": value for end, value in ends.items() if value is not None}
    return {f"{name}/mean": estimate.value, **known, f"{name}/n": estimate.n}


def params_of(run: FinishedRun) -> dict[str, str]:
    """Return what decided the outcome: models, settings, judges and prompts by version and digest."""
    manifest = run.manifest
    settings = manifest.get("settings", {})
    params: dict[str, object] = {f"model.{role}": model for role, model in run.summary.models.items()}
    params |= {name: settings.get(table, {}).get(key) for name, (table, key) in SETTINGS.items()}
    for name, judge in manifest.get("judges", {}).items():
        params[f"judge.{name}"] = f"version {judge.get('version')}, {judge.get('digest')}"
    prompt = manifest.get("prompt", {})
    if prompt:
        params["prompt"] = f"{prompt.get('name')} version {prompt.get('version')}, {prompt.get('digest')}"
    params |= {f"digest.{name}": digest for name, digest in manifest.get("files", {}).items()}
    known = {name: str(value)[:LONGEST_VALUE] for name, value in params.items() if value is not None}
    return _accepted(known)


def _accepted(values: Mapping[str, T]) -> dict[str, T]:
    """Return the values under names that MLflow accepts, no two alike."""
    named: dict[str, T] = {}
    for name, value in values.items():
        # A name is a path there, so neither `..` nor an empty part can stand in it.
        allowed = "/".join(part or "_" for part in FORBIDDEN.sub("_", name).replace("..", "__").split("/"))
        allowed = allowed[-LONGEST_NAME:]
        while allowed in named:
            allowed += "_"
        named[allowed] = value
    return named


def _mlflow(module: str) -> ModuleType:
    with optional_package("logging a run to MLflow", "mlflow"):
        return import_module(module)


def _check_there(tracking_uri: str) -> None:
    """Raise DataError within seconds where no server listens."""
    with explaining(f"{tracking_uri}: not an address", "E.g. http://localhost:5000", ValueError):
        address = urlsplit(tracking_uri)
        port = address.port
    if address.scheme not in ("http", "https") or not address.hostname:
        return
    try:
        socket.create_connection(
            (address.hostname, port or (443 if address.scheme == "https" else 80)), CONNECT_S
        ).close()
    except OSError as mistake:
        raise DataError(
            f"{_shown(tracking_uri)}: no MLflow server answers there ({mistake.strerror or mistake}). Start "
            "one with `mlflow server`, or give another --tracking-uri."
        ) from None


def _shown(tracking_uri: str) -> str:
    """Return the address without a password in it."""
    return re.sub(r"//[^/@]*@", "//", tracking_uri)


@contextlib.contextmanager
def _patience() -> Iterator[None]:
    """Within the block MLflow gives up soon, unless the environment says otherwise."""
    added = [name for name in PATIENCE if name not in os.environ]
    os.environ.update({name: PATIENCE[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
