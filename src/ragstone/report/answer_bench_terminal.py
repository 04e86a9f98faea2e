"""A bench of answerers as the terminal shows it, in 100 columns."""

from typing import TYPE_CHECKING

from ragstone.report import wording
from ragstone.report.answer_bench import AnswerBenchSummary
from ragstone.report.answer_bench_words import (
    VERDICTS,
    bests,
    by_condition,
    columns,
    condition_told,
    contrast_told,
    contrasts_by_kind,
    failures,
    missing_told,
    ordered_by,
    percent,
    roles_told,
    time_told,
    usd_for_1000,
)
from ragstone.report.answer_race_words import race_told, saved_told, stopped_told
from ragstone.report.bench_terminal import STYLES
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import interval, number

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

SHOWN = {
    "answered": "answered",
    "answered × faithful": "× faithful",
    "refused": "refused",
}
SHORT = {"correctness": "correct", "answered × faithful": "a × f"}
MOST_CONTRASTS = 4  # of one kind; the page has all
STYLE = {**STYLES, "alone": "", "too few scores": "dim", "stopped": "dim"}


def terminal_answer_bench(summary: AnswerBenchSummary) -> "Group":
    """Return the result in sentences, the cells by condition, and what the conditions tell."""
    from rich.console import Group

    board = summary.board
    parts: list[RenderableType] = [
        text(f"{summary.name}: {board.measure}; {wording.counted(summary.counts)}", "bold"),
        *_table(summary),
        *_race(summary),
        *(text(said, "bold", before=int(at == 0)) for at, said in enumerate(bests(summary))),
        *_contrasts(summary),
        text(ordered_by(board), "dim", before=1),
        text(roles_told(board), "dim"),
        *_legend(summary),
        *(text(f"{one.name} was not measured: {one.reason}", "yellow") for one in board.failed),
        *([text("Before you trust these numbers", "bold", before=1)] if summary.notes else []),
        *(text(f"- {note}") for note in summary.notes),
        *([text(wording.asked_line(summary.calls), "dim", before=1)] if summary.calls else []),
    ]
    return Group(*parts)


def _race(summary: AnswerBenchSummary) -> "list[RenderableType]":
    """Return how the race went, who was stopped and what that saved; nothing where there was none."""
    race = summary.race
    if race is None:
        return []
    return [
        text(race_told(race), "bold", before=1),
        *(text(f"- {stopped_told(one)}") for one in race.stopped),
        text(saved_told(race)),
    ]


def _table(summary: AnswerBenchSummary) -> "list[RenderableType]":
    """Return the cells, what their conditions are, and what became of answers without a score."""
    board = summary.board
    shown = {name: head for name, head in SHOWN.items() if name in columns(board)}
    table = new_table(
        ("#", True),
        ("", False),
        ("", False),
        (SHORT.get(board.measure, board.measure), True),
        ("interval", True),
        *((head, True) for head in shown.values()),
        ("USD/1000", True),
        ("time", True),
    )
    for condition, rows in by_condition(board):
        if any(row.cell.label != condition for row in rows):
            table.add_row(text(""), text(condition, "dim"))
        for row in rows:
            style = STYLE[row.verdict]
            mean = row.score.mean if row.score else None
            table.add_row(
                *(text(str(row.place), "dim"), text(row.cell.label, style)),
                text(VERDICTS.get(row.verdict, row.verdict), style),
                *(text(number(mean.value), "bold"), text(interval(mean)))
                if mean
                else (text("none"), text("")),
                *(text(percent(row.measures[name].value) if name in row.measures else "") for name in shown),
                *(text(usd_for_1000(row.spent), "dim"), text(time_told(row.seconds), "dim")),
            )
    lost = {row.cell.name: told for row in board.standings if (told := failures(row))}
    return [
        table,
        *(text(f"{name}: without a score: {told}", "yellow") for name, told in lost.items()),
    ]


def _legend(summary: AnswerBenchSummary) -> "list[RenderableType]":
    """Return what each condition gives, and which questions it does not exist for."""
    lines = []
    for condition, _rows in by_condition(summary.board):
        missing = missing_told(condition, summary.board)
        lines.append(
            f"{condition}: {condition_told(condition, summary)}" + (f"; {missing}" if missing else "")
        )
    return [text(line, "dim") for line in lines]


def _contrasts(summary: AnswerBenchSummary) -> "list[RenderableType]":
    parts: list[RenderableType] = []
    for question, rows in contrasts_by_kind(summary.board).items():
        parts.append(text(question, "bold", before=1))
        parts += [text(f"- {contrast_told(one)}") for one in rows[:MOST_CONTRASTS]]
        if len(rows) > MOST_CONTRASTS:
            parts.append(text(f"  and {len(rows) - MOST_CONTRASTS} more, in the report", "dim"))
    return parts
