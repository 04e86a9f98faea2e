"""A run: what its page, the terminal, a notebook and a pull request show of it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ragstone.features.agree import corrected_blocks, folded_card
from ragstone.features.judge import asked_lines, brief_blocks, savings_line
from ragstone.features.report._charts import agreement_chart, distribution_chart, means_chart, tag_charts
from ragstone.features.report._findings import blame_part, findings, rivals
from ragstone.features.retrieve import headline_blocks, retrieval_blocks, retrieval_dots
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.known_cards import card_of
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Findings,
    Fold,
    Heading,
    Made,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    Row,
    RowList,
    SurfacePart,
    Table,
    Tone,
    Verbatim,
    table_of,
    told,
)
from ragstone.kernel.document.charts import Dots, dot
from ragstone.kernel.document.numbers import (
    count,
    counted,
    interval,
    level,
    number,
    p_value,
    signed,
    signed_interval,
)
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.retrieval.summary import RetrievalSummary
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.breakdown import FoundAndRight, GroupedMeans, SystemsBoard, SystemStanding
from ragstone.kernel.runs.headlines import headlines
from ragstone.kernel.runs.noise import noise_blocks
from ragstone.kernel.runs.run import Run
from ragstone.kernel.runs.summary import RunSummary, corrected_of
from ragstone.kernel.runs.wording import (
    agreement,
    asked_line,
    calls_line,
    caution,
    cost,
    denominator,
    doubt,
    failures,
    judge_name,
    mean_text,
    measured,
    scale,
    statuses,
    tokens_line,
)

LEAD = (
    "Each judge's mean over the rows that it scored, with its interval. A row without a score is counted "
    "under its status, never as a score."
)
BASELINES = "Baselines, without a model: if a judge does no better than these, do not pay for it"
JUDGED_ORDER = (
    "Systems are ordered by the judge's means; its errors may favour one of them. With people's labels, "
    "compare takes these errors out of a difference: ragstone compare RUN RUN --system-a A --system-b B "
    "--labels FILE."
)
"""Beside every leaderboard of systems: its means are a judge's, whoever has labelled some answers."""
LONGEST_LIST = 12  # notes, systems, judges of a pull request: a comment that is longer is not read
BRIEF_MEASURES = ("hit@1", "hit@5", "mrr")  # of several retrievers, side by side in a terminal
UNIT = (0.0, 1.0)
FOUND = "wrong: the prompt or the model"
MISSED = "wrong: the retriever; right: known without the corpus, or the labels are incomplete"


def run_document(summary: RunSummary, run: Run | None = None, cut_note: str = "") -> ReportDocument:
    """Return the report of a run: the three questions answered, then the numbers behind each answer.

    run: with its rows, for a page. cut_note: what the page could not hold of them.
    """
    return ReportDocument(
        title=summary.name,
        kind="report",
        about=counted(summary.counts),
        version=summary.version,
        blocks=[
            *number_blocks(summary, run, cut_note),
            RowList(template="run_questions.html", heading="Every question"),
            *made_blocks(summary, run),
            *metric_dots(summary.metrics),
            *retrieval_dots(summary.retrieval),
        ],
        skip=("questions", "questions"),
        source="summary.json and the rows",
        last=asked_lines(summary),
        brief=asked_line(summary.calls),
    )


def pull_request_document(summary: RunSummary, blamed: BlameSummary | None = None) -> ReportDocument:
    """Return what fits into a pull request: the answers, the means, and what to know of them."""
    board, notes = summary.systems, summary.notes[:LONGEST_LIST]
    n_more = len(summary.notes) - len(notes)
    more = [f"{plural(n_more, 'further note')} in report.html."] if n_more else []
    models = "; ".join(f"{role}: {model}" for role, model in summary.models.items())
    line = f"Calls: {calls_line(summary.calls)}. Cost: {cost(summary.calls)}."
    part = blame_part(blamed)
    return ReportDocument(
        title=summary.name,
        kind="report",
        about="",
        version=summary.version,
        blocks=[
            Paragraph(counted(summary.counts)),
            Findings(findings=findings(summary, blamed)),
            *(_leaderboard(board, "Interval", LONGEST_LIST) if board else []),
            *_means_of_systems(summary, 2 * LONGEST_LIST),
            *noise_blocks(summary),
            *(block for row in summary.retrieval for block in headline_blocks(row)),
            *(part.brief_blocks(blamed) if blamed and part else []),
            Notes([*notes, *more]),
            Paragraph(" ".join(filter(None, [f"Models: {models}." if models else "", line]))),
            Paragraph(
                "report.html in this run's folder has every question with its answer, verdicts and prompts. "
                f"Ragstone {summary.version}."
            ),
        ],
    )


def number_blocks(summary: RunSummary, run: Run | None, cut_note: str = "") -> list[Block]:
    """Return the numbers of a run, without its rows. run: as in run_document."""
    right, blame, trust = findings(summary, run.blamed if run else None)
    head = _interval_head(summary)
    causes = [row for rows in run.causes.values() for row in rows] if run else []
    measured_blame = bool(summary.retrieval or summary.blame)
    part = blame_part(run.blamed if run else None)
    return [
        Findings(findings=[right, blame, trust]),
        Notes([*summary.notes, *([cut_note] if cut_note else [])]),
        Heading(right.question, anchor="right"),
        *_scores(summary, head),
        Paragraph(" ".join(told(right)), where="terminal", part="caution"),
        Heading(blame.question, anchor="blame"),
        *(part.blocks(run.blamed, causes) if run and run.blamed and part else []),
        *([_retrievers(summary)] if summary.retrieval else []),
        *(SurfacePart(retrieval_blocks(row, head), where="page") for row in summary.retrieval),
        *(block for row in summary.blame for block in _found_and_right(row, len(summary.blame) > 1)),
        Paragraph(" ".join(told(blame)), prose=True, where="terminal" if measured_blame else "everywhere"),
        Heading(trust.question, anchor="trust"),
        *_some(agreement_chart(summary.cards)),
        *(block for card in summary.cards for block in (*folded_card(card), *_brief_card(card))),
        *([] if summary.cards else [Paragraph(" ".join(told(trust)), prose=True)]),
        *(_certified(run) if run else []),
    ]


def _certified(run: Run) -> list[Block]:
    """Return what the certificate of the run's questions says, on a page; nothing where there is none."""
    if not run.certified:
        return []
    from ragstone.features.build import certified_blocks

    return [SurfacePart(certified_blocks(run.certified), where="page")]


def made_blocks(summary: RunSummary, run: Run | None) -> list[Block]:
    """Return what was asked of whom and what it cost, with the manifest to open; of a page alone."""
    calls = summary.calls
    failed = [("failed calls", statuses(calls.failed))] if calls.failed else []
    made = [
        *summary.models.items(),
        ("calls", calls_line(calls)),
        *failed,
        ("tokens", tokens_line(calls)),
        ("cost", cost(calls)),
        *((f"cascade {cascade.judge}", savings_line(cascade)) for cascade in summary.cascades),
        ("Ragstone", summary.version),
    ]
    manifest = run.manifest if run else None
    whole = [Verbatim(manifest_text(manifest))] if manifest else []
    return [
        Heading("How it was made", anchor="made", where="page"),
        Pairs(made, where="page"),
        *([Fold("Manifest: the digest of everything that affects the result", whole)] if whole else []),
    ]


def manifest_text(manifest: dict[str, Any]) -> str:
    """Return a manifest as it stands in its file, with line breaks."""
    return msgspec.json.format(msgspec.json.encode(manifest)).decode()


def _scores(summary: RunSummary, interval_head: str) -> list[Block]:
    """Return the means: on a page by system with charts and groups, in a terminal as one table."""
    return [
        Paragraph(LEAD, tone="lead", where="page"),
        SurfacePart(_leaderboard(summary.systems, interval_head) if summary.systems else [], where="page"),
        *_some(means_chart(summary.metrics)),
        SurfacePart(_means_of_systems(summary, None), where="page"),
        *brief_blocks(summary),
        SurfacePart(corrected_blocks(summary.corrected) if summary.corrected else [], where="page"),
        *_some(distribution_chart(summary.distributions)),
        *(
            block
            for grouping, chart in tag_charts(summary.by_tag, headlines(summary))
            for block in (chart, *_grouped(grouping, interval_head, summary))
        ),
    ]


def _some(chart: Block | None) -> list[Block]:
    return [chart] if chart else []


def _leaderboard(board: SystemsBoard, interval_head: str, most: int | None = None) -> list[Block]:
    """Return the systems in order. most: of them, the rest is told as a number."""
    rows = board.standings[:most]
    by = judge_name(board) + ("" if board.model == NO_MODEL else f" ({board.model})")
    left_out = f"; {count(board.n_left_out)} left out" if board.n_left_out else ""
    rests_on = (
        f"By {by}, on {plural(board.n_questions, 'question')} that it scored for every system{left_out}. "
        f"Differences are paired by question, p is corrected by Holm over {plural(board.family, 'pair')}. "
        f"{JUDGED_ORDER}"
    )
    more = len(board.standings) - len(rows)
    columns: list[Made[SystemStanding]] = [
        ("Order", lambda row: str(row.place)),
        (Column("System", text=True), lambda row: row.system),
        ("Mean", lambda row: Cell(number(row.estimate.value), tone="strong")),
        (interval_head, lambda row: interval(row.estimate)),
        ("Best minus this", lambda row: signed(row.comparison.difference.value) if row.comparison else ""),
        ("Interval", lambda row: signed_interval(row.comparison.difference) if row.comparison else ""),
        ("p", lambda row: p_value(row.comparison.p_holm) if row.comparison else ""),
        (Column("Verdict", text=True), _place),
    ]
    return [
        Heading("Leaderboard", level=3),
        Paragraph(rests_on, tone="muted"),
        table_of("Leaderboard of systems", rows, columns),
        *([Paragraph(f"{plural(more, 'further system')} in report.html.")] if more else []),
    ]


def _place(row: SystemStanding) -> str:
    if row.comparison is None:
        return "highest mean"
    return "worse, according to the judge" if row.verdict == "worse" else "no clear difference from the best"


def _means_of_systems(summary: RunSummary, most: int | None) -> list[Block]:
    """Return a table of means for each system. most: of the means; the rest is told as a number."""
    metrics = summary.metrics[:most]
    systems = list(dict.fromkeys(metric.system for metric in summary.metrics))
    head = _interval_head(summary)
    more = len(summary.metrics) - len(metrics)
    tables = [
        _means(system, [row for row in metrics if row.system == system], summary, head, len(systems) > 1)
        for system in dict.fromkeys(row.system for row in metrics)
    ]
    return [*tables, *([Paragraph(f"{plural(more, 'further mean')} in report.html.")] if more else [])]


def _means(
    system: str, metrics: Sequence[MetricSummary], summary: RunSummary, interval_head: str, several: bool
) -> Table:
    """Return the means of a system, those of language models first."""

    def mean(row: MetricSummary) -> Cell:
        if row.estimate is None:
            return _mean_cell(row)
        return Cell(number(row.estimate.value), scale(row) if row.scale != UNIT else "", "strong")

    def span(row: MetricSummary) -> Cell:
        estimate = row.estimate
        return (
            Cell(interval(estimate), at=estimate if row.scale else None, ends=row.scale)
            if estimate
            else Cell("")
        )

    def corrected(row: MetricSummary) -> Cell:
        mean = corrected_of(row, summary)
        if mean is None:
            return Cell("no labels", tone="muted")
        unit = "" if mean.same_unit and mean.threshold is None else ", on the labels' scale"
        return Cell(number(mean.corrected.value), interval(mean.corrected) + unit, "strong")

    def worth(row: MetricSummary) -> Cell:
        card, why = card_of(row, summary.cards), caution(row, summary)
        if card is None:
            return Cell("not measured", tone="muted")
        return Cell(agreement(card), caution=f"† {why}" if why else "")

    columns: list[Made[MetricSummary]] = [
        (
            Column("Judge", text=True),
            lambda row: Cell(judge_name(row), "" if row.model == NO_MODEL else row.model),
        ),
        ("Mean", mean),
        (Column(interval_head, ends=UNIT), span),
        *([("Corrected by labels", corrected)] if summary.corrected else []),
        (Column("Rows", text=True), lambda row: _rows(row, summary)),
        (Column("Agreement with people", text=True), worth),
    ]
    return table_of(
        f"Scores of {system}",
        sorted(metrics, key=lambda row: row.model == NO_MODEL),
        columns,
        caption=system if several else "",
        kind="wide scores",
        group=lambda row: BASELINES if row.model == NO_MODEL else "",
    )


def _mean_cell(row: MetricSummary) -> Cell:
    return Cell(mean_text(row), tone="strong" if row.estimate or row.labels else "")


def _rows(row: MetricSummary, summary: RunSummary) -> Cell:
    others = failures(row, summary.bounds_from)
    return Cell(denominator(row) + (";" if others else ""), others)


def _grouped(grouping: GroupedMeans, interval_head: str, summary: RunSummary) -> list[Block]:
    """Return every judge's mean in each group of questions, to open."""
    several = len({metric.system for metric in summary.metrics}) > 1

    def name(row: tuple[str, MetricSummary]) -> str:
        return f"{row[1].system} · {judge_name(row[1])}" if several else judge_name(row[1])

    columns: list[Made[tuple[str, MetricSummary]]] = [
        (Column("Judge", text=True), name),
        ("Mean", lambda row: _mean_cell(row[1])),
        (interval_head, lambda row: interval(row[1].estimate) if row[1].estimate else ""),
        (Column("Rows", text=True), lambda row: _rows(row[1], summary)),
    ]
    rows = [(value, metric) for value, metrics in grouping.groups.items() for metric in metrics]
    table = table_of(f"Means by {grouping.by}", rows, columns, kind="", group=lambda row: row[0])
    small = (
        f"{plural(grouping.n_small, 'value')} with too few questions to show separately, "
        f"{plural(grouping.n_small_rows, 'question')} in total."
    )
    return [
        Fold(f"Every judge by {grouping.by}", [table], where="page"),
        *([Paragraph(small, tone="muted", where="page")] if grouping.n_small else []),
    ]


def _retrievers(summary: RunSummary) -> Table:
    """Return a few measures of the retrievers for a terminal, side by side."""
    known = [name for name in BRIEF_MEASURES if any(name in row.measures for row in summary.retrieval)]

    def measure(name: str) -> Made[RetrievalSummary]:
        return (
            name,
            lambda row: f"{number(mean.value)}\n{interval(mean)}" if (mean := row.measures.get(name)) else "",
        )

    columns: list[Made[RetrievalSummary]] = [
        (Column("", text=True), lambda row: f"  {row.retriever}"),
        *map(measure, known),
        (Column("measured on", text=True), lambda row: Cell(measured(row), tone="muted")),
    ]
    return table_of("Retrievers", summary.retrieval, columns, where="terminal")


def _found_and_right(row: FoundAndRight, several: bool) -> list[Block]:
    """Return how many answers are right with a relevant document among their contexts, and without."""
    left_out = f" {plural(row.n_left_out, 'answer')} left out: not scored, or the documents are not named."
    rests_on = (
        "Answers by whether a relevant document was among their contexts, and whether "
        f"{row.judge} scored them at or above the middle of its scale."
    )
    columns = [Column("", text=True), Column("right"), Column("wrong"), Column("", text=True)]
    rows: list[Row] = [
        ["found in the contexts", count(row.found_right), Cell(count(row.found_wrong), tone="open"), FOUND],
        ["not found", count(row.missed_right), Cell(count(row.missed_wrong), tone="open"), MISSED],
    ]
    return [
        Heading(f"Found and right: {row.system}" if several else "Found and right", level=3, where="page"),
        Paragraph(rests_on + (left_out if row.n_left_out else ""), tone="muted", where="page"),
        Table(columns, rows, "Found and right", kind="matrix", where="page"),
    ]


def _brief_card(card: ReportCard) -> list[Block]:
    beside = f"; baselines: {rivals(card)}" if rivals(card) else ""
    told_of = f"{judge_name(card)}, {count(card.n)} labels: {agreement(card)}{beside}"
    tone: Tone = "warn" if doubt(card) else ""
    return [Paragraph(told_of, where="terminal"), Paragraph(card.verdict, tone, where="terminal")]


def _interval_head(summary: RunSummary) -> str:
    """Return the head of the column of intervals: with their level where all have the same."""
    levels = {level(metric.estimate) for metric in summary.metrics if metric.estimate}
    return f"{levels.pop()} interval" if len(levels) == 1 else "Interval"


def metric_dots(metrics: Sequence[MetricSummary]) -> list[Block]:
    """Return the means of judges as charts of a notebook, one a scale, coloured by system or model."""
    scored = [(metric, metric.estimate) for metric in metrics if metric.estimate]
    several = len({metric.system for metric, _ in scored}) > 1
    charts: list[Block] = []
    for ends in dict.fromkeys(metric.scale for metric, _ in scored):
        dots = [
            dot(judge_name(metric), estimate, metric.system if several else metric.model)
            for metric, estimate in scored
            if metric.scale == ends
        ]
        low, high = ends or UNIT
        title = f"Means with {level(scored[0][1])} intervals, from {scale_text(low, high)}"
        charts.append(Dots(title=title, dots=dots, ends=ends or UNIT))
    return charts
