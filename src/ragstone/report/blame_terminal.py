"""Blame as the terminal shows it, in 100 columns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.experiments.causes import Caused
from ragstone.experiments.shares import SystemBlame
from ragstone.report.blame import BlameSummary
from ragstone.report.blame_words import (
    judged_by,
    left_out,
    notes,
    of_cause,
    outcome,
    share_range,
    share_told,
    shown_shares,
    worth,
)
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import asked_line, count, plural

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

SHOWN_CAUSES = 3  # points of each cause, with their evidence


def terminal_blame(summary: BlameSummary, causes: Sequence[Caused]) -> "Group":
    """Return each system's shares, its causes with some of their points, and the notes.

    causes: those of the run; without them each cause has its number of points alone.
    """
    from rich.console import Group

    parts: list[RenderableType] = []
    for at, row in enumerate(summary.systems):
        parts += _system(row, causes, apart=at > 0)
    said = notes(summary)
    return Group(
        *parts,
        *([text("Before you trust these numbers", "bold", before=1)] if said else []),
        *(text(f"- {note}") for note in said),
        *([text(asked_line(summary.calls), "dim", before=1)] if summary.calls else []),
    )


def _system(row: SystemBlame, causes: Sequence[Caused], *, apart: bool) -> "list[RenderableType]":
    table = new_table(("", False), ("points", True), ("share", True), ("95 % interval", True))
    for share in shown_shares(row):
        n = count(share.n) if share.share else ""
        table.add_row(*map(text, (share.component, n, share_told(share), share_range(share))))
    said = [sentence for sentence in (worth(row), left_out(row)) if sentence]
    return [
        text(f"{row.system}: where the lost points went", "bold", before=int(apart)),
        text(judged_by(row), "dim"),
        table,
        text(outcome(row), "bold", before=1),
        *map(text, said),
        *_causes(row, causes),
    ]


def _causes(row: SystemBlame, causes: Sequence[Caused]) -> "list[RenderableType]":
    if not causes and row.causes:
        told = ", ".join(f"{cause} {count(n)}" for cause, n in row.causes.items())
        return [text(f"Causes: {told}.")]
    parts: list[RenderableType] = []
    for cause, n in row.causes.items():
        ours = of_cause(causes, row.system, cause)
        more = len(ours) - SHOWN_CAUSES
        parts.append(text(f"{cause} ({plural(n, 'point')})", "bold", before=1))
        parts += [text(f"- {one.question_id}: {one.because}") for one in ours[:SHOWN_CAUSES]]
        if more > 0:
            parts.append(text(f"  and {more} more, in causes.jsonl and the report", "dim"))
    return parts
