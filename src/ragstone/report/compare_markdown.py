"""A comparison as Markdown for a pull request: the same words, every text from outside escaped."""

import html
from pathlib import Path

from ragstone.experiments.compared import Comparison, Flip, MetricComparison
from ragstone.report.compare_words import (
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
from ragstone.report.markdown import escape, plain
from ragstone.report.render.html import put_page
from ragstone.report.wording import number, plural

SHOWN_FLIPS = 20  # of a kind: a comment on GitHub holds 65,536 characters


def write_comparison(path: Path, comparison: Comparison, *, gated: bool) -> None:
    """Write the comparison as Markdown. gated: with what the gate says. Raises DataError if it cannot be."""
    put_page(path, markdown_comparison(comparison, gated=gated))


def markdown_comparison(comparison: Comparison, *, gated: bool) -> str:
    """Return the verdicts, a table, what they rest on, and the questions that flipped, folded."""
    parts = [
        "## Ragstone: B against A",
        f"**{_line(outcome(comparison))}**",
        *([f"**{_line(gate_told(comparison.gate))}**"] if gated else []),
        f"A: {_line(comparison.a)}<br>B: {_line(comparison.b)}",
        _table(comparison),
        "\n".join(
            f"- **{plain(_named(row, comparison))}**: {_line(metric_told(row))}"
            for row in in_order(comparison)
        ),
        *[part for row in in_order(comparison) for part in _flips(row)],
        "\n".join(f"- {_line(spent_told(row))}" for row in comparison.spent),
        _line(left_out(comparison)),
        "\n".join(f"- {_line(note)}" for note in comparison.notes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _table(comparison: Comparison) -> str:
    lines = [
        "| metric | by | A | B | B − A | 95 % interval | verdict |",
        "| --- | --- | --: | --: | --: | --- | --- |",
    ]
    for row in in_order(comparison):
        names = (plain(_named(row, comparison)), plain(row.model))
        means = (number(row.a.mean.value), number(row.b.mean.value), signed(row.difference.value))
        cells = (*names, *means, signed_interval(row.difference), f"**{row.verdict}**")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _named(row: MetricComparison, comparison: Comparison) -> str:
    several = len({(one.a.system, one.b.system) for one in comparison.metrics}) > 1
    return f"{metric_name(row)} ({systems_told(row)})" if several else metric_name(row)


def _flips(row: MetricComparison) -> list[str]:
    found = []
    kinds = (("right to wrong", row.right_to_wrong), ("wrong to right", row.wrong_to_right))
    for kind, flips in kinds:
        if flips:
            head = f"{plural(len(flips), 'question')} from {kind} by {metric_name(row)}"
            more = f"\n- and {len(flips) - SHOWN_FLIPS:,} more" if len(flips) > SHOWN_FLIPS else ""
            items = "\n".join(_flip(flip) for flip in flips[:SHOWN_FLIPS])
            found.append(f"<details><summary>{html.escape(head)}</summary>\n\n{items}{more}\n\n</details>")
    return found


def _flip(flip: Flip) -> str:
    question = f" {plain(flip.question)}" if flip.question else ""
    lines = [f"- **{plain(flip.question_id)}**{question}"]
    for name, answer, score in (("A", flip.answer_a, flip.score_a), ("B", flip.answer_b, flip.score_b)):
        lines.append(f"  - {name} {number(score)}" + (f": {plain(answer)}" if answer else ""))
    return "\n".join(lines)


def _line(text: str) -> str:
    return escape(" ".join(text.split()))
