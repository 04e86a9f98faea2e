"""A comparison as the terminal shows it, in 80 columns."""

from typing import TYPE_CHECKING, Literal

from ragstone.experiments.compared import Comparison, Flip, MetricComparison
from ragstone.records import NO_MODEL
from ragstone.report.compare_words import (
    full_name,
    gate_told,
    in_order,
    left_out,
    metric_name,
    metric_told,
    outcome,
    signed,
    signed_interval,
    spent_told,
    systems_told,
)
from ragstone.report.wording import number, one_line, plural

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text

SHOWN_FLIPS = 3  # of a kind
FIRST = ("worse", "better", "cannot tell")  # whose flips are shown: those of one metric
NAME_WIDTH = 26
CUT = 66  # characters of a question or an answer on a line
STYLES = {"better": "bold green", "worse": "bold red", "cannot tell": "bold"}
GATE_STYLES = {"passed": "bold green", "failed": "bold red", "cannot tell": "bold yellow"}


def terminal_comparison(comparison: Comparison, *, gated: bool) -> "Group":
    """Return the verdicts, the numbers, what they rest on, and the questions that flipped.

    gated: with what the gate says, as the last line.
    """
    from rich.console import Group

    parts: list[RenderableType] = [
        _text(f"A  {comparison.a}\nB  {comparison.b}", "dim"),
        _text(outcome(comparison), "bold", before=1),
        *_tables(comparison),
        *(part for row in in_order(comparison) for part in _explained(row, comparison)),
        *_flips(comparison),
        *([_text("Answers took", "bold", before=1)] if comparison.spent else []),
        *(_text(f"  {spent_told(row)}") for row in comparison.spent),
        _text(left_out(comparison), "dim", before=1),
        *([_text("Before you trust these numbers", "bold", before=1)] if comparison.notes else []),
        *(_text(f"- {note}") for note in comparison.notes),
    ]
    if gated:
        parts.append(_text(gate_told(comparison.gate), GATE_STYLES[comparison.gate.outcome], before=1))
    return Group(*parts)


def _text(words: str, style: str = "", *, before: int = 0) -> "Text":
    from rich.text import Text

    return Text("\n" * before + words, style=style)


def _tables(comparison: Comparison) -> "list[RenderableType]":
    """Return a table for each pair of systems and model, language models first."""
    groups: dict[tuple[str, str], list[MetricComparison]] = {}
    for row in in_order(comparison):
        groups.setdefault((systems_told(row), row.model), []).append(row)
    several = len({system for system, _ in groups}) > 1
    parts: list[RenderableType] = []
    for system, model in groups:
        said = "Baselines, no model" if model == NO_MODEL else f"By {model}"
        parts.append(_text(f"{system}: {said}" if several else said, "dim", before=int(not parts)))
        parts.append(_table(groups[system, model], heads=len(parts) == 1))
    return parts


def _table(rows: list[MetricComparison], *, heads: bool) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=heads)
    columns: tuple[tuple[str, int, Literal["left", "right"]], ...] = (
        *(("", NAME_WIDTH, "left"), ("A", 5, "right"), ("B", 5, "right")),
        *(("B − A", 6, "right"), ("interval", 15, "right"), ("", 11, "left")),
    )
    for head, width, side in columns:
        table.add_column(Text(head), justify=side, min_width=width, max_width=width, overflow="fold")
    for row in rows:
        table.add_row(
            Text(f"  {metric_name(row)}{_scale(row)}"),
            Text(number(row.a.mean.value)),
            Text(number(row.b.mean.value)),
            Text(signed(row.difference.value), style="bold"),
            Text(signed_interval(row.difference)),
            Text(row.verdict, style=STYLES[row.verdict]),
        )
    return table


def _scale(row: MetricComparison) -> str:
    return f" ({row.scale[0]:g} to {row.scale[1]:g})" if row.scale and row.scale != (0, 1) else ""


def _explained(row: MetricComparison, comparison: Comparison) -> "list[RenderableType]":
    from rich.padding import Padding

    head = _text(full_name(row, comparison), "bold", before=1)
    return [head, Padding(_text(metric_told(row)), (0, 0, 0, 2))]


def _flips(comparison: Comparison) -> "list[RenderableType]":
    """Return the first questions that crossed the middle of the scale, by the metric that says most."""
    crossed = [row for row in in_order(comparison) if row.right_to_wrong or row.wrong_to_right]
    if not crossed:
        return []
    row = min(crossed, key=lambda row: FIRST.index(row.verdict))
    parts: list[RenderableType] = []
    kinds = (("From right to wrong", row.right_to_wrong), ("From wrong to right", row.wrong_to_right))
    for head, flips in kinds:
        if flips:
            parts.append(_text(f"{head} by {full_name(row, comparison)}", "bold", before=1))
            parts += [_flip(flip) for flip in flips[:SHOWN_FLIPS]]
            more = len(flips) - SHOWN_FLIPS
            parts += [_text(f"  and {plural(more, 'question')} more", "dim")] if more > 0 else []
    return parts


def _flip(flip: Flip) -> "Text":
    lines = [f"  {one_line(flip.question_id + (f' · {flip.question}' if flip.question else ''), CUT)}"]
    for name, answer, score in (("A", flip.answer_a, flip.score_a), ("B", flip.answer_b, flip.score_b)):
        lines.append(f"    {name} {number(score)}" + (f"  {one_line(answer, CUT)}" if answer else ""))
    return _text("\n".join(lines))
