"""What `ragstone watch` shows in the terminal, in 100 columns: alarms, means, gaps, how much there is."""

from typing import TYPE_CHECKING

from ragstone.monitor.alarms import alarm_line
from ragstone.monitor.cells import MetricMean
from ragstone.monitor.gaps import KeptGaps
from ragstone.monitor.look import WatchSummary
from ragstone.monitor.reading import ReadCounts
from ragstone.records import STATUSES
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import count, one_line, plural, statuses

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN_ALARMS = 20
SHOWN_GAPS = 5
LONGEST_NAME = 40  # characters


def terminal_watched(summary: WatchSummary) -> "Group":
    """Return what there is: open alarms, metrics with their intervals, and how much was judged."""
    from rich.console import Group as Several

    return Several(
        *_alarms(summary),
        *([_metrics(summary.overview.metrics)] if summary.overview.metrics else []),
        *(_gaps(summary.gaps) if summary.gaps and summary.gaps.gaps else []),
        text(""),
        *(text(line) for line in held_lines(summary)),
    )


def _alarms(summary: WatchSummary) -> "list[RenderableType]":
    shown = summary.open_alarms
    lines: list[RenderableType] = [
        text(f"ALARM: {alarm_line(one)}", "bold red") for one in shown[:SHOWN_ALARMS]
    ]
    if len(shown) > SHOWN_ALARMS:
        lines.append(text(f"and {plural(len(shown) - SHOWN_ALARMS, 'alarm')} more", "red"))
    others = len(summary.alarms) - len(shown)
    if others:
        lines.append(text(f"{plural(others, 'alarm')} of what is over or better", "dim"))
    return [*lines, text("")] if lines else []


def _gaps(kept: KeptGaps) -> "list[RenderableType]":
    """Return what the documents lack most, by how many people asked."""
    table = new_table((f"Gaps since {kept.since}", False), ("people", True), ("exchanges", True), ("", False))
    for gap in kept.gaps[:SHOWN_GAPS]:
        near = f"nearest: {gap.nearest[0].document_id}" if gap.nearest else ""
        name, document = one_line(gap.name, LONGEST_NAME), one_line(near, LONGEST_NAME)
        counts = text(count(gap.n_people)), text(count(gap.n_questions))
        table.add_row(text(name), *counts, text(document, "dim"))
    more = kept.n_gaps - SHOWN_GAPS
    return [text(""), table, *([text(f"and {plural(more, 'gap')} more", "dim")] if more > 0 else [])]


def _metrics(metrics: "list[MetricMean]") -> "Table":
    table = new_table(
        ("", False), ("mean", True), ("95 % interval", True), ("of", True), ("not scored", False)
    )
    for one in metrics:
        whole = one.whole
        counts = {status: whole.statuses[status] for status in STATUSES if status in whole.statuses}
        ends = "" if whole.low is None or whole.high is None else f"{whole.low:.3f} to {whole.high:.3f}"
        table.add_row(
            text(f"{one.metric} ({one.judge})" if _doubled(one, metrics) else one.metric),
            text("" if whole.mean is None else f"{whole.mean:.3f}", "bold"),
            text(ends),
            text(count(whole.n)),
            text(statuses(counts), "dim"),
        )
    return table


def _doubled(one: MetricMean, metrics: list[MetricMean]) -> bool:
    """Return whether several judges have scored a metric, so that its name does not say which."""
    return sum(other.metric == one.metric for other in metrics) > 1


def held_lines(summary: WatchSummary) -> list[str]:
    """Return how much the store holds, as lines."""
    held = summary.overview
    if not held.n_exchanges:
        return ["The store holds no exchange yet. Give it a log: ragstone watch LOG"]
    span = f", {held.first} to {held.last}" if held.first and held.last else ""
    lines = [
        f"{plural(held.n_exchanges, 'exchange')}{span}; {count(held.n_sampled)} in the sample, "
        f"{count(held.n_judged)} judged by all judges, {count(summary.left)} left."
    ]
    if held.without_time:
        lines.append(f"{plural(held.without_time, 'exchange')} without a time: in no trend and no mean here.")
    if held.in_future:
        lines.append(
            f"{plural(held.in_future, 'exchange')} with a time in the future: in no trend and no mean."
        )
    return lines


def read_lines(read: ReadCounts) -> list[str]:
    """Return what became of the rows that were read now, and what a reader must know of them."""
    lines = [f"{plural(read.rows, 'row')} read: {count(read.new)} new, {count(read.again)} known already."]
    if read.feedback:
        lines[0] = lines[0][:-1] + f", {count(read.feedback)} of feedback."
    if read.without_question:
        lines.append(f"{plural(read.without_question, 'row')} without a question, left out.")
    if read.unread_times:
        lines.append(f"The time of {plural(read.unread_times, 'row')} cannot be understood.")
    elif read.without_time:
        lines.append(f"{plural(read.without_time, 'row')} without a time under a name that is known.")
    if read.unread_feedback:
        lines.append(
            f"The feedback of {plural(read.unread_feedback, 'row')} is not on its scale, feedback_scale of "
            "[monitor]."
        )
    lines += [f"{path}: replaced or cut off since the last time; read anew." for path in read.anew]
    if read.malformed:
        lines.append(f"{plural(read.malformed, 'row')} cannot be read, the first of them:")
        lines += [f"  {one}" for one in read.shown]
    return lines


def judged_line(summary: WatchSummary) -> str:
    """Return what was judged now, in one line."""
    parts = [f"{plural(summary.judged, 'exchange')} judged now, {plural(summary.calls.made, 'call')}"]
    if summary.given or summary.unplaced:
        parts.append(
            f"{plural(summary.given, 'judgement')} taken in, {count(summary.unplaced)} of no exchange here"
        )
    if summary.canaries:
        parts.append("canaries judged again")
    if summary.cut_off:
        parts.append("the budget of the day is spent: the rest is judged on a later day")
    return "; ".join(parts) + "."
