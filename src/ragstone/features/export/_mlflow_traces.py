"""Answers of a run -> traces of MLflow 3, each with its judgements as feedback.

A judgement without a score is feedback with an error, whose code is the status: MLflow leaves it out of its
means, too. Written from MLflow 3.17.
"""

import contextlib
import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import msgspec

from ragstone.features.export._judged_system import JudgedSystem
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, name_repeat, references

_MADE_FROM, _ANSWER = "ragstone.made_from", "ragstone.answer"
_THREADS = 8
_PAGE = 500  # traces in one reply of a search; MLflow gives no more
_ASYNCHRONOUS = "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING"
_VARIABLES = (_ASYNCHRONOUS, "MLFLOW_TRACKING_URI")  # MLflow sets the latter itself
_S = 1_000_000_000


def log_traces(
    mlflow: ModuleType,
    entities: ModuleType,
    tracking_uri: str,
    systems: list[JudgedSystem],
    place: tuple[str, str],
    digest: str,
) -> int:
    """Log what is not there yet of answers and their judgements, and return how many feedbacks were added.

    place: ids of experiment and run. digest: of what the run was made from, by which its traces are found
    again. Raises DataError for an MLflow without feedback, and where it did not keep all; MlflowException
    where the server refuses.
    """
    if not hasattr(mlflow, "log_assessment") or not hasattr(entities, "AssessmentError"):
        raise DataError("Traces with feedback need MLflow 3. Install it: pip install -U mlflow-skinny.")
    experiment_id, run_id = place
    with _sent_to(mlflow, tracking_uri):
        client = mlflow.MlflowClient(tracking_uri=tracking_uri)
        logged = _logged(client, experiment_id, run_id, digest)
        added: dict[str, list[Any]] = {}
        for judged in systems:
            metrics = {(row.judge, row.metric, row.model): row for row in judged.metrics}
            for key in dict.fromkeys([*judged.answers, *judged.judgements]):
                whole = msgspec.json.encode((digest, key[0], name_repeat(judged.name, key[1])))
                identity = hashlib.blake2b(whole, digest_size=16).hexdigest()
                trace_id, names = logged.get(identity, (None, set()))
                if trace_id is None:
                    tags = {_MADE_FROM: digest, _ANSWER: identity}
                    trace_id = _log_trace(client, judged, key, tags, place)
                for row in judged.judgements.get(key, []):
                    name = judged.scored_as(row)
                    if name not in names:
                        metric = metrics[row.judge, row.metric, row.model]
                        added.setdefault(trace_id, []).append(_feedback(entities, judged, row, metric, name))
        _log_feedback(mlflow, added)
        # A trace that fails is a line in MLflow's log alone, so what is there now is counted.
        n_kept = _n_feedback(_logged(client, experiment_id, run_id, digest))
        n_added = sum(map(len, added.values()))
        n_missing = _n_feedback(logged) + n_added - n_kept
    if n_missing > 0:
        raise DataError(
            f"MLflow holds {n_kept:,} judgements on traces of this run, and {n_missing:,} are missing: the "
            "log of `mlflow` says why. Run again: judgements already there are not duplicated."
        )
    return n_added


def _log_feedback(mlflow: ModuleType, added: Mapping[str, list[Any]]) -> None:
    """Log the feedback of each trace, several traces at a time.

    That of one trace goes one after the other: a store of files fails where two make its folder at once.
    """

    def log(trace_id: str) -> None:
        for feedback in added[trace_id]:
            mlflow.log_assessment(trace_id, feedback)

    with ThreadPoolExecutor(_THREADS) as pool:
        for done in [pool.submit(log, trace_id) for trace_id in added]:
            done.result()


def _n_feedback(logged: Mapping[str, tuple[str, set[str]]]) -> int:
    return sum(len(names) for _, names in logged.values())


@contextlib.contextmanager
def _sent_to(mlflow: ModuleType, tracking_uri: str) -> Iterator[None]:
    """Within the block traces go to this store, each before the next: what fails is heard of."""
    before, variables = mlflow.get_tracking_uri(), {name: os.environ.get(name) for name in _VARIABLES}
    os.environ[_ASYNCHRONOUS] = "false"
    mlflow.set_tracking_uri(tracking_uri)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of MLflow, about its own functions
            yield
    finally:
        mlflow.set_tracking_uri(before)
        for name, value in variables.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _logged(
    client: Any,  # noqa: ANN401 - of an optional package
    experiment_id: str,
    run_id: str,
    digest: str,
) -> dict[str, tuple[str, set[str]]]:
    """Return, of each answer whose trace is there, its id and the names of its feedback."""
    logged: dict[str, tuple[str, set[str]]] = {}
    token: str | None = None
    while True:
        page = client.search_traces(
            locations=[experiment_id],
            run_id=run_id,
            filter_string=f"tags.`{_MADE_FROM}` = '{digest}'",
            max_results=_PAGE,
            page_token=token,
            include_spans=False,
        )
        for trace in page:
            names = {feedback.name for feedback in trace.info.assessments}
            logged[trace.info.tags.get(_ANSWER, "")] = trace.info.trace_id, names
        token = page.token
        if not token:
            return logged


def _log_trace(
    client: Any,  # noqa: ANN401 - of an optional package
    judged: JudgedSystem,
    key: tuple[str, int],
    tags: dict[str, str],
    place: tuple[str, str],
) -> str:
    """Log an answer with what was retrieved for it, and return the id of its trace."""
    question_id, repeat = key
    answer, question = judged.answers.get(key), judged.questions.get(question_id)
    rows = [row for row in (question, answer) if row is not None]
    asked = next((row.question for row in rows if row.question), question_id)
    began = int(judged.finished.timestamp()) * _S
    took = int((answer.latency_s or 0) * _S) if answer else 0
    attributes = {"ragstone.question_id": question_id, "ragstone.system": name_repeat(judged.name, repeat)}
    reference = next((texts for row in rows if (texts := references(row))), [])
    root = client.start_trace(
        "answer",
        span_type="CHAIN",
        inputs={"question": asked},
        attributes=attributes | ({"ragstone.reference": reference} if reference else {}),
        tags=tags,
        experiment_id=place[0],
        run_id=place[1],
        start_time_ns=began,
    )
    trace_id: str = root.trace_id
    if answer and answer.contexts:
        span = client.start_span(
            "retrieve",
            trace_id,
            root.span_id,
            span_type="RETRIEVER",
            inputs={"query": asked},
            start_time_ns=began,
        )
        client.end_span(trace_id, span.span_id, outputs=_documents(answer), end_time_ns=began + took)
    client.end_trace(
        trace_id,
        outputs={"error": answer.error} if answer and answer.error else answer and answer.answer,
        status="ERROR" if answer and answer.error else "OK",
        end_time_ns=began + took,
    )
    return trace_id


def _documents(answer: Answer) -> list[dict[str, Any]]:
    """Return contexts in the form that MLflow shows as documents."""
    return [
        {
            "page_content": context.text,
            "metadata": {
                name: value
                for name, value in (("doc_uri", context.document_id), ("chunk_id", context.id))
                if value
            },
        }
        for context in answer.contexts or ()
    ]


def _feedback(
    entities: ModuleType, judged: JudgedSystem, row: Judgement, metric: MetricSummary, name: str
) -> Any:  # noqa: ANN401 - of an optional package
    kind, source = ("CODE", row.judge) if row.model == NO_MODEL else ("LLM_JUDGE", row.model)
    facts = {fact: str(value) for fact, value in judged.judge_facts(metric).items()} | {"status": row.status}
    if row.scale:
        facts["scale"] = f"{row.scale[0]:g} to {row.scale[1]:g}"
    if row.label is not None:
        facts["label"] = row.label
    reason = row.error or row.rationale or row.status
    return entities.Feedback(
        name=name,
        value=row.score,
        error=None if row.score is not None else entities.AssessmentError(row.status, reason),
        source=entities.AssessmentSource(kind, source),
        rationale=row.rationale,
        metadata={f"ragstone.{fact}": value for fact, value in facts.items()},
    )
