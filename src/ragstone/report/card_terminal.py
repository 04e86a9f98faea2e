"""A report card as the terminal shows it, in 100 columns: the verdict first, then what it rests on."""

from typing import TYPE_CHECKING

from ragstone.agreement import Disagreement, Group, ReportCard
from ragstone.report import wording
from ragstone.report.card_words import (
    calibration_told,
    disagreement_head,
    leading,
    measures,
    names,
    people_footing,
    people_told,
    precise,
    ranking_told,
    reversal_told,
    tables_of,
    title,
    with_interval,
)
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import count, interval, number

if TYPE_CHECKING:
    from rich.console import Group as Shown
    from rich.console import RenderableType
    from rich.table import Table

SHOWN_DISAGREEMENTS = 3
SHOWN_REVERSALS = 3
NAME_WIDTH = 24
SHOWN_TEXT = 240  # characters of a question or a reason


def terminal_card(card: ReportCard) -> "Shown":
    """Return what `ragstone agree` shows of one judge."""
    from rich.console import Group as Several

    return Several(
        text(f"{title(card)}: {wording.labelled(card)}", "bold"),
        text(card.verdict, "yellow" if wording.doubt(card) else ""),
        *(text(f"- {note}", "dim") for note in card.notes),
        *([_measures(card)] if card.agreement else []),
        *([text(f"  {footing}", "dim")] if (footing := people_footing(card)) else []),
        *([_confusion(card)] if card.confusion else []),
        *(text(f"  {line}") for line in calibration_told(card)),
        *(_groups(by, groups) for by, groups in tables_of(card).items()),
        *_ranking(card),
        *_disagreements(card),
        text(""),
    )


def _measures(card: ReportCard) -> "Table":
    table = new_table(("", False), ("with people", True), ("interval", True))
    rivals = [rival for rival in (card.constant, card.no_model) if rival]
    beside = [(rival.name, rival.exact_agreement) for rival in rivals]
    beside += [(f"person with person: {name}", estimate) for name, estimate in people_told(card)]
    for style, shown in (("bold", list(measures(card).items())), ("dim", beside)):
        for name, estimate in shown:
            cells = (precise(estimate.value), interval(estimate))
            table.add_row(text(f"  {name}"), *(text(cell, style) for cell in cells))
    return table


def _confusion(card: ReportCard) -> "Table":
    heads = [(name, True) for name in names(card)]
    table = new_table(("  people \\ judge", False), *heads, ("recall", True))
    recalls = [with_interval(found.recall) for found in card.per_grade] or [""] * len(card.confusion)
    for name, row, recall in zip(names(card), card.confusion, recalls, strict=True):
        table.add_row(text(f"  {name}", "dim"), *(text(count(n)) for n in row), text(recall, "dim"))
    precisions = [number(found.precision.value) if found.precision else "" for found in card.per_grade]
    if precisions:
        table.add_row(text("  precision", "dim"), *(text(cell, "dim") for cell in precisions), text(""))
    return table


def _groups(by: str, groups: list[Group]) -> "Table":
    """Return one line a group: its answers, agreement, both means and the bias."""
    measure = next(iter(leading(groups)), "")
    table = new_table(
        (f"  by {by}", False), ("n", True), (measure, True), ("people", True), ("judge", True), ("bias", True)
    )
    table.columns[0].max_width = NAME_WIDTH
    for group in groups:
        cells = (
            count(group.n),
            with_interval(group.agreement.get(measure)),
            number(group.human),
            number(group.judge),
            with_interval(group.bias),
        )
        table.add_row(text(f"  {group.name}"), *(text(cell) for cell in cells))
    return table


def _ranking(card: ReportCard) -> "list[RenderableType]":
    if card.ranking is None:
        return []
    found = card.ranking.reversals
    lines = [
        *ranking_told(card.ranking),
        *(f"Reversed: {reversal_told(one)}." for one in found[:SHOWN_REVERSALS]),
    ]
    if len(found) > SHOWN_REVERSALS:
        lines.append(
            f"And {len(found) - SHOWN_REVERSALS} more reversed pairs: `--json` and `--page` hold all."
        )
    return [text("Order of the systems", "dim"), *(text(f"  {line}") for line in lines)]


def _disagreements(card: ReportCard) -> "list[RenderableType]":
    found = card.disagreements
    if not found:
        return []
    parts: list[RenderableType] = [text("Most instructive disagreements", "dim")]
    for one in found[:SHOWN_DISAGREEMENTS]:
        parts += _disagreement(card, one)
    if len(found) > SHOWN_DISAGREEMENTS:
        parts.append(
            text(f"  {len(found) - SHOWN_DISAGREEMENTS} more with `--page FILE` or `--json`.", "dim")
        )
    return parts


def _disagreement(card: ReportCard, one: Disagreement) -> "list[RenderableType]":
    system = "" if one.system == "default" else f", {one.system}"
    told = [
        ("asked", one.question),
        ("answer", one.answer),
        ("reference", one.reference),
        *(("people", reason) for reason in one.human_reasons),
        ("judge", one.judge_reason),
    ]
    lines = [f"    {what}: {_cut(words)}" for what, words in told if words]
    return [
        text(f"  {one.question_id}{system}: {disagreement_head(card, one)}", "bold"),
        *(text(line) for line in lines),
    ]


def _cut(words: str) -> str:
    """Return a text on one line, its beginning if it is long."""
    line = " ".join(words.split())
    return line if len(line) <= SHOWN_TEXT else line[:SHOWN_TEXT].rstrip() + "…"
