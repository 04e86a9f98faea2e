"""Verdicts of other tools, as judgements and labels. The files of tests/fixtures/verdicts were written by the
tools themselves, or by the types of their own packages (README.md there says how)."""

import contextlib
import json
import logging
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.errors import ColumnsError, DataError
from ragstone.kernel.records import Answer, Judgement, Label
from ragstone.kernel.tables import parse_rows, read_rows
from ragstone.kernel.tables.interchange.assessments import Assessment, judgement_rows, label_rows, metric_of
from ragstone.kernel.tables.interchange.recognise import FORMATS, OURS, rows_of_tools
from ragstone.kernel.tables.interchange.verdicts import kinds_in

FIXTURES = Path(__file__).parents[2] / "fixtures" / "verdicts"


def judged(name: str | Path) -> list[Judgement]:
    return list(read_rows(FIXTURES / name, Judgement))


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FIXTURES / name).read_text().splitlines()]


def event(name: str = "correctness", trace: str = "t1", span: str = "s1", **more: object) -> dict[str, Any]:
    """A record of a log as the SDK prints it."""
    attributes = {
        "gen_ai.evaluation.name": name,
        **{f"gen_ai.evaluation.{key}": value for key, value in more.items()},
    }
    return {
        "event_name": "gen_ai.evaluation.result",
        "trace_id": trace,
        "span_id": span,
        "attributes": attributes,
    }


def span(trace: str, name: str, asked: str, said: str, **more: object) -> dict[str, Any]:
    context = {"trace_id": trace, "span_id": name}
    return {
        "name": name,
        "context": context,
        "attributes": {"input": {"value": asked}, "output": {"value": said}},
        **more,
    }


def outcome(value: object = None, label: str | None = None, **more: object) -> dict[str, Any]:
    """The fields of the judgement that one verdict becomes."""
    one = Assessment(number=1, tool="T", name="n", value=value, label=label, subject="1", **more)  # type: ignore[arg-type]
    (_, row), _ = judgement_rows([one, _scored()], "f")
    return row


def _scored() -> Assessment:
    return Assessment(number=2, tool="T", name="other", value=1.0, subject="1")


# ----------------------------------------------------------------- what tools wrote

RECORDED = {
    "otel-pydantic-evals.jsonl": {
        ("Correctness", "correctness", "unknown (OpenTelemetry)", 2, "scored"): 15,
        ("Correctness", "correctness", "unknown (OpenTelemetry)", 2, "timeout"): 1,
        ("Tone", "tone", "unknown (OpenTelemetry)", 0, "unparsable"): 16,
    },
    "otel-sdk-printed.jsonl": {
        ("Correctness", "correctness", "unknown (OpenTelemetry)", 2, "scored"): 2,
        ("Tone", "tone", "unknown (OpenTelemetry)", 0, "unparsable"): 2,
    },
    "openinference-evaluators.jsonl": {
        ("correctness", "correctness", "gpt-4o-mini", 0, "scored"): 12,
        ("correctness", "correctness", "gpt-4o-mini", 0, "error"): 1,
        ("is_short", "is_short", "none", 0, "scored"): 12,
    },
    "phoenix-evals.jsonl": {
        ("correctness", "correctness", "gpt-4o-mini", 0, "scored"): 12,
        ("correctness", "correctness", "gpt-4o-mini", 0, "error"): 1,
        ("is_short", "is_short", "none", 0, "scored"): 12,
    },
    "phoenix-annotations.jsonl": {
        ("correctness", "correctness", "gpt-4o-mini", 0, "scored"): 12,
        ("correctness", "correctness", "gpt-4o-mini", 0, "unparsable"): 4,
        ("is_short", "is_short", "none", 0, "scored"): 12,
        ("is_short", "is_short", "none", 0, "unparsable"): 4,
    },
    "langfuse.jsonl": {
        ("correctness", "correctness", "unknown (Langfuse)", 0, "scored"): 16,
        ("helpfulness", "helpfulness", "unknown (Langfuse)", 0, "scored"): 16,
        ("tone", "tone", "unknown (Langfuse)", 0, "unparsable"): 16,
    },
    "langfuse-scores-v3.jsonl": {
        ("correctness", "correctness", "unknown (Langfuse)", 0, "scored"): 6,
        ("satisfaction", "satisfaction", "unknown (Langfuse)", 0, "scored"): 1,
        ("topic", "topic", "unknown (Langfuse)", 0, "unparsable"): 1,
    },
    "langsmith.jsonl": {
        ("correctness", "correctness", "unknown (LangSmith)", 0, "scored"): 15,
        ("correctness", "correctness", "unknown (LangSmith)", 0, "timeout"): 1,
    },
    "mlflow-traces.jsonl": {
        ("correctness", "correctness", "openai:/gpt-4o-mini", 0, "scored"): 15,
        ("correctness", "correctness", "openai:/gpt-4o-mini", 0, "rate_limited"): 1,
        ("is_short", "is_short", "none", 0, "scored"): 16,
    },
    "azure-evaluation.json": {
        ("f1_score", "f1_score", "unknown (Azure AI evaluation)", 0, "scored"): 16,
        ("similarity", "similarity", "gpt-4o-mini", 0, "scored"): 15,
        ("similarity", "similarity", "gpt-4o-mini", 0, "error"): 1,
        ("short", "short", "unknown (Azure AI evaluation)", 0, "scored"): 16,
    },
}


@pytest.mark.parametrize("name", RECORDED)
def test_each_verdict_is_a_judgement_with_its_judge_and_status(name: str) -> None:
    rows = judged(name)
    found = Counter((row.judge, row.metric, row.model, row.prompt_version, row.status) for row in rows)
    assert found == RECORDED[name]
    assert all(
        row.scale is None or row.scale[0] <= row.score <= row.scale[1]
        for row in rows
        if row.score is not None
    )
    assert all(row.metadata and row.metadata["tool"] for row in rows)


WITH_TEXTS = {
    name
    for name in RECORDED
    if name not in ("otel-sdk-printed.jsonl", "phoenix-annotations.jsonl", "langfuse-scores-v3.jsonl")
}


@pytest.mark.parametrize("name", sorted(WITH_TEXTS))
def test_a_verdict_has_the_texts_that_it_is_on_and_its_reason(name: str) -> None:
    first = next(row for row in judged(name) if row.metric in ("correctness", "similarity") and row.rationale)
    assert first.metadata is not None
    assert (first.metadata["question"], first.metadata["answer"]) == (
        "When is winter wheat sown?",
        "In October.",
    )
    assert first.rationale == "It agrees with the reference."
    assert first.score in (1.0, 5.0)


@pytest.mark.parametrize(
    "name", ["otel-pydantic-evals.jsonl", "langfuse.jsonl", "langsmith.jsonl", "mlflow-traces.jsonl"]
)
def test_judgements_and_the_answers_of_a_file_have_the_same_ids(name: str) -> None:
    answers = {(row.question_id, row.system) for row in read_rows(FIXTURES / name, Answer)}
    assert {(row.question_id, row.system) for row in judged(name)} == answers
    assert len(answers) == 16


@pytest.mark.parametrize(
    ("name", "who"),
    [("langfuse.jsonl", "ada"), ("langsmith.jsonl", "Ada"), ("mlflow-traces.jsonl", "ada@example.org")],
)
def test_what_people_annotated_are_labels(name: str, who: str) -> None:
    labels = list(read_rows(FIXTURES / name, Label))
    assert len(labels) == 16
    assert {(label.annotator, label.metric) for label in labels} == {(who, "correctness")}
    assert [label.score for label in labels[:8]] == [1, 1, 1, 0, 1, 0, 1, 0]


def test_csv_and_json_of_a_data_frame_say_the_same() -> None:
    assert judged("phoenix-evals.csv") == judged("phoenix-evals.jsonl")


def test_a_table_of_traces_says_the_same_as_the_traces() -> None:
    by_id = {(row.question_id, row.judge): row.score for row in judged("mlflow-traces.jsonl")}
    assert {(row.question_id, row.judge): row.score for row in judged("mlflow-search.jsonl")} == by_id


def test_python_takes_a_tools_objects() -> None:
    assert parse_rows(lines("langsmith.jsonl"), Judgement) == judged("langsmith.jsonl")


def test_an_evaluators_error_is_a_status_and_keeps_its_words() -> None:
    failed = [row for row in judged("otel-pydantic-evals.jsonl") if row.status == "timeout"]
    assert [(row.score, row.error) for row in failed] == [
        (None, "TimeoutError: the judge's model did not reply within 30 s")
    ]
    [limited] = [row for row in judged("mlflow-traces.jsonl") if row.status == "rate_limited"]
    assert limited.error == "429 Too Many Requests"


def test_azures_threshold_cuts_where_it_says_what_passes(tmp_path: Path) -> None:
    rows = json.loads((FIXTURES / "azure-evaluation.json").read_text())["rows"]
    similar = [row for row in judged("azure-evaluation.json") if row.judge == "similarity" and row.score]
    assert {row.metadata["threshold"] for row in similar if row.metadata} == {3.0}
    assert {row.label for row in similar} == {"pass", "fail"}
    for row in rows:  # a metric of harm passes below its threshold
        column = "outputs.similarity.similarity_passed"
        passed = row.get(column)
        row[column] = not passed if isinstance(passed, bool) else None
        row["outputs.similarity.similarity_result"] = None
    turned = judged(write(tmp_path / "a.jsonl", *rows))
    assert not any("threshold" in (row.metadata or {}) for row in turned if row.judge == "similarity")


def test_what_azure_adds_to_an_event_is_taken() -> None:
    more = {
        "gen_ai.evaluation.threshold": "3",
        "gen_ai.evaluation.min_value": "1",
        "gen_ai.evaluation.max_value": "5",
        "gen_ai.evaluator.version": "7",
    }
    one = event("Groundedness", **{"score.value": 4.0, "score.label": "pass"})
    one["attributes"]["internal_properties"] = json.dumps(more)
    [row] = parse_rows([one], Judgement)
    assert (row.metric, row.prompt_version, row.scale) == ("faithfulness", 7, (1.0, 5.0))
    assert row.metadata is not None
    # Beside a scale of 1 to 5 a label would make the score the number of a category.
    assert (row.label, row.metadata["label"], row.metadata["threshold"]) == (None, "pass", 3.0)


def test_an_event_of_a_span_is_read_as_one_of_a_log() -> None:
    attributes = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.5}
    events = [{"name": "gen_ai.evaluation.result", "attributes": attributes}]
    [row] = parse_rows([span("t", "s", "When?", "Now.", events=events)], Judgement)
    assert (row.judge, row.score, row.metadata and row.metadata["answer"]) == ("tone", 0.5, "Now.")


def test_columns_beside_spans_are_verdicts() -> None:
    row = {"context.trace_id": "t", "context.span_id": "s", "name": "rag", "attributes.input.value": "When?"}
    row |= {
        "attributes.output.value": "Now.",
        "eval.Correctness.label": "incorrect",
        "eval.Correctness.score": 0.0,
    }
    [found] = parse_rows([row], Judgement)
    assert (found.judge, found.score, found.label) == ("Correctness", 0.0, "incorrect")


def test_verdicts_on_parts_of_an_answer_are_no_verdicts_on_it() -> None:
    spans = [
        span("t", "top", "When?", "Now."),
        span("t", "a", "When?", "One.", parent_id="top"),
        span("t", "b", "When?", "Two.", parent_id="top"),
    ]
    kind = {"annotator_kind": "LLM", "name": "relevance"}
    notes = [{**kind, "span_id": name, "result": {"score": at}} for at, name in enumerate(("a", "top", "b"))]
    rows = parse_rows([*spans, *notes], Judgement)
    [whole] = parse_rows(spans, Answer)
    assert [(row.question_id, row.score) for row in rows] == [
        (f"{whole.question_id}#a", 0.0),
        (whole.question_id, 1.0),
        (f"{whole.question_id}#b", 2.0),
    ]


def test_what_a_judge_was_asked_is_no_answer_of_the_application() -> None:
    judge = span("t", "judge", "Is it right?", "yes", parent_id="top")
    judge["attributes"] |= {"openinference": {"span": {"kind": "EVALUATOR"}}}
    asked = span("t", "model", "Right?", "yes", parent_id="judge")
    asked["attributes"] |= {"openinference": {"span": {"kind": "LLM"}}, "llm": {"model_name": "m"}}
    [answer] = parse_rows([span("t", "top", "When?", "Now."), judge, asked], Answer)
    assert (answer.answer, answer.system) == ("Now.", "default")
    [row] = parse_rows([span("t", "top", "When?", "Now."), judge, asked], Judgement)
    assert (row.question_id, row.score, row.model) == (answer.question_id, 1.0, "m")


# ----------------------------------------------------------------- scores and statuses


@pytest.mark.parametrize(
    ("value", "label", "score", "scale"),
    [
        (True, None, 1.0, [0.0, 1.0]),
        (False, "fail", 0.0, [0.0, 1.0]),
        (0.25, None, 0.25, None),
        (4, None, 4.0, None),
        (1, "pass", 1.0, None),
        ("0.8", None, 0.8, None),
        ("80 %", None, 0.8, None),
        ("yes", None, 1.0, [0.0, 1.0]),
        (None, "incorrect", 0.0, [0.0, 1.0]),
        ("", "pass", 1.0, [0.0, 1.0]),
        ("good", "pass", 1.0, [0.0, 1.0]),
    ],
)
def test_a_value_becomes_a_score_and_a_scale_only_where_its_form_says_so(
    value: object, label: str | None, score: float, scale: list[float] | None
) -> None:
    row = outcome(value, label)
    assert (row["status"], row["score"], row.get("scale")) == ("scored", score, scale)


@pytest.mark.parametrize(
    ("value", "label", "status"),
    [
        (None, None, "unparsable"),
        (float("nan"), None, "unparsable"),
        (float("inf"), "pass", "unparsable"),
        ("NaN", None, "unparsable"),
        (10**400, None, "unparsable"),
        ("hallucinated", None, "unparsable"),
        ("unknown", None, "abstained"),
        (None, "N/A", "not_applicable"),
    ],
)
def test_what_is_no_score_has_a_status_and_no_score(value: object, label: str | None, status: str) -> None:
    row = outcome(value, label)
    assert row["status"] == status
    assert "score" not in row


@pytest.mark.parametrize(
    ("error", "error_type", "status"),
    [
        ("x", "TimeoutError", "timeout"),
        (None, "504", "timeout"),
        ("Deadline exceeded", None, "timeout"),
        ("x", "openai.RateLimitError", "rate_limited"),
        ("HTTP 429", None, "rate_limited"),
        ("x", "ContentFilterFinishReasonError", "refused"),
        ("x", "JSONDecodeError", "unparsable"),
        ("boom", "ValueError", "error"),
        ("costs 4290 tokens", None, "error"),
    ],
)
def test_an_error_has_the_status_that_its_class_or_words_name(
    error: str | None, error_type: str | None, status: str
) -> None:
    row = outcome(1.0, None, error=error, error_type=error_type)
    assert (row["status"], "score" in row, row["error"]) == (status, False, error or error_type)


def test_a_scale_that_scores_leave_is_none() -> None:
    ones = [
        Assessment(number=n, tool="T", name="n", subject=str(n), value=v) for n, v in enumerate((True, 3))
    ]
    assert all("scale" not in row for _, row in judgement_rows(ones, "f"))
    stated = [msgspec.structs.replace(one, value=n, scale=(0.0, 1.0)) for n, one in enumerate(ones)]
    assert [row["scale"] for _, row in judgement_rows(stated, "f")] == [[0.0, 1.0]] * 2


def test_names_of_metrics_are_ours_where_they_mean_ours() -> None:
    assert [metric_of(name) for name in ("Groundedness", "answer_relevancy", "Correctness", "my_check")] == [
        *("faithfulness", "answer_relevance", "correctness", "my_check")
    ]


def test_words_give_labels_their_scores(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.jsonl",
        event(**{"score.label": "Factual"}),
        event(trace="t2", **{"score.label": "made up"}),
    )
    rows = list(read_rows(path, Judgement, words={"factual": 1.0, "made up": 0.0}))
    assert [(row.score, row.label, row.scale) for row in rows] == [
        (1.0, "Factual", None),
        (0.0, "made up", None),
    ]
    with pytest.raises(ColumnsError, match="labels are words"):
        list(read_rows(path, Judgement))


# ----------------------------------------------------------------- which judge


def test_two_versions_of_one_name_are_two_judges() -> None:
    rows = parse_rows(
        [
            event(trace=t, **{"score.value": 1.0, "evaluator.version": v})
            for t in ("t1", "t2")
            for v in ("1", "2")
        ],
        Judgement,
    )
    assert Counter((row.judge, row.prompt_version) for row in rows) == {
        ("correctness@version=1", 1): 2,
        ("correctness@version=2", 2): 2,
    }


def test_a_version_that_is_no_number_is_part_of_the_name() -> None:
    [row] = parse_rows([event(**{"score.value": 1.0, "evaluator.version": "2026-11-a"})], Judgement)
    assert (row.judge, row.prompt_version) == ("correctness@version=2026-11-a", 0)
    [row] = parse_rows([event(**{"score.value": 1.0, "evaluator.version": "v3"})], Judgement)
    assert (row.judge, row.prompt_version) == ("correctness", 3)


def sourced(n: int, n_sources: int) -> list[dict[str, Any]]:
    more = [
        {"score.value": 1.0, "evaluator.source": f'{{"name": "Judge", "n": {at % n_sources}}}'}
        for at in range(n)
    ]
    return [event(trace=f"t{at}", **fields) for at, fields in enumerate(more)]


def test_two_sources_of_one_name_are_two_judges_and_one_for_each_row_is_one(
    caplog: pytest.LogCaptureFixture, says: Callable[[object], None]
) -> None:
    assert {row.judge for row in parse_rows(sourced(6, 2), Judgement)} == {
        "correctness@source=1",
        "correctness@source=2",
    }
    rows = parse_rows(sourced(30, 30), Judgement)
    assert {row.judge for row in rows} == {"correctness"}
    assert rows[3].metadata is not None
    assert rows[3].metadata["notes"]["evaluator_source"] == '{"name": "Judge", "n": 3}'
    says("\n".join(caplog.messages))


def test_the_models_of_one_evaluator_are_two_judges_and_a_failure_is_its_own() -> None:
    def rated(model: str, **more: object) -> dict[str, Any]:
        source = {"source_type": "LLM_JUDGE", "source_id": model}
        return {
            "assessment_name": "c",
            "source": source,
            "trace_id": "t",
            "feedback": {"value": True},
            **more,
        }

    rows = parse_rows([rated("openai:/a"), rated("openai:/b")], Judgement)
    assert [(row.judge, row.model) for row in rows] == [("c", "openai:/a"), ("c", "openai:/b")]


# ----------------------------------------------------------------- bad input


def test_a_verdict_that_comes_again_counts_once_the_latest(
    caplog: pytest.LogCaptureFixture, says: Callable[[object], None]
) -> None:
    first, second = (
        event(**{"score.value": 1.0}),
        event(**{"score.value": 0.0, "explanation": "Looked again."}),
    )
    first["timestamp"], second["timestamp"] = "2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z"
    [row] = parse_rows([first, second, first], Judgement)
    assert row.score == 1.0
    assert row.metadata is not None
    assert row.metadata["earlier"] == [{"value": 0.0, "rationale": "Looked again."}]
    [same] = parse_rows([second, second], Judgement)
    assert "earlier" not in (same.metadata or {})
    says("\n".join(caplog.messages))


def test_an_event_without_a_parent_is_kept_and_told(
    caplog: pytest.LogCaptureFixture, says: Callable[[object], None]
) -> None:
    lost = event(trace="0" * 32, span="0" * 16, **{"score.value": 1.0})
    rows = parse_rows([lost, lost, event(**{"score.value": 0.0})], Judgement)
    assert [(row.question_id, row.score) for row in rows] == [
        ("unplaced-1", 1.0),
        ("unplaced-2", 1.0),
        ("t1", 0.0),
    ]
    says("\n".join(caplog.messages))


def test_tools_in_one_file_are_told_apart_and_what_is_of_none_is_named(
    tmp_path: Path, says: Callable[[object], None]
) -> None:
    mixed = [
        *lines("langfuse-scores-v3.jsonl")[:1],
        *lines("langsmith.jsonl")[:3],
        *lines("mlflow-traces.jsonl")[:1],
    ]
    assert {row.metadata["tool"] for row in judged(write(tmp_path / "a.jsonl", *mixed)) if row.metadata} == {
        *("Langfuse", "LangSmith", "MLflow")
    }
    assert {(row.judge, row.model) for row in judged(tmp_path / "a.jsonl")} == {
        ("correctness", "unknown (Langfuse)"),
        ("correctness", "unknown (LangSmith)"),
        ("correctness", "openai:/gpt-4o-mini"),
        ("is_short", "none"),
    }
    same = [
        Assessment(number=n, tool=t, name="c", value=1, subject="1", model="m") for n, t in enumerate("AB")
    ]
    assert [row["judge"] for _, row in judgement_rows(same, "f")] == ["c@tool=A", "c@tool=B"]
    with pytest.raises(DataError) as mistake:
        judged(write(tmp_path / "b.jsonl", *mixed, {"foo": 1}))
    says(mistake.value)


def test_a_file_that_was_cut_off_says_where(tmp_path: Path, says: Callable[[object], None]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text((FIXTURES / "langsmith.jsonl").read_text()[:3000])
    with pytest.raises(DataError) as mistake:
        judged(path)
    says(mistake.value)


def test_a_file_of_people_alone_and_one_of_judges_alone_say_so(
    tmp_path: Path, says: Callable[[object], None]
) -> None:
    people = [row for row in lines("langsmith.jsonl") if row.get("feedback_source", {}).get("type") == "app"]
    with pytest.raises(DataError) as mistake:
        judged(write(tmp_path / "a.jsonl", *people))
    says(mistake.value)
    with pytest.raises(DataError) as mistake:
        list(read_rows(write(tmp_path / "b.jsonl", *lines("otel-pydantic-evals.jsonl")), Label))
    says(mistake.value)


def test_a_note_or_a_correction_by_a_person_is_no_label(
    caplog: pytest.LogCaptureFixture, says: Callable[[object], None]
) -> None:
    rows = [row for row in lines("langfuse-scores-v3.jsonl") if row["source"] == "ANNOTATION"]
    value = {**rows[0], "id": "n", "dataType": "NUMERIC", "value": 1, "name": "quality"}
    [label] = parse_rows([*rows, value], Label)
    assert (label.score, label.metric) == (1.0, None)  # quality says nothing of the metric
    says("\n".join(caplog.messages))


@pytest.mark.parametrize("kind", ["", "ROBOT", None, 3])
def test_a_source_of_an_unknown_type_is_an_evaluators(kind: object) -> None:
    row = {"assessment_name": "c", "source": {"source_type": kind}, "trace_id": "t", "feedback": {"value": 1}}
    [found] = parse_rows([row], Judgement)
    assert (found.score, found.model) == (1.0, "unknown (MLflow)")


def test_nan_is_read_from_a_tools_file_alone(tmp_path: Path, says) -> None:
    [failed] = [row for row in judged("azure-evaluation.json") if row.status == "error"]
    assert failed.error is not None
    says(failed.error)
    path = tmp_path / "own.json"
    path.write_text('[{"id": "q", "answer": "a", "x": NaN}]')
    with pytest.raises(DataError, match="not valid JSON"):
        list(read_rows(path, Answer))


def test_a_reason_of_ten_megabytes_is_kept() -> None:
    reason = "because " * 1_300_000
    [row] = parse_rows([event(**{"score.value": 1.0, "explanation": reason})], Judgement)
    assert row.rationale == reason


@pytest.mark.parametrize("depth", [50, 400, 900])
def test_deep_objects_are_told_or_read_and_others_beside_them_stay(depth: int, tmp_path: Path) -> None:
    deep: Any = 1
    for _ in range(depth):
        deep = {"a": deep}
    odd = event(trace="t2", **{"score.value": 1.0, "deep": deep})
    path = write(tmp_path / "a.jsonl", event(**{"score.value": 1.0}), odd)
    with contextlib.suppress(DataError):  # where a tool's row is too deep to be read, its line is named
        assert len(judged(path)) == 2


def test_attributes_that_are_too_deep_are_one_sentence_and_the_rest_is_read(
    says: Callable[[object], None],
) -> None:
    deep: dict[str, Any] = {"stringValue": "x"}
    for _ in range(2000):
        deep = {"kvlistValue": {"values": [{"key": "a", "value": deep}]}}
    attributes = [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "tone"}},
        {"key": "d", "value": deep},
    ]
    record = {"eventName": "gen_ai.evaluation.result", "traceId": "t", "attributes": attributes}
    log = {"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}
    rows = [*rows_of_tools([(1, log), (2, event(**{"score.value": 1.0}))], "f", Judgement)]
    assert [number for number, _ in rows] == [2, 1]
    says(rows[1][1])


ODD = st.sampled_from(
    [None, True, -1, 1e300, "", "x", "NaN", [], {}, [1], {"a": [{}]}, "{", "[]", '{"a":1}', 10**30]
)
SOURCES = sorted({*RECORDED} - {"azure-evaluation.json"})


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(SOURCES), st.data())
def test_whatever_stands_in_a_field_gives_rows_or_one_sentence(name: str, data: st.DataObject) -> None:
    rows = lines(name)[:3]
    for row in rows:
        here: Any = row
        while True:
            keys: list[Any] = list(here) if isinstance(here, dict) else list(range(len(here)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(here[key], dict | list) or data.draw(st.integers(0, 3)) == 0:
                here[key] = data.draw(ODD)
                break
            here = here[key]
    for kind in (Judgement, Label, Answer):
        try:
            found: list[Any] = parse_rows(rows, kind)
        except DataError:
            continue
        assert msgspec.json.encode(found)


def test_a_sheet_with_peoples_scores_beside_is_read_as_labels() -> None:
    rows = [{"question": "When?", "answer": "Now.", "correctness": "1"}]
    assert kinds_in(rows, "a.jsonl") == set()
    [label] = parse_rows(rows, Label)
    assert label.score == 1.0


def test_rows_of_ours_pass_untouched() -> None:
    row = msgspec.to_builtins(judged("langsmith.jsonl")[0])
    assert [*rows_of_tools([(1, row)], "f", Judgement)] == [(1, row)]


def test_scores_of_langfuse_in_csv_say_the_same() -> None:
    scores = [score for trace in lines("langfuse.jsonl") for score in trace["scores"]]
    texts = [{name: str(value) for name, value in score.items()} for score in scores]
    assert [(row.question_id, row.judge, row.score) for row in parse_rows(texts, Judgement)] == [
        (row.question_id, row.judge, row.score) for row in parse_rows(scores, Judgement)
    ]
    assert [row.score for row in parse_rows(texts, Label)] == [row.score for row in parse_rows(scores, Label)]


def test_an_annotation_of_phoenix_by_a_person_is_a_label_of_the_spans_answer() -> None:
    note = {"name": "correctness", "annotator_kind": "HUMAN", "span_id": "s", "user_id": "u1"}
    note |= {"result": {"label": "incorrect", "explanation": "It is later."}, "id": "a", "source": "APP"}
    rows = [span("t", "s", "When?", "Now."), note]
    [label] = parse_rows(rows, Label)
    [answer] = parse_rows(rows[:1], Answer)
    assert (label.question_id, label.score, label.annotator) == (answer.question_id, 0.0, "u1")
    assert (label.metric, label.rationale) == ("correctness", "It is later.")


def test_feedback_of_users_speaks_of_any_metric() -> None:
    one = Assessment(number=1, tool="T", name="user_feedback", value=1, by="person", subject="1")
    [(_, row)] = label_rows([one, msgspec.structs.replace(one, by="evaluator")], "f")
    assert "metric" not in row


def test_nothing_is_logged_for_a_plain_file(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        judged("mlflow-traces.jsonl")
        judged("langsmith.jsonl")
    assert caplog.messages == []


@pytest.mark.parametrize("value", ["text", {}, [], None, 1])
def test_a_row_in_our_own_columns_is_of_no_tool(value):
    raw = dict.fromkeys(OURS, value)
    assert not [form for form in FORMATS if form.answers and form.fits(raw)]
