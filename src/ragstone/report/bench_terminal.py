"""A leaderboard as the terminal shows it, in 100 columns."""

from typing import TYPE_CHECKING

from ragstone.report import wording
from ragstone.report.bench import BenchSummary
from ragstone.report.bench_words import (
    bare,
    based_on,
    columns,
    differing_told,
    family,
    lead_of,
    outcome,
    seconds,
    short,
)
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import interval, number

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN_QUESTIONS = 3
SHOWN_COLUMNS = 3  # measures beside the leading one
QUESTION_LENGTH = 90
STYLES = {"best": "bold", "not distinguishable": "bold", "worse": "dim"}
MARKS = {"best": "best", "not distinguishable": "= best?", "worse": "worse"}


def terminal_leaderboard(summary: BenchSummary) -> "Group":
    """Return the leaderboard, what it rests on, and the questions on which configurations differ most."""
    from rich.console import Group

    board = summary.leaderboard
    parts: list[RenderableType] = [
        text(f"{summary.name}: {wording.counted(summary.counts)}", "bold"),
        _standings(summary),
        text(outcome(board), "bold", before=1),
        text(
            f"Ordered by {board.measure}: {board.why}. Measured on {based_on(board)}. "
            + (f'{family(board)} "= best?": not distinguishable from the best.' if board.family else ""),
            "dim",
        ),
        *(text(f"{one.configuration.name} was not measured: {one.reason}", "yellow") for one in board.failed),
        *_differing(summary),
        *([text("Before you trust these numbers", "bold", before=1)] if summary.notes else []),
        *(text(f"- {note}") for note in summary.notes),
        text(wording.asked_line(summary.calls), "dim", before=1),
    ]
    return Group(*parts)


def _standings(summary: BenchSummary) -> "Table":
    board = summary.leaderboard
    lead, *others = columns(board, board.ks[0])
    shown = [name for name in others if bare(name) not in ("precision", "map")][:SHOWN_COLUMNS]
    table = new_table(
        ("#", True),
        ("", False),
        ("", False),
        (short(lead), True),
        ("interval", True),
        *((short(name), True) for name in shown),
        ("median", True),
        ("index", True),
    )
    for row in board.standings:
        estimate, measures = lead_of(row, board), row.measures[str(board.ks[0])]
        style = STYLES[row.verdict]
        table.add_row(
            *(text(str(row.place), "dim"), text(row.configuration.name, style)),
            text(MARKS[row.verdict], style),
            text(number(estimate.value), "bold"),
            text(interval(estimate)),
            *(text(number(measures[name].value) if name in measures else "") for name in shown),
            *(text(seconds(row.timing.p50_s), "dim"), text(seconds(row.timing.index_s), "dim")),
        )
    return table


def _differing(summary: BenchSummary) -> "list[RenderableType]":
    board = summary.leaderboard
    if not board.differing:
        return []
    parts: list[RenderableType] = [
        text(f"Where they differ most: {board.measure} (place of the relevant document)", "bold", before=1)
    ]
    for one in board.differing[:SHOWN_QUESTIONS]:
        asked = " ".join(one.question.split())
        shown = asked if len(asked) <= QUESTION_LENGTH else f"{asked[: QUESTION_LENGTH - 1]}…"
        parts += [text(f"  {shown}"), text(f"    {differing_told(one)}", "dim")]
    return parts
