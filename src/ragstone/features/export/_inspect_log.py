"""One system of a run -> a log of Inspect (`.eval`), as `inspect_ai` 0.3.285 reads and shows it.

The log is a ZIP file of JSON: `header.json` and, of each answer, `samples/ID_epoch_N.json`. A judgement is a
score; one without a score is unscored, which Inspect writes as NaN with a reason. `metadata.ragstone` of a
score holds the whole judgement, of which Inspect has no fields for status, scale and version.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import msgspec

from ragstone.features.export._judged_system import JudgedSystem
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import Answer, Judgement, Question, Status, Usage, references

_HARMLESS = str.maketrans("/\\:", "___")
_VERSION = 2  # of the format of logs
# Inspect's own words for a score that there is not, where one says the same; else our status itself.
_REASONS: Mapping[Status, str] = {
    "unparsable": "grader_failed",
    "refused": "grader_failed",
    "timeout": "scoring_failed",
    "rate_limited": "scoring_failed",
    "over_budget": "scoring_failed",
    "error": "scoring_failed",
}


def write_inspect_log(judged: JudgedSystem, path: Path, digest: str) -> int:
    """Write the log and return how many samples it has. digest: of what the run was made from."""
    samples = list(_samples(judged))
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        names: set[str] = set()
        for sample in samples:
            # As Inspect has it, but for an id that would lead elsewhere when somebody unpacks the log.
            member = str(sample["id"])
            if "\\" in member or ":" in member or {"", ".", ".."} & {*member.split("/")}:
                member = member.translate(_HARMLESS)
            name = f"samples/{member}_epoch_{sample['epoch']}.json"
            while name in names:
                name = name.replace("_epoch_", "__epoch_")
            names.add(name)
            _add(archive, name, sample, judged.finished)
        _add(archive, "summaries.json", [_summary(sample) for sample in samples], judged.finished)
        _add(archive, "header.json", _header(judged, samples, digest), judged.finished)
    return len(samples)


def _add(archive: ZipFile, name: str, content: object, finished: datetime) -> None:
    """Add a member, the same bytes for the same run. json, for an unscored value is NaN in these logs."""
    member = ZipInfo(name, (max(finished.year, 1980), *finished.timetuple()[1:6]))
    member.compress_type = ZIP_DEFLATED
    archive.writestr(member, json.dumps(content, ensure_ascii=False).encode("utf-8", "replace"))


def _header(judged: JudgedSystem, samples: list[dict[str, Any]], digest: str) -> dict[str, Any]:
    created, summary = judged.finished.isoformat(), judged.run.summary
    most = max((sample["epoch"] for sample in samples), default=1)
    return {
        "version": _VERSION,
        "status": "success",
        "eval": {
            **{
                name: hashlib.blake2b(f"{digest} {judged.name} {name}".encode(), digest_size=11).hexdigest()
                for name in ("eval_id", "run_id", "task_id")
            },
            "created": created,
            "task": summary.name,
            "dataset": {
                "name": summary.name,
                "samples": len({sample["id"] for sample in samples}),
                "sample_ids": list(dict.fromkeys(sample["id"] for sample in samples)),
            },
            "model": judged.answer_model or judged.name,
            "solver": judged.name,
            "config": {"epochs": most, **({"epochs_reducer": ["mean"]} if most > 1 else {})},
            "packages": {"ragstone": summary.version},
            "scorers": [
                {
                    "name": judged.names[metric.judge, metric.metric, metric.model],
                    "options": judged.judge_facts(metric),
                    "metrics": [{"name": "mean", "options": {}}],
                    "metadata": {"scale": list(metric.scale) if metric.scale else None},
                }
                for metric in judged.metrics
            ],
            "metadata": {"ragstone": {"run": summary.name, "system": judged.name, "made_from": digest}},
        },
        "plan": {"steps": [{"solver": judged.name}]},
        "results": {
            "total_samples": len(samples),
            "completed_samples": sum("error" not in sample for sample in samples),
            "scores": [_result(judged, metric) for metric in judged.metrics],
        },
        "stats": {"started_at": created, "completed_at": created},
    }


def _result(judged: JudgedSystem, metric: MetricSummary) -> dict[str, Any]:
    """Return the aggregate of a judge: its mean with the ends of its interval, counts, its card."""
    name = judged.names[metric.judge, metric.metric, metric.model]
    estimate, card = metric.estimate, judged.card(metric)
    values = {"mean": estimate.value, "lower": estimate.low, "upper": estimate.high} if estimate else {}
    interval = {"level": estimate.level, "method": estimate.method, "n": estimate.n} if estimate else {}
    return {
        "name": name,
        "scorer": name,
        "scored_samples": metric.statuses.get("scored", 0),
        "unscored_samples": metric.n_rows - metric.statuses.get("scored", 0),
        "metrics": {
            key: {"name": key, "value": value, "params": interval if key != "mean" else {}}
            for key, value in values.items()
            if value is not None
        },
        "metadata": {
            "statuses": metric.statuses,
            **({"labels": msgspec.to_builtins(metric.labels)} if metric.labels else {}),
            **({"report_card": _card(card)} if card else {}),
        },
    }


def _card(card: ReportCard) -> dict[str, Any]:
    return {
        "labels": card.n,
        "agreement": msgspec.to_builtins(card.agreement),
        "better_than_baseline": card.better_than_baseline,
        "verdict": card.verdict,
    }


def _samples(judged: JudgedSystem) -> Iterator[dict[str, Any]]:
    """Yield a sample for each answer, and for each judged question whose answer the run does not hold."""
    for question_id, repeat in dict.fromkeys([*judged.answers, *judged.judgements]):
        key = question_id, repeat
        answer, question = judged.answers.get(key), judged.questions.get(question_id)
        yield {
            "id": question_id,
            "epoch": repeat,
            **_asked(question, answer),
            **_output(judged, answer),
            "scores": {judged.scored_as(row): _score(row, answer) for row in judged.judgements.get(key, [])},
            "metadata": _metadata(question, answer),
        }


def _asked(question: Question | None, answer: Answer | None) -> dict[str, Any]:
    """Return input and target; a conversation is a list of messages."""
    target = next((texts for row in (question, answer) if row and (texts := references(row))), [])
    text = next((row.question for row in (question, answer) if row and row.question), "")
    turns = list(answer.turns or ()) if answer else []
    if answer and turns and turns[-1].role == "assistant":
        del turns[-1]  # the answer itself
    return {
        "input": [{"role": turn.role, "content": turn.content} for turn in turns] if turns else text,
        "target": target[0] if len(target) == 1 else target or "",
    }


def _output(judged: JudgedSystem, answer: Answer | None) -> dict[str, Any]:
    """Return what was answered; nothing chosen where the run holds no answer, or the application failed."""
    model = judged.answer_model or judged.name
    if answer is None:
        return {"output": {"model": model, "choices": [], "completion": ""}}
    fields: dict[str, Any] = {
        "output": {
            "model": model,
            "choices": [{"message": {"role": "assistant", "content": answer.answer}, "stop_reason": "stop"}],
            "completion": answer.answer,
        }
    }
    if answer.usage:
        fields["output"]["usage"] = _tokens(answer.usage, answer.cost_usd)
        fields["model_usage"] = {model: fields["output"]["usage"]}
    if answer.latency_s is not None:
        fields["total_time"] = answer.latency_s
    if answer.error is not None:
        fields["error"] = {"message": answer.error, "traceback": "", "traceback_ansi": ""}
        fields["output"]["choices"] = []
    return fields


def _tokens(usage: Usage, cost_usd: float | None) -> dict[str, Any]:
    return {
        "input_tokens": usage.input - usage.cached - usage.cache_written,  # Inspect has these beside it
        "output_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "input_tokens_cache_read": usage.cached or None,
        "input_tokens_cache_write": usage.cache_written or None,
        "reasoning_tokens": usage.reasoning or None,
        "total_cost": cost_usd,
    }


def _score(row: Judgement, answer: Answer | None) -> dict[str, Any]:
    """Return a judgement as a score. Its reason for having none is in words in the explanation."""
    whole = msgspec.to_builtins(row)
    beside = {name: value for name, value in whole.items() if name not in ("score", "rationale")}
    fields = {
        "value": float("nan") if row.score is None else row.score,
        "answer": answer.answer if answer else None,
        "explanation": row.rationale or row.error,
        "reason": None if row.score is not None else _REASONS.get(row.status, row.status),
        "metadata": {"ragstone": beside},
    }
    if row.rationale is None and row.error is not None:
        beside["rationale"] = None
    return {name: value for name, value in fields.items() if value is not None}


def _metadata(question: Question | None, answer: Answer | None) -> dict[str, Any]:
    """Return what of a question and an answer Inspect has no field for."""
    rows = [row for row in (question, answer) if row is not None]
    fields: dict[str, Any] = {
        name: next((value for row in rows if (value := getattr(row, name, None)) is not None), None)
        for name in ("answerable", "kind", "lang", "tags", "contexts", "steps")
    }
    return {name: msgspec.to_builtins(value) for name, value in fields.items() if value is not None}


def _summary(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what Inspect lists of a sample before it opens it."""
    kept = ("id", "epoch", "input", "target", "model_usage", "total_time")
    scores = {
        name: {field: score[field] for field in ("value", "reason") if field in score}
        for name, score in sample["scores"].items()
    }
    error = {"error": sample["error"]["message"]} if "error" in sample else {}
    return {
        **{name: sample[name] for name in kept if name in sample},
        "scores": scores,
        "completed": True,
        **error,
    }
