"""A development of a judge as the terminal shows it, in 100 columns."""

from typing import TYPE_CHECKING

from ragstone.agreement.developing import Development, VerdictChange
from ragstone.report.developing_words import (
    MEASURED,
    MOVES,
    changed_told,
    headline,
    human_told,
    parts_told,
    score_told,
    spanned,
    valued,
    version_name,
)
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import statuses

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN = 10  # of the changes; all of them stand in --json
SHOWN_TEXT = 200


def terminal_development(found: Development) -> "Group":
    """Return what `ragstone judges develop` shows: agreement before and after, then the changed verdicts."""
    from rich.console import Group

    styles = {"better": "bold green", "worse": "bold yellow", "cannot tell": "bold"}
    parts: list[RenderableType] = [
        text(headline(found), styles[found.verdict]),
        text(parts_told(found), "dim"),
        *([_versions(found)] if found.measure else []),
        *(text(line) for line in [changed_told(found)] if line),
    ]
    for change in found.changes[:SHOWN]:
        parts += _change(found, change)
    if len(found.changes) > SHOWN:
        parts.append(text(f"  {len(found.changes) - SHOWN} more with --json.", "dim"))
    return Group(*parts, *(text(f"- {note}", "dim") for note in found.notes))


def _versions(found: Development) -> "Table":
    measure = MEASURED[found.measure] if found.measure else ""
    table = new_table(("", False), (measure, True), ("interval", True), ("judgements", False))
    for version in [found.before, found.after]:
        if version is not None:
            failed = statuses(version.statuses)
            told = f"{version.card.n} scored" + (f", {failed}" if failed else "")
            cells = (valued(found, version), spanned(found, version), told)
            table.add_row(text(f"  {version_name(version)}"), *(text(cell) for cell in cells))
    return table


def _change(found: Development, change: VerdictChange) -> "list[RenderableType]":
    old = score_told(found, change.before, change.before_status)
    new = score_told(found, change.after, change.after_status)
    system = "" if change.system == "default" else f", {change.system}"
    head = f"  {change.question_id}{system}: {MOVES[change.move]}: {old} → {new}; "
    head += f"people: {human_told(found, change)}"
    told = [
        ("asked", change.question),
        ("answer", change.answer),
        ("reference", change.reference),
        ("before", change.before_reason),
        ("now", change.after_reason),
        *(("people", reason) for reason in change.human_reasons),
    ]
    return [
        text(head, "bold" if change.move in ("worse", "lost") else ""),
        *(text(f"    {what}: {_cut(words)}", "dim") for what, words in told if words),
    ]


def _cut(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= SHOWN_TEXT else line[:SHOWN_TEXT].rstrip() + "…"
