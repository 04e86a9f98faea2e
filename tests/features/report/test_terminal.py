import msgspec
import pytest
from rich.cells import cell_len
from tests.support.surfaces import shown as surface
from tests.support.tiny_run import card, judgement, summary_of

from ragstone.features.report.words import pull_request_document, run_document
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.judging import summarise
from ragstone.kernel.records import Judgement
from ragstone.kernel.runs.summary import RunSummary


def shown(summary: RunSummary, width: int = 80) -> str:
    return surface(run_document(summary), width)


def words(summary: RunSummary) -> str:
    return " ".join(shown(summary).split())


def test_three_questions_are_answered_in_order(summary: RunSummary) -> None:
    text = shown(summary)
    asked = ("Is it right?", "What is to blame?", "How far can the judge be trusted?", "Before you trust")
    places = [text.index(question) for question in asked]
    assert places == sorted(places)


def test_every_mean_has_its_denominator_and_the_other_statuses(summary: RunSummary) -> None:
    text = words(summary)
    assert "correctness 0.50 0.09 to 0.91 2 of 4 1 not applicable, 1" in text
    assert "faithfulness 0.50 no interval 1 of 4 1 unparsable, 1 timed" in text


def test_rows_that_share_documents_are_told_beside_the_interval_that_they_widen(says) -> None:
    rows = [judgement(f"q{at}", "correctness", at % 2) for at in range(7)]
    alone, shared = (
        msgspec.structs.replace(summary_of(rows), metrics=summarise(rows, clusters=clusters))
        for clusters in ({}, {"q0": "a", "q1": "a"})
    )
    assert "rows share documents" not in words(alone) + render_markdown(pull_request_document(alone))
    says(words(shared))
    says(render_markdown(pull_request_document(shared)))


def test_baselines_stand_under_the_judges_that_cost_something(summary: RunSummary) -> None:
    text = shown(summary)
    assert text.index("By openai/gpt-4o-mini") < text.index("Baselines, no model") < text.index("containment")


def test_retrieval_calls_and_cost(summary: RunSummary) -> None:
    text = words(summary)
    assert "measured on" in text
    assert "3 questions; left out: 1 unanswerable" in text
    assert "Calls: 6 made, 2 from the ledger, 1 failed (1 timed out)" in text
    assert "Tokens: 12,000 in (3,000 cached), 800 out. Cost: unknown: ragstone.toml has no price" in text


def test_judge_without_worth_is_named_as_such(summary: RunSummary, says) -> None:
    text = words(msgspec.structs.replace(summary, cards=[card(better=False)]))
    assert "† no better than" in text
    says(text[text.index("correctness, 40 labels") : text.index("Before you trust")])


def test_nothing_measured_is_said(summary: RunSummary, says) -> None:
    bare = msgspec.structs.replace(summary, metrics=[], retrieval=[], blame=[], notes=[])
    text = words(bare)
    says(text)


def five_judges() -> list[Judgement]:
    names = ("correctness", "faithfulness", "relevance", "context_sufficiency", "containment")
    return [
        row
        for name in names
        for row in (
            judgement("q1", name, 1),
            judgement("q2", name, 0),
            judgement("q3", name, None, status="timeout"),
            judgement("q4", name, None, status="unparsable"),
        )
    ]


def test_five_judges_fit_a_screen(summary: RunSummary) -> None:
    judged = msgspec.structs.replace(summary, metrics=summary_of(five_judges()).metrics)
    lines = shown(judged).splitlines()
    assert len(lines) <= 45
    assert max(map(cell_len, lines)) <= 80


@pytest.mark.parametrize("name", ["[bold]", "[/]", "水" * 60])
def test_names_are_shown_as_they_are(summary: RunSummary, name: str) -> None:
    text = shown(msgspec.structs.replace(summary, name=name))
    assert "".join(text.split()).startswith(name)


def test_a_long_name_does_not_push_the_numbers_out(summary: RunSummary) -> None:
    long = [msgspec.structs.replace(each, system="x" * 200) for each in summary.metrics]
    other = [msgspec.structs.replace(each, system="y") for each in summary.metrics]
    text = shown(msgspec.structs.replace(summary, metrics=[*long, *other]), width=100)
    assert "interval" in text
    assert " of " in text.split("How far")[0]
