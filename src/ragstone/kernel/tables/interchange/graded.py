"""Verdicts in files of deepeval (4.3), Inspect (0.3.285), ragas (0.4.3) and Every Eval Ever (0.3.0).

Each reader yields an `Assessment` for each verdict of an evaluator; answers of the same files are read in
samples.py, so that both have the same ids. What Ragstone itself wrote comes back as the row that it was.
"""

import logging
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import NO_MODEL, STATUSES, YES_NO, Answer, Label, Status
from ragstone.kernel.tables.columns import field_of
from ragstone.kernel.tables.interchange.assessments import Assessment, Scale, answered_in
from ragstone.kernel.tables.interchange.samples import (
    case_answer,
    cases_in,
    inspect_row,
    own_system,
    sample_row,
    samples_in,
)
from ragstone.kernel.tables.interchange.values import amount_in, count_in, fields_in, number_in, objects_in
from ragstone.kernel.tables.names import question_key
from ragstone.kernel.tables.storage import url_of

LOG = logging.getLogger(__name__)

Numbered = tuple[int, Any]


class Subjects:
    """Which answer a verdict is on, with the id that the file's answer sheet gives it."""

    def __init__(self) -> None:
        self._seen: Counter[tuple[str, object]] = Counter()

    def of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of an Assessment that a row of an answer sheet tells; once for each row."""
        answered = answered_in(row)
        question = answered.get("question")
        if "subject" not in answered and question:
            name, key = question_key(question), (question, answered.get("system"))
            self._seen[key] += 1
            nth = self._seen[key]
            answered["subject"] = name if nth == 1 else f"{name}-{nth}"
        return answered


def apart(names: Sequence[str]) -> list[str | None]:
    """Return, of evaluators of one answer that have the same name, which of them each is: `1`, `2`, …"""
    seen: Counter[str] = Counter()
    several = {name for name, n in Counter(names).items() if n > 1}
    numbers = []
    for name in names:
        seen[name] += 1
        numbers.append(str(seen[name]) if name in several else None)
    return numbers


# --- deepeval

_GEVAL = " [GEval]"


def read_deepeval_verdicts(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each metric of each test case; what is no object as it is."""
    subjects = Subjects()
    for number, case in cases_in(rows):
        if not isinstance(case, dict):
            yield number, case
            continue
        row = next((row for _, row in case_answer(number, case, where) if isinstance(row, dict)), {})
        metrics = objects_in(case.get("metricsData", case.get("metrics_data")))
        subject = subjects.of(row)
        names = [str(metric.get("name") or "metric") for metric in metrics]
        for metric, name, place in zip(metrics, names, apart(names), strict=True):
            yield number, _of_metric(number, metric, name, place, subject)


def _of_metric(
    number: int, metric: Mapping[str, Any], name: str, place: str | None, subject: Mapping[str, Any]
) -> Assessment:
    """Return what a metric says. One that failed has an error, and none that was skipped has a score."""
    notes = {
        **({"kind": "GEval"} if name.endswith(_GEVAL) else {}),
        **{key: metric[key] for key in ("success", "strictMode", "flaky") if metric.get(key) is not None},
    }
    error = _text(metric.get("error"))
    return Assessment(
        number=number,
        tool="deepeval",
        name=name.removesuffix(_GEVAL),
        source=place,
        value=metric.get("score"),
        scale=YES_NO,
        threshold=number_in(metric.get("threshold")),
        model=_text(metric.get("evaluationModel", metric.get("evaluation_model"))),
        rationale=_text(metric.get("reason")),
        error=error,
        error_type=error.partition(":")[0] if error else None,
        status="not_applicable" if metric.get("skipped") is True else None,
        notes=notes,
        **subject,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


# --- Inspect

_LETTERS: Mapping[str, float] = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # as its `value_to_float` has them
_REASONS: Mapping[str, Status] = {
    "": "abstained",  # it was left unscored on purpose
    **{status: status for status in STATUSES if status != "scored"},
    "grader_failed": "unparsable",
    "scoring_failed": "error",
    **dict.fromkeys(("refusal", "invalid_response_format", "no_response"), "not_applicable"),
}
_BY_CODE = frozenset(("includes", "match", "exact", "f1", "pattern", "answer", "choice", "math"))


def read_inspect_verdicts(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each score of each sample, and for each of a sample whose solver failed.

    A score that is an object holds several, named `SCORER/KEY`. Unscored is a status. A log that Ragstone
    wrote has a score for each judgement, those of failed samples too.
    """
    failed: list[tuple[int, Mapping[str, Any]]] = []
    names: dict[str, None] = {}
    is_ours = False
    for number, sample in samples_in(rows, where):
        if not isinstance(sample, dict):
            yield number, sample
            continue
        scores = fields_in(sample.get("scores"))
        if not scores and fields_in(sample.get("error")):
            failed.append((number, sample))
        for name, score in scores.items():
            for key, value in _values(str(name), fields_in(score)):
                names.setdefault(key)
                found = _of_score(number, sample, key, fields_in(score), value)
                is_ours |= isinstance(found, dict)
                yield number, found
    for number, sample in failed if not is_ours else ():
        scorers = objects_in(fields_in(sample.get("eval")).get("scorers"))
        for name in names or [str(scorer["name"]) for scorer in scorers if scorer.get("name")]:
            yield number, _of_failed(number, sample, name)


def _values(name: str, score: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the value of each score that a score holds."""
    value = score.get("value")
    if isinstance(value, Mapping):
        yield from ((f"{name}/{key}", inner) for key, inner in value.items())
    elif isinstance(value, list):
        yield from ((f"{name}/{place}", inner) for place, inner in enumerate(value, 1))
    else:
        yield name, value


def _of_score(number: int, sample: Mapping[str, Any], name: str, score: Mapping[str, Any], value: Any) -> Any:
    own = fields_in(fields_in(score.get("metadata")).get("ragstone"))
    if own_system(sample) is not None and own:
        said = {"score": number_in(value), "rationale": score.get("explanation")}
        return {field: one for field, one in {**said, **own}.items() if one is not None}
    letter = value if isinstance(value, str) and value in _LETTERS else None
    unscored = isinstance(value, float) and math.isnan(value)
    reason = _text(score.get("reason"))
    beside = {
        key: one
        for key, one in fields_in(score.get("metadata")).items()
        if key not in ("grading", "ragstone")
    }
    notes = {
        "extracted": score.get("answer"),
        "reason": reason,
        **beside,
        "packages": fields_in(sample.get("eval")).get("packages"),
    }
    return Assessment(
        number=number,
        tool="Inspect",
        name=name,
        value=_LETTERS[letter] if letter else value,
        label=letter,
        scale=YES_NO if letter or name.partition("/")[0] in _BY_CODE else None,
        status=_REASONS.get(reason or "", "unparsable") if unscored or value is None else None,
        model=_grader(sample, name.partition("/")[0], score),
        rationale=_text(score.get("explanation")),
        notes={key: one for key, one in notes.items() if one is not None and one != {}},
        **answered_in(inspect_row(sample)),
    )


def _grader(sample: Mapping[str, Any], scorer: str, score: Mapping[str, Any]) -> str | None:
    """Return the model that a scorer asked; NO_MODEL for those of Inspect's that ask none."""
    for message in objects_in(fields_in(score.get("metadata")).get("grading")):
        if _text(message.get("model")):
            return str(message["model"])
    about = fields_in(sample.get("eval"))
    used = next((one for one in objects_in(about.get("scorers")) if one.get("name") == scorer), {})
    model = fields_in(used.get("options")).get("model")
    known = _text(fields_in(model).get("model")) or _text(model)
    return known or (NO_MODEL if scorer in _BY_CODE else None)


def _of_failed(number: int, sample: Mapping[str, Any], name: str) -> Assessment:
    scorer = name.partition("/")[0]
    return Assessment(
        number=number,
        tool="Inspect",
        name=name,
        status="app_error",
        model=_grader(sample, scorer, {}),
        error=_text(fields_in(sample.get("error")).get("message")),
        **answered_in(inspect_row(sample)),
    )


# --- precomputed_scores of Inspect


def read_precomputed(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each score; the evaluator is called after the file, which names none."""
    name = Path(where).stem if where != "the rows" else "precomputed"
    for number, raw in rows:
        epoch = raw.get("epoch")
        subject = str(raw["id"]) if epoch in (None, 1) else f"{raw['id']}#{epoch}"
        for key, value in _values(name, raw):
            letter = value if isinstance(value, str) and value in _LETTERS else None
            extracted = {"extracted": raw["answer"]} if raw.get("answer") is not None else {}
            yield (
                number,
                Assessment(
                    number=number,
                    tool="Inspect",
                    name=key,
                    subject=subject,
                    value=_LETTERS[letter] if letter else value,
                    label=letter,
                    scale=YES_NO if letter else None,
                    rationale=_text(raw.get("explanation")),
                    notes={**extracted, **fields_in(raw.get("metadata"))},
                ),
            )


# --- ragas

_SAMPLE = {
    *("user_input", "retrieved_contexts", "reference_contexts", "response", "multi_responses", "reference"),
    *("rubrics", "retrieved_context_ids", "reference_context_ids", "reference_tool_calls"),
    *("reference_topics", "persona_name", "query_style", "query_length", "synthesizer_name"),
}
_METRICS = {
    *("faithfulness", "faithfulness_with_hhem", "answer_relevancy", "answer_correctness"),
    *("answer_similarity", "semantic_similarity", "factual_correctness", "context_precision"),
    *("context_recall", "context_utilization", "context_entity_recall", "noise_sensitivity"),
    *("llm_context_precision_with_reference", "llm_context_precision_without_reference"),
    *("summary_score", "topic_adherence", "agent_goal_accuracy", "domain_specific_rubrics"),
    *("instance_rubrics", "nv_accuracy", "nv_response_groundedness", "nv_context_relevance"),
}
_BY_STRINGS = {"exact_match", "string_present", "bleu_score", "rouge_score", "chrf_score"} | {
    *("non_llm_string_similarity", "non_llm_context_recall", "id_based_context_recall"),
    *("non_llm_context_precision_with_reference", "id_based_context_precision", "tool_call_accuracy"),
}
_FAILED = "ragas gave no score (NaN); its own log says why"


def read_ragas_verdicts(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each metric of each sample. NaN, or nothing, is a metric that failed.

    A metric is a column of ragas' own, or of numbers from 0 to 1 that is no field of a sample. Tells which
    columns of other numbers were left.
    """
    listed = [*rows]
    samples = [raw for _, raw in listed if isinstance(raw, dict)]
    metrics, left = _metric_columns(samples)
    if left and metrics:
        LOG.warning(
            "%s: not read as scores of ragas, which are from 0 to 1: %s.", where, ", ".join(sorted(left))
        )
    subjects = Subjects()
    for number, raw in listed:
        try:
            subject = subjects.of(sample_row(raw)) if isinstance(raw, dict) else None
        except ValueError as mistake:
            yield number, mistake
            continue
        if subject is None:
            yield number, raw
            continue
        for name in metrics:
            if name not in raw:
                continue
            value = _cell(raw[name])
            yield (
                number,
                Assessment(
                    number=number,
                    tool="ragas",
                    name=name,
                    value=value,
                    scale=metrics[name],
                    model=NO_MODEL if name.partition("(")[0] in _BY_STRINGS else None,
                    status="error" if value is None else None,
                    error=_FAILED if value is None else None,
                    **subject,
                ),
            )


def _cell(value: object) -> float | None:
    """Return a score; None for NaN and for nothing. A cell of CSV is text."""
    return float(value) if isinstance(value, bool) else number_in(value)


def _metric_columns(samples: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Scale | None], set[str]]:
    """Return metric -> its scale where its scores lie on it, and columns of other numbers."""
    metrics: dict[str, Scale | None] = {}
    left: set[str] = set()
    for name in dict.fromkeys(key for sample in samples for key in sample):
        if name in _SAMPLE or field_of(name, Answer) or (field_of(name, Label) not in (None, "score")):
            continue
        cells = [sample.get(name) for sample in samples]
        told = [cell for cell in cells if cell not in (None, "") and cell == cell]
        numbers = [number for cell in told if (number := _cell(cell)) is not None]
        known = name.partition("(")[0] in _METRICS | _BY_STRINGS
        if len(numbers) < len(told) or not (numbers or known):
            continue
        on_scale = all(0 <= number <= 1 for number in numbers)
        if on_scale or known:
            metrics[name] = YES_NO if on_scale else None
        else:
            left.add(name)
    return metrics, left


# --- Every Eval Ever


def refuse_record(_rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Raise DataError: there are means in the file, and no answers and no verdicts."""
    stem = Path(where).stem
    raise DataError(
        f"{where}: it holds the means of a record of Every Eval Ever. The verdicts on each answer are in "
        f"{stem}_samples.jsonl next to it: give that file."
    )


def read_eee_answers(rows: Iterable[Numbered], _where: str) -> Iterator[Numbered]:
    """Yield an answer for each sample of a model, which may have an instance for each metric."""
    seen: set[tuple[object, object]] = set()
    for number, raw in rows:
        if not isinstance(raw, dict):
            yield number, raw
            continue
        row = _eee_answer(raw)
        key = row["id"], row.get("system")
        if key not in seen:
            seen.add(key)
            yield number, row


def _eee_answer(raw: Mapping[str, Any]) -> dict[str, Any]:
    asked, output = fields_in(raw.get("input")), fields_in(raw.get("output"))
    replies = [text for text in output.get("raw") or [] if isinstance(text, str)]
    spoken = [one for one in objects_in(raw.get("messages")) if one.get("role") == "assistant"]
    tokens, took = fields_in(raw.get("token_usage")), fields_in(raw.get("performance"))
    sent, made = count_in(tokens, ["input_tokens"]), count_in(tokens, ["output_tokens"])
    latency = amount_in(took.get("latency_ms"))
    metadata = fields_in(raw.get("metadata"))
    own, epoch = _own_row(metadata) or {}, str(metadata.get("epoch") or 1)
    sample = str(raw.get("sample_id"))
    row = {
        "id": own.get("question_id") or (sample if epoch == "1" else f"{sample}#{epoch}"),
        "system": own.get("system") or raw.get("model_id"),
        "question": asked.get("raw"),
        "reference": asked.get("reference") or None,
        "answer": replies[-1] if replies else next((one.get("content") for one in spoken[::-1]), None) or "",
        "latency_s": None if latency is None else latency / 1000,
        "usage": None if sent is None and made is None else {"input": sent or 0, "output": made or 0},
    }
    return {name: value for name, value in row.items() if value is not None}


def read_eee_verdicts(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield an Assessment for each instance; scale and judge are those of the aggregate beside the file."""
    configs = _eee_configs(where)
    listed = [*rows]
    results = {
        (str(raw["evaluation_name"]), str(raw.get("evaluation_result_id") or ""))
        for _, raw in listed
        if isinstance(raw, dict)
    }
    shared = {name for name, n in Counter(name for name, _ in results).items() if n > 1}
    for number, raw in listed:
        if not isinstance(raw, dict):
            yield number, raw
            continue
        metadata = fields_in(raw.get("metadata"))
        if (own := _own_row(metadata)) is not None:
            yield number, own
            continue
        name, result = str(raw["evaluation_name"]), _text(raw.get("evaluation_result_id"))
        said, config = fields_in(raw.get("evaluation")), configs.get(result or name, {})
        error = _text(raw.get("error"))
        low, high = number_in(config.get("min_score")), number_in(config.get("max_score"))
        judges = objects_in(fields_in(config.get("llm_scoring")).get("judges"))
        models = [str(fields_in(judge.get("model_info")).get("id")) for judge in judges]
        notes = {"is_correct": said.get("is_correct"), **metadata}
        yield (
            number,
            Assessment(
                number=number,
                tool="Every Eval Ever",
                # One name may be that of a benchmark, of which several scorers have results.
                name=result if result and name in shared else name,
                value=said.get("score"),
                scale=None if low is None or high is None else (low, high),
                model="+".join(models) or None,
                error=error,
                notes={name: value for name, value in notes.items() if value is not None},
                **answered_in(_eee_answer(raw)),
            ),
        )


def _own_row(metadata: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the judgement that Ragstone wrote beside an instance; None for instances of others."""
    try:
        own = msgspec.json.decode(metadata.get("ragstone") or "null", type=dict[str, Any] | None)
    except (msgspec.DecodeError, TypeError):
        return None
    if not own or not {"judge", "metric", "status"} <= own.keys():
        return None
    rationale = metadata.get("rationale")
    return own | ({"rationale": rationale} if rationale is not None else {})


def _eee_configs(where: str) -> dict[str, Mapping[str, Any]]:
    """Return the `metric_config` of each result of the aggregate beside a file, by its id and its name."""
    path = Path(where.removesuffix("_samples.jsonl") + ".json")
    if not where.endswith("_samples.jsonl") or url_of(path) is not None or not path.is_file():
        return {}
    try:
        record = msgspec.json.decode(path.read_bytes())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, OSError) as mistake:
        raise DataError(
            f"{path}: cannot be read ({mistake}), and it says which score is the best. Copy the file again."
        ) from None
    results = objects_in(fields_in(record).get("evaluation_results"))
    return {
        str(result[name]): fields_in(result.get("metric_config"))
        for name in ("evaluation_name", "evaluation_result_id")
        for result in results
        if name in result
    }
