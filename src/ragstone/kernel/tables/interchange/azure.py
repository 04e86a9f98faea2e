"""Rows that `evaluate` of azure-ai-evaluation (1.18) writes -> verdicts.

A metric has the column `outputs.EVALUATOR.METRIC`, and beside it `METRIC_result` (pass, fail), `_passed`,
`_reason`, `_threshold`, `_status` and `_properties`. `inputs.*` are the columns of the sheet. NaN is what an
evaluator that failed leaves.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ragstone.kernel.tables.columns import is_absent
from ragstone.kernel.tables.interchange.assessments import Assessment, answered_in
from ragstone.kernel.tables.interchange.values import fields_in, id_in, notes_in, number_in
from ragstone.kernel.tables.names import fold

Numbered = tuple[int, Any]

_SUFFIXES = ("score", "result", "passed", "reason", "threshold", "status", "properties", "label", "details")
_OUTPUTS, _INPUTS = "outputs.", "inputs."
_FAILED = "the evaluator left no score (NaN); the run's own log says why"


def read_azure(rows: Iterable[Numbered], _where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each metric of each row.

    A threshold counts where it says what the evaluator does: all that passed have a score of at least it, and
    none that failed. Where it is the other way round, as in metrics of harm, it stays a note.
    """
    found: list[tuple[int, Mapping[str, Any], dict[tuple[str, str], dict[str, Any]]]] = []
    for number, raw in rows:
        found.append((number, raw, _metrics(raw)))
    by_metric: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for _, _, metrics in found:
        for key, fields in metrics.items():
            by_metric.setdefault(key, []).append(fields)
    told = {key: _threshold(rows_of) for key, rows_of in by_metric.items()}
    for number, raw, metrics in found:
        on = answered_in({name: value for name, value in raw.items() if name.startswith(_INPUTS)})
        for key, fields in metrics.items():
            yield number, _assessment(number, key, fields, on, told[key])


def _metrics(raw: Mapping[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return (evaluator, metric) -> what its columns hold; `value`: of the column of the metric itself."""
    columns: dict[str, dict[str, Any]] = {}
    for name, value in raw.items():
        evaluator, dot, column = str(name).removeprefix(_OUTPUTS).partition(".")
        if str(name).startswith(_OUTPUTS) and dot:
            columns.setdefault(evaluator, {})[column] = value
    metrics: dict[tuple[str, str], dict[str, Any]] = {}
    for evaluator, inside in columns.items():
        for column, value in inside.items():
            metric, _, suffix = column.rpartition("_")
            is_beside = suffix in _SUFFIXES and (
                metric in inside or any(f"{metric}_{x}" in inside for x in _TOLD)
            )
            key = (evaluator, metric) if metric and is_beside else (evaluator, column)
            metrics.setdefault(key, {})[suffix if metric and is_beside else "value"] = value
    return {
        key: fields
        for key, fields in metrics.items()
        if not isinstance(fields.get("value", fields.get("score")), list | dict)
        and fields.keys() & {"value", "score", "result", "passed", "label"}
    }


_TOLD = ("result", "passed", "reason")


def _threshold(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the threshold of an evaluator, where it is one and says from which score on it passes."""
    given = {number_in(row.get("threshold")) for row in rows if not is_absent(row.get("threshold"))}
    [only] = given if len(given) == 1 else [None]
    if only is None:
        return None
    for row in rows:
        score, passed = number_in(row.get("value", row.get("score"))), row.get("passed")
        if not isinstance(passed, bool):
            passed = {"pass": True, "fail": False}.get(str(row.get("result")).casefold())
        if score is not None and passed is not None and passed != (score >= only):
            return None
    return only


def _assessment(
    number: int,
    key: tuple[str, str],
    fields: Mapping[str, Any],
    on: Mapping[str, Any],
    threshold: float | None,
) -> Assessment:
    evaluator, metric = key
    there = {name: value for name, value in fields.items() if not is_absent(value)}
    about = fields_in(there.get("properties"))
    status = str(there.get("status", "completed")).casefold()
    value = there.get("value", there.get("score"))
    gone = value is None and "result" not in there and "label" not in there
    return Assessment(
        number=number,
        tool="Azure AI evaluation",
        name=metric if fold(metric) == fold(evaluator) else f"{evaluator}.{metric}",
        value=value,
        label=id_in(there.get("result", there.get("label"))),
        rationale=id_in(there.get("reason")),
        status="not_applicable" if status == "skipped" else None,
        error=_FAILED if gone or status in ("error", "failed") else None,
        model=id_in(about.get("model")),
        threshold=threshold,
        notes=notes_in({name: there[name] for name in ("status", "threshold") if name in there}),
        **on,
    )
