"""summary.json of a run -> report.md: the answers and the tables that fit into a pull request."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ragstone.judging.summary import MetricSummary
from ragstone.report.blame import BlameSummary, read_blame
from ragstone.report.findings import Finding, findings
from ragstone.report.render.html import put_page
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
LONGEST_CELL = 200
SPACE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
MARKUP = re.compile(r"[\\`*_\[\]|~$]")
AT_THE_START = re.compile(r"^(?=[-+=#])|(?<=^\d)(?=[.)](?:\s|$))|(?<=^\d\d)(?=[.)](?:\s|$))")
HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# What sites make links, mentions and references of in any text, however it is escaped: broken by a space
# that nobody sees.
LINKS = re.compile(r"@|#|://|www\.|\bGH-")
UNSEEN = "\u200b"


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


def plain(text: str) -> str:
    """Return a text from outside on one line, with everything escaped that Markdown or HTML could obey."""
    line = SPACE.sub(" ", text).strip()
    short = line if len(line) <= LONGEST_CELL else line[: LONGEST_CELL - 1].rstrip() + "…"
    return escape(AT_THE_START.sub(UNSEEN, short))


def escape(line: str) -> str:
    """Return a line of any length with everything escaped that Markdown or HTML could obey within it."""
    escaped = MARKUP.sub(lambda found: "\\" + found[0], line)
    for character, entity in HTML.items():
        escaped = escaped.replace(character, entity)
    return LINKS.sub(lambda found: found[0][0] + UNSEEN + found[0][1:], escaped)


def _prose(text: str) -> str:
    """Return a sentence of ours, in which commands stand between backticks and may hold outside text."""
    pieces = text.split("`")
    if len(pieces) % 2 == 0:
        return plain(text)
    return "".join(f"<code>{plain(one)}</code>" if at % 2 else _kept(one) for at, one in enumerate(pieces))


def _kept(text: str) -> str:
    """Return plain text with the spaces at its ends, which stand beside a command."""
    start, end = " " * text[:1].isspace(), " " * text[-1:].isspace()
    return start + plain(text) + end if text.strip() else " " * bool(text)


def _finding(finding: Finding) -> Iterator[str]:
    yield f"**{finding.question}**"
    for figure in finding.figures:
        around = ", ".join(plain(part) for part in (figure.interval, figure.rests_on) if part)
        yield f"- {plain(figure.label)}: **{plain(figure.value)}** ({around})"
    if not finding.figures:
        yield "Not measured."
    sentences = [finding.below] * bool(finding.below) + finding.sentences
    if sentences:
        yield " ".join(map(_prose, sentences))


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
    yield _table(["", "System", "Mean", "Interval", "p (Holm)", "Verdict"], rows, numbers={2, 3, 4})
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
    yield _table(head, rows, numbers={at + 1, at + 2})
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
            yield _table(["Measure", "Mean", "Interval"], cells, numbers={1, 2})
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
            yield _table(["Component", "Points", "Share", "Interval"], rows, numbers={1, 2, 3})


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield "### Before you trust these numbers"
        more = len(notes) - LONGEST_LIST
        rest = [f"- {plural(more, 'further note')} in report.html."] if more > 0 else []
        yield "\n".join([*(f"- {_prose(note)}" for note in notes[:LONGEST_LIST]), *rest])


def _end(summary: RunSummary) -> Iterator[str]:
    models = "; ".join(f"{plain(role)}: {plain(model)}" for role, model in summary.models.items())
    calls = f"Calls: {calls_line(summary.calls)}. Cost: {cost(summary.calls)}."
    yield " ".join(filter(None, [f"Models: {models}." if models else "", calls]))
    yield (
        f"Every question, with its answer, verdicts and prompts, stands in report.html of this run. "
        f"Ragstone {plain(summary.version)}."
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: set[int]) -> str:
    """Return a table; `numbers`: the columns that stand to the right."""
    rule = ["---:" if at in numbers else "---" for at in range(len(head))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *rows))
