"""A summary -> what the terminal shows after a run: the three questions, answered in a screen of text."""

from typing import TYPE_CHECKING, Literal

from ragstone.agreement.card import ReportCard
from ragstone.judging.summary import MetricSummary
from ragstone.records import NO_MODEL
from ragstone.report import wording
from ragstone.report.cascades import savings_line
from ragstone.report.corrected import corrected_line, corrected_of
from ragstone.report.document import told
from ragstone.report.findings import findings, rank_bars
from ragstone.report.retrieval import Grouping, groupings, headline_measures, remarks
from ragstone.report.summary import RunSummary
from ragstone.report.unsupported import unsupported_lines
from ragstone.report.wording import count, interval, judge_name, n_scored, number, plural, statuses
from ragstone.retrieval.summary import RetrievalSummary

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

SHOWN_MEASURES = ("hit@1", "hit@5", "mrr")
VALUE_WIDTH = 14  # beside three measures with their intervals, in 80 columns
NAME_WIDTH = 44  # of a judge or system; longer ones are folded, for the numbers are what matters


def terminal_summary(summary: RunSummary) -> "Group":
    """Return the summary for `rich`: every mean beside its denominator and its failures, 80 columns wide."""
    from rich.console import Group

    right, blame, trust = findings(summary)
    parts: list[RenderableType] = [
        _text(summary.name, "bold"),
        _text(wording.counted(summary.counts), "dim"),
        _text(right.question, "bold", before=1),
        *_metrics(summary),
        _text(" ".join(told(right))),
        _text(blame.question, "bold", before=1),
        *([_retrieval_table(summary)] if summary.retrieval else []),
        _text(" ".join(told(blame))),
        _text(trust.question, "bold", before=1),
        *(part for card in summary.cards for part in _card(card)),
        *([] if summary.cards else [_text(" ".join(told(trust)))]),
        *_notes(summary),
        *_cascades(summary),
        *_calls(summary),
    ]
    return Group(*parts)


def terminal_judged(summary: RunSummary) -> "Group":
    """Return what `ragstone judge` shows: the means of a sheet, what lacks support, notes, and the cost."""
    from rich.console import Group

    return Group(
        *_metrics(summary),
        *_unsupported(summary),
        *_notes(summary),
        *_cascades(summary),
        *_calls(summary),
    )


def terminal_retrieval(row: RetrievalSummary) -> "Group":
    """Return what `ragstone retrieve` shows: rank measures, first ranks, groups, and what to know of them."""
    from rich.console import Group

    table = _table(("", 0, False), ("mean", 4, True), ("interval", 12, True), ("", 0, False))
    for name, estimate in row.measures.items():
        fewer = f"of {plural(estimate.n, 'question')}" if estimate.n != row.n_questions else ""
        _add(
            table,
            (f"  {name}", ""),
            (number(estimate.value), "bold"),
            (interval(estimate), ""),
            (fewer, "dim"),
        )
    places = ", ".join(f"{place}: {count(n)}" for place, n in rank_bars(row) if n)
    return Group(
        _text(f"{row.retriever}, measured on {wording.measured(row)}", "bold"),
        *([table] if row.measures else [_text(_unmeasured(row))]),
        *([_text(f"First relevant document at rank {places}.")] if row.measures else []),
        *(part for grouping in groupings(row) for part in _grouping(grouping, headline_measures(row))),
        *(_text(remark) for remark in remarks(row)),
    )


def _unmeasured(row: RetrievalSummary) -> str:
    if row.n_questions:
        return "Nothing to measure: the rankings are empty, so nothing was found for any question."
    return "Nothing to measure: no question names its documents."


def _grouping(grouping: Grouping, measures: list[str]) -> "list[RenderableType]":
    """Return one line a value: its questions, and a few measures with their intervals."""
    table = _table((f"By {grouping.by}", 0, False), ("n", 4, True), *((name, 17, True) for name in measures))
    table.columns[0].max_width = VALUE_WIDTH
    for value, group in grouping.groups.items():
        estimates = [group.measures[name] for name in measures]
        cells = [f"{number(one.value)} {interval(one):>12}" for one in estimates]
        _add(table, (f"  {value}", ""), (count(group.n_questions), ""), *((cell, "") for cell in cells))
    more = [_text(f"  And {plural(grouping.n_more, 'value')} more.", "dim")] if grouping.n_more else []
    return [table, *more]


def _text(words: str, style: str = "", *, before: int = 0) -> "RenderableType":
    """Return text from outside as it is: no markup of rich's is read in it."""
    from rich.text import Text

    return Text("\n" * before + words, style=style)


def _table(*columns: tuple[str, int, bool], heads: bool = True) -> "Table":
    """Return a table without lines; columns are (head, least width, aligned to the right)."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim", show_header=heads)
    for head, width, right in columns:
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(Text(head), justify=justify, min_width=width or None, overflow="fold")
    return table


def _add(table: "Table", *cells: tuple[str, str]) -> None:
    from rich.text import Text

    table.add_row(*(Text(words, style=style) for words, style in cells))


def _metrics(summary: RunSummary) -> "list[RenderableType]":
    """Return a table of means for each model, language models first; of several systems, a row each."""
    several = len({metric.system for metric in summary.metrics}) > 1
    width = min(max((len(_row_name(metric, several)) for metric in summary.metrics), default=0), NAME_WIDTH)
    columns = [("", width, False), ("mean", 4, True), ("interval", 12, True), ("scored", 10, True)]
    models = dict.fromkeys(metric.model for metric in summary.metrics)
    parts: list[RenderableType] = []
    for place, model in enumerate(sorted(models, key=lambda model: model == NO_MODEL)):
        table = _table(*columns, ("", 0, False), heads=place == 0)
        rows = [metric for metric in summary.metrics if metric.model == model]
        for judge in dict.fromkeys(_name(row) for row in rows):
            if several:
                _add(table, (judge, ""))
            for row in rows:
                if _name(row) == judge:
                    _add(table, (_row_name(row, several), ""), *_metric_cells(row, summary))
        parts += [_text("Baselines, no model" if model == NO_MODEL else f"By {model}", "dim"), table]
    return parts


def _row_name(metric: MetricSummary, several: bool) -> str:
    return f"    {metric.system}" if several else _name(metric)


def _name(metric: MetricSummary) -> str:
    unit = not metric.scale or metric.scale[1] == 1
    return f"  {judge_name(metric)}" + ("" if unit else f" ({wording.scale(metric)})")


def _metric_cells(metric: MetricSummary, summary: RunSummary) -> list[tuple[str, str]]:
    estimate, warning = metric.estimate, wording.caution(metric, summary)
    corrected = corrected_of(metric, summary)
    others = [
        corrected_line(corrected) if corrected else "",
        statuses(metric.statuses),
        f"† {warning}" if warning else "",
    ]
    return [
        (number(estimate.value) if estimate else "none", "bold"),
        (interval(estimate) if estimate else "", ""),
        (f"{count(n_scored(metric))} of {count(metric.n_rows)}", ""),
        ("\n".join(line for line in others if line), "yellow" if warning else "dim"),
    ]


def _retrieval_table(summary: RunSummary) -> "Table":
    known = [name for name in SHOWN_MEASURES if any(name in row.measures for row in summary.retrieval)]
    table = _table(("", 0, False), *((name, 14, True) for name in known), ("measured on", 0, False))
    for row in summary.retrieval:
        estimates = [row.measures.get(name) for name in known]
        values = [f"{number(e.value)}\n{interval(e)}" if e else "" for e in estimates]
        _add(
            table,
            (f"  {row.retriever}", ""),
            *((value, "") for value in values),
            (wording.measured(row), "dim"),
        )
    return table


def _card(card: ReportCard) -> "list[RenderableType]":
    beside = f"; baselines: {wording.rivals(card)}" if wording.rivals(card) else ""
    return [
        _text(f"{judge_name(card)}, {count(card.n)} labels: {wording.agreement(card)}{beside}"),
        _text(card.verdict, "yellow" if wording.doubt(card) else ""),
    ]


def _unsupported(summary: RunSummary) -> "list[RenderableType]":
    lines = list(unsupported_lines(summary.metrics))
    head = [_text("Statements without support", "bold", before=1)] if lines else []
    return [*head, *(_text(line, "dim" if line.startswith("    ") else "") for line in lines)]


def _notes(summary: RunSummary) -> "list[RenderableType]":
    if not summary.notes:
        return []
    return [
        _text("Before you trust these numbers", "bold", before=1),
        *(_text(f"- {n}") for n in summary.notes),
    ]


def _cascades(summary: RunSummary) -> "list[RenderableType]":
    return [_text(savings_line(one), before=1) for one in summary.cascades]


def _calls(summary: RunSummary) -> "list[RenderableType]":
    calls = summary.calls
    if not calls.made + calls.from_ledger:
        return [_text("No model was called.", "dim", before=1)]
    models = ", ".join(f"{role} {model}" for role, model in summary.models.items())
    failed = f" ({statuses(calls.failed)})" if calls.failed else ""
    return [
        _text(f"Models: {models or 'none'}", "dim", before=1),
        _text(f"Calls: {wording.calls_line(calls)}{failed}", "dim"),
        _text(f"Tokens: {wording.tokens_line(calls)}. Cost: {wording.cost(calls)}.", "dim"),
    ]
