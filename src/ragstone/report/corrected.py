"""Means with people's labels carried into them: found for a mean, in words, and in the terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.agreement.corrected_mean import RANDOM_SAMPLE, CorrectedMean
from ragstone.judging.summary import MetricSummary
from ragstone.report.summary import RunSummary
from ragstone.report.wording import count, interval, judge_name, number
from ragstone.statistics import Estimate

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN_SENTENCES = 3
SYSTEM_WIDTH = 20  # beside two means with their intervals, in 80 columns


def corrected_of(metric: MetricSummary, summary: RunSummary) -> CorrectedMean | None:
    """Return the corrected mean that belongs to a mean, None where no label speaks of it."""
    key = metric.judge, metric.metric, metric.model, metric.system
    return next((m for m in summary.corrected if (m.judge, m.metric, m.model, m.system) == key), None)


def corrected_line(mean: CorrectedMean) -> str:
    """Return the corrected mean and its interval, on one line, and whether it is in another unit."""
    unit = "" if mean.same_unit and mean.threshold is None else " on the labels' scale"
    return f"corrected{unit}: {number(mean.corrected.value)} ({interval(mean.corrected)})"


def halving(mean: CorrectedMean) -> str:
    """Return how many labels in all would halve the interval, in few words."""
    if mean.corrected.low is None:
        return ""
    return "out of reach" if mean.to_halve is None else count(mean.to_halve)


def labelled_share(mean: CorrectedMean) -> str:
    """Return `100 of 600`, the labelled answers and all."""
    return f"{count(mean.n_labelled)} of {count(mean.n_rows)}"


def terminal_corrected(means: Sequence[CorrectedMean]) -> "Group":
    """Return what `ragstone agree` shows of the corrected means: each beside the judge's and people's own."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text("What people would give", style="bold")]
    for judge in dict.fromkeys(map(judge_name, means)):
        ours = [mean for mean in means if judge_name(mean) == judge]
        parts += [Text(judge, style="dim"), _table(ours, heads=len(parts) == 1)]
    if not all(mean.same_unit for mean in means):
        parts.append(Text("* on another scale than the labels"))
    parts += [Text(f"{mean.judge}, {mean.system}: {mean.sentence}") for mean in means[:SHOWN_SENTENCES]]
    notes = dict.fromkeys([RANDOM_SAMPLE, *(note for mean in means for note in mean.notes)])
    return Group(*parts, *(Text(f"- {note}") for note in notes), Text(""))


def _table(means: Sequence[CorrectedMean], *, heads: bool) -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=heads)
    table.add_column("", min_width=SYSTEM_WIDTH, max_width=SYSTEM_WIDTH, overflow="fold")
    for head, width in (("judge", 5), ("corrected", 18), ("labels alone", 18), ("labelled", 10)):
        table.add_column(head, justify="right", min_width=width, overflow="fold")
    for mean in means:
        raw = number(mean.raw.value) + ("" if mean.same_unit else "*")
        cells = (f"  {mean.system}", raw, _one(mean.corrected), _one(mean.human), labelled_share(mean))
        table.add_row(*map(Text, cells))
    return table


def _one(estimate: Estimate) -> str:
    return f"{number(estimate.value)}  {interval(estimate)}"
