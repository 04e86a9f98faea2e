"""Repeated answers: the chance that one of k passes, and that all of them do."""

from collections.abc import Sequence

from msgspec import UNSET

from ragstone.kernel.document.blocks import Block, Column, Heading, Made, Paragraph, estimated, table_of
from ragstone.kernel.document.numbers import count
from ragstone.kernel.judging.repeated import PassRate
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.runs.wording import judge_name

SHOWN = (1, 2, 3, 5)  # k that are shown beside the largest; all of them are in the numbers
HEAD = "Repeated answers"
LEAD = (
    "pass@k is the chance that at least one of k answers to a question passes, pass^k that all of them "
    "do. An answer passes at the score shown or better. Means over the questions that have k scored "
    "answers."
)


def pass_blocks(metrics: Sequence[MetricSummary]) -> list[Block]:
    """Return pass@k and pass^k of each judge; nothing where no answer was repeated."""
    rows = [
        (metric, metric.repeats.passes_from or 0.0, rate)
        for metric in metrics
        if metric.repeats is not UNSET and metric.repeats.most > 1
        for rate in metric.repeats.passes
        if rate.k in SHOWN or rate is metric.repeats.passes[-1]
    ]
    several = len({metric.system for metric, _, _ in rows}) > 1

    def name(row: tuple[MetricSummary, float, PassRate]) -> str:
        system = f"{row[0].system}, " if several else ""
        return f"{system}{judge_name(row[0])}"

    columns: list[Made[tuple[MetricSummary, float, PassRate]]] = [
        (Column("k", text=True), lambda row: f"  {count(row[2].k)}"),
        ("passes from", lambda row: f"{row[1]:g}"),
        (Column("pass@k", beside="interval"), lambda row: estimated(row[2].at_least_one)),
        (Column("pass^k", beside="interval"), lambda row: estimated(row[2].every_one)),
        ("questions", lambda row: count(row[2].every_one.n)),
    ]
    if not rows:
        return []
    return [Heading(HEAD, level=3), Paragraph(LEAD, tone="muted"), table_of(HEAD, rows, columns, group=name)]
