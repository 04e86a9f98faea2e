"""One system of a run -> `.eval_results/NAME.yaml` of a model's repository on the Hugging Face Hub.

The form is that of huggingface_hub 2.4 (`EvalResultEntry`) and of huggingface/hub-docs: a list of entries,
each a number for a task of a benchmark. It has no field for an interval, for counts or for the judge, so
they stand in `notes`.
"""

import json
import re
from pathlib import Path
from typing import Any

from ragstone.features.export._judged_system import (
    JudgedSystem,
    agreement_text,
    estimate_text,
    statuses_text,
)
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL

_SPECIAL = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_DATASET = re.compile(r"[\w.-]+/[\w.-]+", re.ASCII)


def check_dataset(dataset: str | None) -> str:
    """Return the id of a benchmark. Raises ConfigError."""
    if dataset is None or not _DATASET.fullmatch(dataset):
        mistake = f"--dataset {dataset!r} is not the name of a benchmark. " if dataset is not None else ""
        raise ConfigError(f"{mistake}Results on the Hub name their benchmark. Write --dataset OWNER/NAME.")
    return dataset


def write_eval_results(judged: JudgedSystem, path: Path, dataset: str) -> int:
    """Write an entry for each judge with a mean, and return how many there are. Raises DataError for none."""
    entries = [_entry(judged, metric, dataset) for metric in judged.metrics if metric.estimate]
    if not entries:
        raise DataError(
            f"{judged.run.folder}: no judge scored an answer of {judged.name!r}, but results on the Hub are "
            "numbers."
        )
    path.write_text("".join(_yaml(entry) for entry in entries), encoding="utf-8")
    return len(entries)


def _entry(judged: JudgedSystem, metric: MetricSummary, dataset: str) -> dict[str, Any]:
    assert metric.estimate is not None
    return {
        "dataset": {"id": dataset, "task_id": judged.names[metric.judge, metric.metric, metric.model]},
        "value": metric.estimate.value,
        "date": judged.finished.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "notes": _notes(judged, metric),
    }


def _notes(judged: JudgedSystem, metric: MetricSummary) -> str:
    """Return in words what the form has no field for."""
    assert metric.estimate is not None
    level = "no interval" if metric.estimate.low is None else f"{100 * metric.estimate.level:g} % interval"
    scale = f"scale {metric.scale[0]:g} to {metric.scale[1]:g}" if metric.scale else "scale unknown"
    by = "no model" if metric.model == NO_MODEL else metric.model
    card = judged.card(metric)
    measured = (
        f"judge against people: {agreement_text(card)}" if card else "no report card of this judge in the run"
    )
    return "; ".join(
        [
            f"mean {estimate_text(metric.estimate)} ({level}, {scale})",
            f"judgements: {statuses_text(metric)}",
            f"system {judged.name}",
            f"judge {metric.judge} version {metric.prompt_version} by {by}",
            measured,
            f"Ragstone {judged.run.summary.version}",
        ]
    )


def _yaml(entry: dict[str, Any]) -> str:
    """Return an entry of a YAML list."""
    lines = []
    for name, value in entry.items():
        if isinstance(value, dict):
            inner = (f"    {key}: {_scalar(text)}\n" for key, text in value.items())
            lines.append(f"{name}:\n{''.join(inner)}")
        else:
            lines.append(f"{name}: {_scalar(value)}\n")
    return "- " + "  ".join(lines)


def _scalar(value: str | float) -> str:
    """Return a value quoted as in JSON; what YAML takes for the end of a line, or refuses, is escaped."""
    quoted = json.dumps(value, ensure_ascii=False)
    return _SPECIAL.sub(lambda special: f"\\u{ord(special[0]):04x}", quoted)
