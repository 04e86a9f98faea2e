"""A bench of judges as the terminal shows it, in 100 columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.agreement.bench.choice import Contrast
from ragstone.report import wording
from ragstone.report.bench_terminal import STYLES
from ragstone.report.judge_bench import JudgeBenchSummary
from ragstone.report.judge_bench_words import (
    changed_told,
    columns,
    contrast_told,
    contrast_where,
    examples_told,
    fit_told,
    in_one_line,
    mark,
    n_failed,
    number3,
    ordered_by,
    recommendation,
    repeated,
    runs_told,
    seconds_each,
    usd_for_1000,
)
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import interval, number

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN_COLUMNS = ("quadratic kappa", "kappa", "Spearman", "signed error")
MOST_COLUMNS = 2  # of them
MOST_ANSWERS = 15  # to one question; the page has all
MOST_CONTRASTS = 3  # in one way
SHORT = {"quadratic kappa": "q. kappa", "signed error": "signed", "exact agreement": "exact"}


def terminal_judge_bench(summary: JudgeBenchSummary) -> "Group":
    """Return the recommendation, the cells in order, and what the grid answers."""
    from rich.console import Group

    board = summary.board
    apart = in_one_line([*board.failed, *board.left_out])
    parts: list[RenderableType] = [
        text(f"{summary.name}: {board.metric}; {wording.counted(summary.counts)}", "bold"),
        _standings(summary),
        *(text(said, "bold", before=int(at == 0)) for at, said in enumerate(recommendation(summary))),
        text(ordered_by(board), "dim"),
        *_answers(summary),
        *_spreads(summary),
        *([text("Without a place", "bold", before=1)] if board.aside or apart else []),
        *(text(f"- {one.cell.name}: {one.reason}", "dim") for one in board.aside),
        *(text(f"- {one.name} was not measured: {one.reason}", "yellow") for one in apart),
        *([text("Before you trust these numbers", "bold", before=1)] if _notes(summary) else []),
        *(text(f"- {note}") for note in _notes(summary)),
        *([text(wording.asked_line(summary.calls), "dim", before=1)] if summary.calls else []),
    ]
    return Group(*parts)


def _notes(summary: JudgeBenchSummary) -> list[str]:
    return [*summary.notes, *summary.board.notes]


def _standings(summary: JudgeBenchSummary) -> "Table":
    board = summary.board
    shown = [name for name in SHOWN_COLUMNS if name in columns(board)][:MOST_COLUMNS]
    failing = any(n_failed(row) for row in board.standings)
    table = new_table(
        ("#", True),
        ("", False),
        ("", False),
        (SHORT.get(board.measure, board.measure), True),
        ("interval", True),
        *((SHORT.get(name, name), True) for name in shown),
        *([("no score", True)] if failing else []),
        ("USD/1000", True),
        ("time", True),
    )
    for row in board.standings:
        style = STYLES[row.verdict]
        table.add_row(
            *(text(str(row.place), "dim"), text(row.cell.name, style), text(mark(row.verdict), style)),
            *(text(number(row.value.value), "bold"), text(interval(row.value))),
            *(text(number(row.agreement[name].value) if name in row.agreement else "") for name in shown),
            *([text(n_failed(row), "yellow")] if failing else []),
            *(text(usd_for_1000(row), "dim"), text(seconds_each(row), "dim")),
        )
    return table


def _answers(summary: JudgeBenchSummary) -> "list[RenderableType]":
    """Return what the grid answers, question by question."""
    choice = summary.choice
    if choice is None:
        return []
    return [
        *_answered("Does the judge fit the model?", [f"{one.cell}: {fit_told(one)}" for one in choice.fits]),
        *_answered("Which is better for the same judge?", _contrasts(choice.contrasts)),
        *_answered(
            "Is the cheaper one with examples as good as the dear one without?",
            [examples_told(one) for one in choice.examples],
        ),
    ]


def _contrasts(contrasts: Sequence[Contrast]) -> list[str]:
    """Return the first contrasts of each axis, those that are shown to differ before the others."""
    said = []
    for axis in dict.fromkeys(one.axis for one in contrasts):
        mine = sorted(
            (one for one in contrasts if one.axis == axis), key=lambda one: one.verdict == "cannot tell"
        )
        said += [f"{contrast_told(one)}; {contrast_where(one)}" for one in mine[:MOST_CONTRASTS]]
        if len(mine) > MOST_CONTRASTS:
            said.append(f"{axis}: {len(mine) - MOST_CONTRASTS} more, in the report")
    return said


def _answered(question: str, answers: list[str]) -> "list[RenderableType]":
    if not answers:
        return []
    more = len(answers) - MOST_ANSWERS
    return [
        text(question, "bold", before=1),
        *(text(f"- {answer}") for answer in answers[:MOST_ANSWERS]),
        *([text(f"  and {more} more, in the report", "dim")] if more > 0 else []),
    ]


def _spreads(summary: JudgeBenchSummary) -> "list[RenderableType]":
    rows = repeated(summary.board)
    if not rows:
        return []
    table = new_table(("", False), ("runs", False), ("sd", True), ("scores changed", True))
    for row in rows:
        if row.spread:
            runs, sd = runs_told(row.spread), number3(row.spread.sd)
            table.add_row(*(text(said) for said in (row.cell.name, runs, sd, changed_told(row.spread))))
    return [text("The same again", "bold", before=1), table]
