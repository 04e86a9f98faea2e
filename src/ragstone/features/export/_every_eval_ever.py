"""One system of a run -> a record of Every Eval Ever 0.3.0: an aggregate file and a file of instances.

They go to the places that its datastore asks for, `data/COLLECTION/DEVELOPER/MODEL/UUID.json` and
`UUID_samples.jsonl`. Both schemas take only scores: a judgement without one is in the counts of statuses
alone, and a judge that scored nothing is named in `eval_library`.
"""

import hashlib
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.export._judged_system import (
    JudgedSystem,
    agreement_text,
    estimate_text,
    portable,
    statuses_text,
)
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.repeated import lowest_is_best
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL, OWN_THRESHOLD, Answer, Judgement, Question, Status, references

_SCHEMA = "0.3.0"
_UNKNOWN = {"deployment_type": "unknown", "model_availability": "unknown"}  # nobody told us
_RESAMPLES = 10_000  # of a bootstrap, see DESIGN.md
_CORRECT_FROM = "the threshold of the judge's file, else the highest score of its scale"


def record_paths(judged: JudgedSystem, folder: Path, organization: str, digest: str) -> tuple[Path, Path]:
    """Return where the aggregate and the instances go. folder: the datastore's `data`."""
    collection, (developer, model) = portable(judged.run.summary.name), _identity(judged, organization)
    # A UUID of version 4 is asked for; the same run gives the same one, so that it is replaced, not doubled.
    made_of = hashlib.blake2b(f"{digest} {judged.name} {organization}".encode(), digest_size=16).digest()
    stem = uuid.UUID(bytes=made_of, version=4)
    place = folder / collection / developer / model
    return place / f"{stem}.json", place / f"{stem}_samples.jsonl"


def write_every_eval_ever(judged: JudgedSystem, paths: tuple[Path, Path], organization: str) -> int:
    """Write both files, at first beside their places, and return how many instances there are.

    Raises DataError where no judge scored anything.
    """
    from ragstone.kernel.tables import partial_path

    aggregate, samples = paths
    developer, model = _identity(judged, organization)
    identity = f"{developer}/{model}"
    evaluation = f"{portable(judged.run.summary.name)}/{identity}/{int(judged.finished.timestamp())}"
    results = {judged.names[row.judge, row.metric, row.model]: row for row in judged.metrics if row.estimate}
    if not results:
        raise DataError(
            f"{judged.run.folder}: no judge scored an answer of {judged.name!r}, but Every Eval Ever "
            "records only scores."
        )
    rows = list(_instances(judged, results.keys(), evaluation, identity))
    text = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
    record = {
        "schema_version": _SCHEMA,
        "evaluation_id": evaluation,
        "evaluation_timestamp": judged.finished.isoformat(),
        "retrieved_timestamp": str(int(judged.finished.timestamp())),
        "source_metadata": {
            "source_name": judged.run.summary.name,
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "ragstone",
            "version": judged.run.summary.version,
            "additional_details": _left_out(judged, results.keys()),
        },
        "model_info": _system(judged, organization, identity),
        "evaluation_results": [_result(judged, metric, name, evaluation) for name, metric in results.items()],
    }
    if rows:
        record["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": "/".join(("data", *samples.parts[-4:])),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(text).hexdigest(),
            "total_rows": len(rows),
        }
        partial_path(samples).write_bytes(text)
    partial_path(aggregate).write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2))
    for path in (samples, aggregate) if rows else (aggregate,):
        partial_path(path).replace(path)
    return len(rows)


def _identity(judged: JudgedSystem, organization: str) -> tuple[str, str]:
    """Return the names of developer and model; another system of the run never has the same ones."""
    model = portable(judged.name)
    if model in {portable(other) for other in judged.others}:
        model += "_" + hashlib.blake2b(judged.name.encode(), digest_size=4).hexdigest()
    return portable(organization), model


def _left_out(judged: JudgedSystem, written: Iterable[str]) -> dict[str, str]:
    """Return, as text, what of the run the record cannot hold."""
    left_out: dict[str, str] = {}
    for metric in judged.metrics:
        name = judged.names[metric.judge, metric.metric, metric.model]
        shares = (f"{label}: {estimate_text(share)}" for label, share in metric.labels.items())
        if name not in {*written}:
            left_out[f"without_a_mean.{name}"] = "; ".join([*shares, statuses_text(metric)])
    return left_out


def _system(judged: JudgedSystem, organization: str, identity: str) -> dict[str, Any]:
    """Return the application that was evaluated: the model that it asked is a detail of it."""
    details = {**_UNKNOWN, "kind": "retrieval-augmented generation, evaluated as a whole"}
    if judged.answer_model:
        details["answer_model"] = judged.answer_model
    return {
        "name": judged.name,
        "id": identity,
        "developer": organization,
        "additional_details": details,
    }


def _result(judged: JudgedSystem, metric: MetricSummary, name: str, evaluation: str) -> dict[str, Any]:
    assert metric.estimate is not None
    estimate, interval = metric.estimate, dict[str, Any]()
    if estimate.low is not None:
        interval["confidence_interval"] = {
            "lower": estimate.low,
            "upper": estimate.high,
            "confidence_level": estimate.level,
            "method": estimate.method,
        }
        if estimate.method == "bootstrap":
            interval["num_bootstrap_samples"] = _RESAMPLES
    return {
        "evaluation_result_id": f"{evaluation}#{name}",
        "evaluation_name": name,
        "source_data": {
            "dataset_name": judged.run.summary.name,
            "source_type": "other",
            "additional_details": {
                f"digest.{file}": str(digest)
                for file, digest in judged.run.manifest.get("files", {}).items()
                if file in ("questions.jsonl", "answers.jsonl")
            },
        },
        "metric_config": _metric_config(judged, metric),
        "score_details": {
            "score": estimate.value,
            "details": {
                "statuses": statuses_text(metric),
                "rows": str(metric.n_rows),
                **({"clusters": str(metric.n_documents)} if metric.n_documents else {}),
            },
            "uncertainty": {**interval, "num_samples": estimate.n},
        },
    }


def _metric_config(judged: JudgedSystem, metric: MetricSummary) -> dict[str, Any]:
    card = judged.card(metric)
    facts = {name: str(value) for name, value in judged.judge_facts(metric).items()}
    facts["is_correct"] = _CORRECT_FROM
    if card:
        facts |= {
            "report_card": agreement_text(card),
            "report_card.better_than_baseline": str(card.better_than_baseline),
        }
        facts |= {f"agreement.{name}": estimate_text(value) for name, value in card.agreement.items()}
    config: dict[str, Any] = {
        "metric_id": f"ragstone.{portable(metric.judge)}",
        "metric_name": metric.judge,
        "metric_kind": metric.metric,
        "lower_is_better": False,
        "additional_details": facts,
    }
    if metric.scale:
        low, high = metric.scale
        config |= {"score_type": "continuous", "min_score": low, "max_score": high}
    if metric.model != NO_MODEL:
        named = f"judge {metric.judge}, version {metric.prompt_version}"
        digest = facts.get("digest")
        judge_model = {"name": metric.model, "id": metric.model, "additional_details": _UNKNOWN}
        config["llm_scoring"] = {
            "judges": [{"model_info": judge_model}],
            "input_prompt": f"{named}{f', digest {digest}' if digest else ''}: ragstone judges show "
            f"{metric.judge}",
        }
    return config


def _instances(
    judged: JudgedSystem, written: Iterable[str], evaluation: str, identity: str
) -> Iterable[dict[str, Any]]:
    """Yield a row for each judgement with a score, in the order of the judgements."""
    names = {*written}
    for (question_id, repeat), rows in judged.judgements.items():
        answer, question = judged.answers.get((question_id, repeat)), judged.questions.get(question_id)
        for row in rows:
            name = judged.scored_as(row)
            if row.score is None or name not in names:
                continue
            yield {
                "schema_version": _SCHEMA,
                "evaluation_id": evaluation,
                "model_id": identity,
                "evaluation_name": name,
                "evaluation_result_id": f"{evaluation}#{name}",
                "sample_id": question_id if repeat == 1 else f"{question_id}#{repeat}",
                **_interaction(question, answer),
                **_of_answer(answer),
                "evaluation": _evaluation(row, answer),
                "metadata": _metadata(row),
            }


def _interaction(question: Question | None, answer: Answer | None) -> dict[str, Any]:
    """Return what was asked and said: once, in a conversation, or by an agent."""
    asked = next((row.question for row in (question, answer) if row and row.question), "")
    wanted = next((texts for row in (question, answer) if row and (texts := references(row))), [])
    said = answer.answer if answer else ""
    turns = [(turn.role, turn.content) for turn in answer.turns or ()] if answer else []
    if turns and turns[-1][0] == "assistant":
        del turns[-1]  # the answer itself
    steps = (answer.steps if answer else None) or []
    messages: list[dict[str, Any]] = []
    for role, content in turns or [("user", asked)]:
        messages.append({"turn_idx": len(messages), "role": role, "content": content})
    for number, step in enumerate(steps, 1):
        arguments = {
            str(name): value if isinstance(value, str) else msgspec.json.encode(value).decode()
            for name, value in step.arguments.items()
        }
        call = {"id": f"call-{number}", "name": step.tool, "arguments": arguments}
        messages.append({"turn_idx": len(messages), "role": "assistant", "tool_calls": [call]})
        result = step.error if step.error is not None else step.result
        messages.append(
            {"turn_idx": len(messages), "role": "tool", "content": result, "tool_call_id": [call["id"]]}
        )
    messages.append({"turn_idx": len(messages), "role": "assistant", "content": said})
    kind = "agentic" if steps else "multi_turn" if turns else "single_turn"
    alone = kind == "single_turn"
    return {
        "sample_hash": hashlib.sha256((asked + "".join(wanted)).encode("utf-8", "replace")).hexdigest(),
        "interaction_type": kind,
        "input": {"raw": asked, "reference": wanted},
        "output": {"raw": [said]} if alone else None,
        "messages": None if alone else messages,
        "answer_attribution": [
            {
                "turn_idx": 0 if alone else len(messages) - 1,
                "source": "output.raw" if alone else "messages[-1].content",
                "extracted_value": said,
                "extraction_method": "whole answer",
                "is_terminal": True,
            }
        ],
    }


def _of_answer(answer: Answer | None) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    usage = answer.usage if answer else None
    if usage:
        fields["token_usage"] = {
            "input_tokens": usage.input,
            "output_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "input_tokens_cache_read": usage.cached,
            "input_tokens_cache_write": usage.cache_written,
            "reasoning_tokens": usage.reasoning,
        }
    if answer and answer.latency_s is not None:
        fields["performance"] = {"latency_ms": answer.latency_s * 1000}
    return fields


def _evaluation(row: Judgement, answer: Answer | None) -> dict[str, Any]:
    """Return the score and whether it is a good one; the schema asks for both."""
    own, low_is_best = (row.metadata or {}).get(OWN_THRESHOLD), lowest_is_best(row.judge)
    best = (row.scale or (0.0, 1.0))[0 if low_is_best else 1]
    threshold = float(own) if isinstance(own, int | float) else best
    score = row.score or 0.0
    turns = answer.turns if answer else None
    fields: dict[str, Any] = {
        "score": row.score,
        "is_correct": score <= threshold if low_is_best else score >= threshold,
    }
    if turns:
        fields["num_turns"] = len(turns)
    if answer and answer.steps:
        fields["tool_calls_count"] = len(answer.steps)
    return fields


def _metadata(row: Judgement) -> dict[str, str]:
    """Return the judge's reason, and the whole judgement as JSON: metadata there is text."""
    scored: Status = "scored"
    texts = {"judge": row.judge, "metric": row.metric, "model": row.model, "status": scored}
    texts["judge_version"] = str(row.prompt_version)
    if row.rationale:
        texts["rationale"] = row.rationale
    beside = {name: value for name, value in msgspec.to_builtins(row).items() if name != "rationale"}
    return {**texts, "ragstone": msgspec.json.encode(beside).decode()}
