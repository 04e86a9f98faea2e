"""summary.json of a run -> report.md: the answers and the tables that fit into a pull request."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ragstone.judging.summary import MetricSummary
from ragstone.report.blame import BlameSummary, read_blame
from ragstone.report.document import Finding
from ragstone.report.findings import findings
from ragstone.report.render.html import put_page
from ragstone.report.render.markdown import markdown_table, plain, prose
from ragstone.report.retrieval import headline_measures
from ragstone.report.run import read_summary
from ragstone.report.summary import RunSummary
from ragstone.report.wording import (
    calls_line,
    caution,
    cost,
    count,
    counted,
    denominator,
    interval,
    judge_name,
    measured,
    number,
    p_value,
    plural,
    scale,
    statuses,
)

LONGEST_LIST = 12  # notes, systems, judges: a comment that is longer is not read


def write_markdown(run: Path) -> Path:
    """Write report.md into a run folder, in place of one that is there, and return its path.

    Reads summary.json, and blame.json where there is one. Raises DataError, saying what to do, when one is
    missing or wrong.
    """
    return put_page(run / "report.md", render_markdown(read_summary(run), read_blame(run)))


def render_markdown(summary: RunSummary, blamed: BlameSummary | None = None) -> str:
    """Return the report of a run in Markdown as GitHub and GitLab know it.

    Whatever comes from outside stands as plain text: it sets no markup, mentions nobody and links nowhere.
    """
    parts: list[Iterable[str]] = [
        [f"## {plain(summary.name)}", plain(counted(summary.counts))],
        *(_finding(finding) for finding in findings(summary, blamed)),
        _systems(summary),
        _means(summary),
        _retrieval(summary),
        _blame(blamed),
        _notes(summary.notes),
        _end(summary),
    ]
    return "\n\n".join(block for part in parts for block in part if block) + "\n"


def _finding(finding: Finding) -> Iterator[str]:
    yield f"**{finding.question}**"
    for figure in finding.figures:
        around = ", ".join(plain(part) for part in (figure.interval, figure.rests_on) if part)
        yield f"- {plain(figure.label)}: **{plain(figure.value)}** ({around})"
    if not finding.figures:
        yield "Not measured."
    sentences = [finding.below] * bool(finding.below) + finding.sentences
    if sentences:
        yield " ".join(map(prose, sentences))


def _systems(summary: RunSummary) -> Iterator[str]:
    board = summary.systems
    if board is None:
        return
    yield f"### Leaderboard by {plain(board.judge)}"
    rows = []
    for row in board.standings[:LONGEST_LIST]:
        verdict, p = "highest mean", ""
        if row.comparison:
            verdict = "worse than the best" if row.verdict == "worse" else "cannot be told from the best"
            p = p_value(row.comparison.p_holm)
        shown = number(row.estimate.value), interval(row.estimate)
        rows.append([str(row.place), plain(row.system), *shown, plain(p), verdict])
    yield markdown_table(["", "System", "Mean", "Interval", "p (Holm)", "Verdict"], rows, numbers={2, 3, 4})
    more = len(board.standings) - len(rows)
    left_out = f"; {count(board.n_left_out)} left out" if board.n_left_out else ""
    yield f"On {plural(board.n_questions, 'question')} that the judge scored of every system{left_out}." + (
        f" {plural(more, 'further system')} in report.html." if more else ""
    )


def _means(summary: RunSummary) -> Iterator[str]:
    if not summary.metrics:
        return
    yield "### Means"
    several = len({metric.system for metric in summary.metrics}) > 1
    rows = [_mean(metric, summary, several) for metric in summary.metrics[: 2 * LONGEST_LIST]]
    head = [*(["System"] if several else []), "Judge", "Mean", "Interval", "Rows"]
    at = int(several)
    yield markdown_table(head, rows, numbers={at + 1, at + 2})
    more = len(summary.metrics) - len(rows)
    if more:
        yield f"{plural(more, 'further mean')} in report.html."
    if any(caution(metric, summary) for metric in summary.metrics):
        yield "† a judge that is not shown to be better than its baseline."


def _mean(metric: MetricSummary, summary: RunSummary, several: bool) -> list[str]:
    estimate, others = metric.estimate, statuses(metric.statuses)
    unit = f", {scale(metric)}" if metric.scale and metric.scale[1] != 1 else ""
    name = plain(judge_name(metric)) + unit + (" †" if caution(metric, summary) else "")
    return [
        *([plain(metric.system)] if several else []),
        name,
        number(estimate.value) if estimate else "none",
        interval(estimate) if estimate else "",
        denominator(metric) + (f"; {others}" if others else ""),
    ]


def _retrieval(summary: RunSummary) -> Iterator[str]:
    for row in summary.retrieval:
        shown = [(name, row.measures[name]) for name in headline_measures(row)]
        if shown:
            yield f"### Retriever {plain(row.retriever)}"
            cells = [[plain(name), number(one.value), interval(one)] for name, one in shown]
            yield markdown_table(["Measure", "Mean", "Interval"], cells, numbers={1, 2})
            yield plain(measured(row)) + "."


def _blame(blamed: BlameSummary | None) -> Iterator[str]:
    if blamed is None:
        return
    yield "### Blame"
    for one in blamed.systems:
        whose = f"{plain(one.system)}: of" if len(blamed.systems) > 1 else "Of"
        yield f"{whose} {plural(one.n_counted, 'counted question')}, {count(one.n_lost)} lost the point."
        rows = [
            [share.component, count(share.n), number(share.share.value), interval(share.share)]
            for share in one.shares
            if share.share is not None
        ]
        if rows:
            yield markdown_table(["Component", "Points", "Share", "Interval"], rows, numbers={1, 2, 3})


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield "### Before you trust these numbers"
        more = len(notes) - LONGEST_LIST
        rest = [f"- {plural(more, 'further note')} in report.html."] if more > 0 else []
        yield "\n".join([*(f"- {prose(note)}" for note in notes[:LONGEST_LIST]), *rest])


def _end(summary: RunSummary) -> Iterator[str]:
    models = "; ".join(f"{plain(role)}: {plain(model)}" for role, model in summary.models.items())
    calls = f"Calls: {calls_line(summary.calls)}. Cost: {cost(summary.calls)}."
    yield " ".join(filter(None, [f"Models: {models}." if models else "", calls]))
    yield (
        f"Every question, with its answer, verdicts and prompts, stands in report.html of this run. "
        f"Ragstone {plain(summary.version)}."
    )
