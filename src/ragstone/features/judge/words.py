"""Judgements of an answer sheet: their means, the statements without support, and what was asked."""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, get_args

from msgspec import UNSET

from ragstone.features.judge.cascade_words import savings_line
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Made,
    Notes,
    Paragraph,
    ReportDocument,
    Row,
    Table,
    estimated,
    table_of,
)
from ragstone.kernel.document.numbers import count, interval, number, one_line
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.repeated import PassRate
from ragstone.kernel.judging.summary import MetricSummary, TruthCounts
from ragstone.kernel.records import NO_MODEL, Said
from ragstone.kernel.runs.noise import noise_blocks
from ragstone.kernel.runs.summary import RunSummary, corrected_of
from ragstone.kernel.runs.wording import (
    asked_line,
    calls_line,
    caution,
    cost,
    failures,
    judge_name,
    mean_text,
    n_scored,
    scale,
    shared_rows,
    statuses,
    tokens_line,
)
from ragstone.kernel.statistics import Estimate

if TYPE_CHECKING:
    from ragstone.kernel.agreement.corrected_mean import CorrectedMean

SHOWN_K = (1, 2, 3, 5)  # k that are shown beside the largest; all of them are in the numbers
REPEATED = "Repeated answers"
OF_REPEATED = (
    "pass@k is the chance that at least one of k answers to a question passes, pass^k that all of them "
    "do. An answer passes at the score shown or better. Means over the questions that have k scored "
    "answers."
)

WIDTH = 80  # of a line of an unsupported statement
LONGEST_ID = 24
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")  # a terminal would obey them
TAKEN_FROM = {
    "answer": "statement",
    "reference": "statement of the references",
    "contexts": "context",
    "steps": "step",
    "expected_steps": "expected step",
}
LACKING = {
    "answer": "not supported",
    "reference": "missing from the answers",
    "contexts": "not useful for the question",
    "steps": "not right",
    "expected_steps": "not called",
}


def judged_document(summary: RunSummary) -> ReportDocument:
    """Return what `ragstone judge` shows: the means of a sheet, what lacks support, notes, and the cost."""
    return ReportDocument(
        title="",
        kind="judgements",
        about="",
        version=summary.version,
        blocks=[
            *brief_blocks(summary),
            *_unsupported(summary.metrics),
            Notes(summary.notes),
        ],
        last=asked_lines(summary),
        brief=asked_line(summary.calls),
    )


def brief_blocks(summary: RunSummary) -> list[Block]:
    """Return the means for a terminal, the judges' noise, and what stands below the means."""
    return [
        *([_brief_means(summary)] if summary.metrics else []),
        *noise_blocks(summary),
        *beside_means(summary.metrics),
    ]


def _brief_means(summary: RunSummary) -> Table:
    """Return the means for a terminal: by model, language models first; of several systems, a row each."""
    several = len({metric.system for metric in summary.metrics}) > 1
    rows: list[Row] = []
    models = dict.fromkeys(metric.model for metric in summary.metrics)
    for model in sorted(models, key=lambda model: model == NO_MODEL):
        rows.append(["Baselines, no model" if model == NO_MODEL else f"By {model}"])
        mine = [metric for metric in summary.metrics if metric.model == model]
        for judge in dict.fromkeys(map(_with_scale, mine)):
            rows += [[judge]] if several else []
            rows += [
                _brief_mean(row, summary, f"    {row.system}" if several else judge)
                for row in mine
                if _with_scale(row) == judge
            ]
    heads = [Column("", text=True), Column("mean"), Column("interval"), Column("scored")]
    return Table([*heads, Column("", text=True)], rows, "Means", where="terminal")


def _with_scale(row: MetricSummary) -> str:
    unit = not row.scale or row.scale[1] == 1 or row.labels
    return f"  {judge_name(row)}" + ("" if unit else f" ({scale(row)})")


def _brief_mean(row: MetricSummary, summary: RunSummary, name: str) -> list[Cell]:
    warning, corrected = caution(row, summary), corrected_of(row, summary)
    beside = [
        shared_rows(row),
        corrected_line(corrected) if corrected else "",
        failures(row, summary.bounds_from),
        f"† {warning}" if warning else "",
    ]
    mean = mean_text(row).replace(", ", "\n") if row.labels else mean_text(row)
    return [
        Cell(name),
        Cell(mean, tone="strong" if row.estimate or row.labels else ""),
        Cell(interval(row.estimate) if row.estimate else ""),
        Cell(f"{count(n_scored(row))} of {count(row.n_rows)}"),
        Cell("\n".join(line for line in beside if line), tone="warn" if warning else "muted"),
    ]


def beside_means(metrics: Sequence[MetricSummary]) -> list[Block]:
    """Return what stands below the means: of true and false statements, and of repeated answers."""
    return [*_truth_blocks(metrics), *pass_blocks(metrics)]


def _truth_blocks(metrics: Sequence[MetricSummary]) -> list[Block]:
    """Return what each system said of true and of false statements; nothing where there were none."""
    rows = [(metric, metric.truth) for metric in metrics if metric.truth]
    if not rows:
        return []
    several = len({metric.system for metric in metrics}) > 1

    def found(estimate: Estimate | None) -> Cell:
        return Cell(number(estimate.value), interval(estimate)) if estimate else Cell("none", tone="muted")

    columns: list[Made[tuple[MetricSummary, TruthCounts]]] = [
        (
            Column("", text=True),
            lambda row: f"{row[0].system}, {judge_name(row[0])}" if several else judge_name(row[0]),
        ),
        ("true: said true / false / neither", lambda row: _said(row[1].true)),
        ("false: said true / false / neither", lambda row: _said(row[1].false)),
        (Column("precision on false", beside="interval"), lambda row: found(row[1].precision_on_false)),
        (Column("recall on false", beside="interval"), lambda row: found(row[1].recall_on_false)),
    ]
    table = table_of("True and false statements", rows, columns)
    return [Heading("True and false statements", level=3), table]


def _said(counts: Mapping[Said, int]) -> str:
    return " / ".join(count(counts.get(label, 0)) for label in get_args(Said))


def _unsupported(metrics: Sequence[MetricSummary]) -> list[Block]:
    """Return how many statements each judge found no support for, or steps at fault, and the first of them.

    Of contexts none is shown: their beginnings say little. Nothing where no judge gave verdicts.
    """
    several = len({metric.system for metric in metrics}) > 1
    blocks: dict[str, list[Block]] = {"Statements without support": [], "Steps that are not right": []}
    for metric in metrics:
        system = f", {metric.system}" if several else ""
        for lack in metric.unsupported:
            of_steps = "step" in lack.of
            if of_steps and not lack.n_unsupported:
                continue
            lines = blocks["Steps that are not right" if of_steps else "Statements without support"]
            what, of, rest = TAKEN_FROM[lack.of].partition(" of ")
            lines.append(
                Paragraph(
                    f"  {judge_name(metric)}{system}: {count(lack.n_unsupported)} of {plural(lack.n, what)}"
                    f"{of}{rest} {LACKING[lack.of]} ({plural(lack.n_rows, 'answer')})"
                )
            )
            first = () if lack.of == "contexts" else lack.first
            for question_id, statement in first:
                lead = f"    {_short(question_id, LONGEST_ID)}: "
                lines.append(Paragraph(lead + _short(statement, WIDTH - len(lead)), tone="muted"))
    return [block for head, lines in blocks.items() if lines for block in (Heading(head, level=3), *lines)]


def _short(text: str, length: int) -> str:
    return one_line(CONTROL.sub(" ", text), length)


def corrected_line(mean: "CorrectedMean") -> str:
    """Return the corrected mean and its interval, on one line, and whether it is in another unit."""
    unit = "" if mean.same_unit and mean.threshold is None else " on the labels' scale"
    return f"corrected{unit}: {number(mean.corrected.value)} ({interval(mean.corrected)})"


def asked_lines(summary: RunSummary) -> str:
    """Return what a terminal says last: what cascades have saved, and what was asked and what it cost."""
    calls = summary.calls
    lines = "No model was called."
    if calls.made + calls.from_ledger:
        models = ", ".join(f"{role} {model}" for role, model in summary.models.items())
        failed = f" ({statuses(calls.failed)})" if calls.failed else ""
        lines = (
            f"Models: {models or 'none'}\nCalls: {calls_line(calls)}{failed}\n"
            f"Tokens: {tokens_line(calls)}. Cost: {cost(calls)}."
        )
    return "\n\n".join([*map(savings_line, summary.cascades), lines])


def pass_blocks(metrics: Sequence[MetricSummary]) -> list[Block]:
    """Return pass@k and pass^k of each judge; nothing where no answer was repeated."""
    rows = [
        (metric, metric.repeats.passes_from or 0.0, rate)
        for metric in metrics
        if metric.repeats is not UNSET and metric.repeats.most > 1
        for rate in metric.repeats.passes
        if rate.k in SHOWN_K or rate is metric.repeats.passes[-1]
    ]
    if not rows:
        return []
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
    return [
        Heading(REPEATED, level=3),
        Paragraph(OF_REPEATED, tone="muted"),
        table_of(REPEATED, rows, columns, group=name),
    ]
