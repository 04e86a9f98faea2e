"""Specifications of charts: what stands in them, and that nothing from outside becomes an expression."""

import hashlib
import json
from importlib import resources

import msgspec
from tests.support.tiny_run import JUDGEMENTS, QUESTIONS, card, judgement, summary_of

from ragstone.features.report._charts import agreement_chart, distribution_chart, means_chart, tag_charts
from ragstone.features.report._findings import headlines
from ragstone.features.run._breakdown import distributions, means_by_tag
from ragstone.kernel.document.html import LIBRARIES, draw


def test_means_are_shares_of_their_scale_beside_the_numbers_as_a_table() -> None:
    rows = [judgement("q1", "rubric", 3, scale=(1, 5)), judgement("q2", "rubric", 4, scale=(1, 5))]
    rows += [judgement("q1", "correctness", 1), judgement("q2", "correctness", 0)]
    chart = means_chart(summary_of(rows).metrics)
    assert chart
    values = chart.spec["data"]["values"]
    assert [value["label"] for value in values] == ["rubric", "correctness"]
    assert values[0]["value"] == 0.625  # (3.5 - 1) / (5 - 1)
    assert values[1]["value"] == 0.5
    assert chart.head == ["Judge", "Mean", "Interval", "Rows"]
    assert chart.rows[0][:2] == ["rubric", "0.62"]
    assert chart.rows[1][-1] == "2"


def test_one_mean_alone_is_no_chart() -> None:
    assert means_chart(summary_of([judgement("q1", "correctness", 1)]).metrics) is None


def test_a_mean_without_a_scale_has_no_place_in_the_chart() -> None:
    rows = [judgement("q1", name, 1) for name in ("correctness", "faithfulness")]
    rows.append(judgement("q1", "length", 40, scale=None))
    chart = means_chart(summary_of(rows).metrics)
    assert chart
    assert [row[0] for row in chart.rows] == ["correctness", "faithfulness"]


def test_several_systems_are_told_apart_by_colour_shape_and_place() -> None:
    rows = [judgement("q1", "correctness", 1, system=system) for system in ("a", "b")]
    chart = means_chart(summary_of(rows).metrics)
    assert chart
    assert {"color", "yOffset"} <= chart.spec["encoding"].keys()
    assert "shape" in chart.spec["layer"][1]["encoding"]
    assert chart.head[1] == "System"


def test_scores_are_counted_one_by_one_and_shown_as_shares() -> None:
    rows = [judgement(f"q{n}", "grade", score, scale=(0, 2)) for n, score in enumerate((0, 2, 2, 1))]
    chart = distribution_chart(distributions(rows))
    assert chart
    values = chart.spec["data"]["values"]
    assert [(value["score"], value["share"], value["place"]) for value in values] == [
        ("0", 0.25, 0.0),
        ("1", 0.25, 0.5),
        ("2", 0.5, 1.0),
    ]
    assert chart.rows == [["grade", "0", "1"], ["grade", "1", "1"], ["grade", "2", "2"]]


def test_nothing_scored_is_no_chart() -> None:
    assert distribution_chart(distributions([judgement("q1", "correctness", None, status="timeout")])) is None
    assert agreement_chart([]) is None


def test_groups_show_the_headline_judge_alone() -> None:
    rows = [judgement(f"q{n}", name, n % 2) for n in range(20) for name in ("correctness", "faithfulness")]
    questions = [
        msgspec.structs.replace(QUESTIONS[0], id=f"q{n}", tags={"crop": "ab"[n // 10]}) for n in range(20)
    ]
    summary = summary_of(rows)
    [(grouping, chart)] = tag_charts(means_by_tag(rows, questions), headlines(summary))
    assert grouping.by == "crop"
    assert [row[:2] for row in chart.rows] == [["a", "0.50"], ["b", "0.50"]]
    assert chart.title == "correctness by crop"


def test_agreement_stands_beside_that_of_the_baseline() -> None:
    chart = agreement_chart([card(better=True)])
    assert chart
    assert [row[:2] for row in chart.rows] == [
        ["kappa of correctness (openai/gpt-4o-mini)", "−0.10"],
        ["exact agreement of correctness (openai/gpt-4o-mini)", "0.75"],
        ["always right", "0.70"],
    ]


def test_text_from_outside_is_a_value_of_the_data_and_nothing_else() -> None:
    evil = "'] || alert(1) || ['</script>"
    rows = [judgement("q1", name, 1, system=system) for name in (evil, "b") for system in (evil, "c")]
    chart = means_chart(summary_of(rows).metrics)
    assert chart
    without = {name: part for name, part in chart.spec.items() if name != "data"}
    assert "alert" not in json.dumps(without)
    [spec] = draw([chart]).specs.values()
    assert "</script>" not in spec


def test_the_libraries_are_what_was_published_and_a_page_without_charts_has_none() -> None:
    folder = resources.files("ragstone.kernel.document").joinpath("vendor")
    for name, digest in LIBRARIES.items():
        assert hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest() == digest, name
    drawn = draw([])
    assert (drawn.specs, drawn.libraries, drawn.script) == ({}, [], "")
    chart = means_chart(summary_of(JUDGEMENTS).metrics)
    assert chart
    assert not [text for text in draw([chart]).libraries if "</script" in text or "<!--" in text]
