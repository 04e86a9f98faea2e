"""Scores that only number labels: every surface shows the share of each label, none a mean."""

from pathlib import Path

import msgspec
import pytest
from tests.support.surfaces import shown
from tests.support.tiny_run import MODEL, judgement, summary_of

import ragstone
from ragstone.features.check.marked import _thresholds
from ragstone.features.compare.comparing import compare
from ragstone.features.compare.several import compare_several, several_document
from ragstone.features.report.words import pull_request_document, run_document
from ragstone.features.run.pipeline import unranked_notes
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.document.blocks import Cell
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.runs.headlines import common_headline
from ragstone.kernel.runs.summary import RunSummary
from ragstone.notebook import means_table
from ragstone.workbench.trend import RunStep, trend_chart

LEVELS = {"remember": 1, "understand": 2, "apply": 3, "analyze": 4, "evaluate": 5, "create": 6}
ASKED = ["remember", "create", "create", "analyze", "evaluate", "create"]  # the mean would be 26 / 6 = 4.33
MEAN = "4.33"


def typed(name: str, level: str, system: str = "rag") -> Judgement:
    return judgement(
        name, "question_type", LEVELS[level], label=level, scale=(1.0, 6.0), system=system, rationale="why"
    )


def rows(system: str = "rag") -> list[Judgement]:
    return [typed(f"q{at}", level, system) for at, level in enumerate(ASKED)]


@pytest.fixture
def summary() -> RunSummary:
    return summary_of(rows())


def test_a_report_shows_the_shares_of_labels_and_no_mean_of_their_numbers(summary, says) -> None:
    with_correctness = [*rows(), judgement("q0", "correctness", 1.0), judgement("q1", "correctness", 0.0)]
    for told in (
        shown(run_document(summary)),
        shown(run_document(summary_of(with_correctness))),
        render_markdown(pull_request_document(summary)),
    ):
        assert "create 50 %" in told
        assert "remember 17 %" in told
        assert MEAN not in told
        says(told)
    assert "no score" not in shown(run_document(summary))


def test_a_page_has_no_point_for_a_category(summary) -> None:
    page = summary._repr_html_()
    assert "create 50 %" in page
    assert MEAN not in page


def test_the_table_of_a_notebook_shows_them(summary, says) -> None:
    [row] = means_table(summary.metrics).rows
    cells = [cell.words if isinstance(cell, Cell) else cell for cell in row]
    says(" | ".join(str(cell) for cell in cells))


def test_more_labels_than_a_cell_holds_are_counted() -> None:
    told = shown(run_document(summary_of([*rows(), typed("q6", "apply"), typed("q7", "understand")])))
    assert "2 more" in " ".join(told.split())


def test_a_category_neither_leads_nor_ranks_systems(says) -> None:
    both = summary_of([*rows("a"), *rows("b")])
    assert common_headline(both) is None
    [note] = unranked_notes(both.metrics)
    says(note)
    graded = summary_of([*rows("a"), *(judgement(f"q{n}", "correctness", 1.0, system="b") for n in range(2))])
    [other] = unranked_notes(graded.metrics)
    assert other != note  # one of the judges grades, and not both systems


def test_a_course_over_runs_has_no_point(summary) -> None:
    means: list[tuple[str, MetricSummary]] = [("rag", metric) for metric in summary.metrics]
    steps = [RunStep(run=name, means=means, changes=[]) for name in ("first", "second")]
    assert trend_chart("question_type", steps) is None


def test_runs_side_by_side_show_shares(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        files.append(tmp_path / f"{name}.jsonl")
        files[-1].write_bytes(b"\n".join(map(msgspec.json.encode, rows())))
    several = compare_several(files)
    told = shown(several_document(several))
    assert "create 50 %" in told
    assert MEAN not in told
    assert several.metrics[0].n_flips is None


def test_labels_of_people_give_no_corrected_mean_and_no_leniency() -> None:
    labels = [
        Label(question_id=f"q{at}", system="rag", score=LEVELS[level], metric="question_type")
        for at, level in enumerate(["remember", "create", "apply", "analyze"])
    ]
    assert list(ragstone.corrected_means(rows(), labels)) == []
    [card] = report_cards(rows(), labels)
    assert "signed error" not in card.agreement
    assert card.ranking is None
    assert "Lenient" not in card.verdict
    assert "above people's" not in card.verdict
    assert card.agreement["exact agreement"].value == 0.75
    assert card.model == MODEL


def test_a_threshold_of_a_pytest_cannot_be_of_numbers_of_labels(says) -> None:
    with pytest.raises(ConfigError) as mistake:
        _thresholds(load_judges(["question_type"]), {"question_type": 3.0})
    says(mistake.value)
    graded = load_judges(["correctness"])
    assert _thresholds(graded, {"correctness": 50.0}) == {("correctness", "correctness"): 50.0}


def test_a_comparison_shows_shares_on_both_sides_and_no_verdict(says) -> None:
    other = [typed(f"q{at}", level) for at, level in enumerate(["create"] * 6)]
    graded = [judgement(f"q{at}", "correctness", 1.0) for at in range(6)]
    comparison = compare([*rows(), *graded], [*other, *graded])
    assert [row.judge for row in comparison.metrics] == ["correctness"]
    [note] = [note for note in comparison.notes if "question_type" in note]
    says(note)
    with pytest.raises(DataError) as mistake:
        compare(rows(), other)
    says(mistake.value)
