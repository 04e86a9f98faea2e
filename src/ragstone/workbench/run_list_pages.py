"""The list of runs, with their settings and means; and the course of a mean from run to run."""

from collections.abc import Callable, Sequence

from litestar import Response, get
from litestar.params import FromQuery

from ragstone.kernel.document.html import draw, render_blocks
from ragstone.kernel.document.numbers import count, one_line
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.settings import differing_settings
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.runs import RunEntry
from ragstone.kernel.serve.state import AtApp
from ragstone.workbench.run_table import (
    LONGEST_SETTING,
    NEWEST,
    RunColumn,
    format_cost,
    format_means,
    format_setting,
    in_order,
    means_of,
    metric_columns,
    run_table,
    who_answered,
)
from ragstone.workbench.trend import RunStep, trend_chart

RUNS_A_PAGE = 50
MOST_IN_TREND = 200  # runs: of more, the last ones


def chosen(entries: Sequence[RunEntry], text: str) -> list[RunEntry]:
    """Return the entries whose name, kind or models hold every word of the text."""
    wanted = text.casefold().split()
    return [
        entry
        for entry in entries
        if all(word in " ".join((entry.name, entry.kind, *entry.models)).casefold() for word in wanted)
    ]


@get("/", sync_to_thread=True)
def runs(
    request: AnyRequest,
    app: AtApp,
    text: FromQuery[str] = "",
    order: FromQuery[str] = NEWEST,
    whole: FromQuery[bool] = False,
    at: FromQuery[int] = 1,
) -> Response[str]:
    """Give the list of runs: those that the text finds, a page of them."""
    every = app.runs.all()
    matching = chosen(every, text)
    table = run_table(matching, order, whole=whole)
    n_pages = max(1, -(-len(matching) // RUNS_A_PAGE))
    at = min(max(at, 1), n_pages)
    return page(
        request,
        "workbench/runs.html",
        "Runs",
        table=table,
        runs=table.entries[(at - 1) * RUNS_A_PAGE : at * RUNS_A_PAGE],
        found=matching,
        format_setting=format_setting,
        format_means=format_means,
        format_cost=format_cost,
        n_found=len(matching),
        n_runs=len(every),
        folders=[str(folder) for folder in app.runs.folders],
        text=text,
        order=order,
        whole=whole,
        kept=[("text", text), ("order", order), *([("whole", "true")] if whole else [])],
        at=at,
        n_pages=n_pages,
    )


@get("/runs/trends", sync_to_thread=True)
def trends(
    request: AnyRequest,
    app: AtApp,
    text: FromQuery[str] = "",
    metric: FromQuery[str] = "",
    order: FromQuery[str] = "made",
) -> Response[str]:
    """Give the course of a judge's mean over the runs that are ticked, or that the text finds."""
    ticked = set(request.query_params.getall("run", []))
    every = [
        entry
        for entry in chosen(app.runs.all(), text)
        if entry.metrics and (not ticked or entry.id in ticked)
    ]
    matching = [entry for entry in every if not entry.chosen]
    columns = metric_columns(matching)
    column = next((candidate for candidate in columns if candidate.key == f"metric {metric}"), None)
    if metric and not column:
        raise DataError(f"None of these runs was judged by {metric!r}. Choose another judge, or other runs.")
    column = column or next(iter(columns), None)
    judged = [entry for entry in in_order(matching, order) if column and means_of(entry, column)]
    last = judged[-MOST_IN_TREND:]
    steps = run_steps(last, column, app.runs.question_ids) if column else []
    chart = trend_chart(column.head, steps) if column else None
    return page(
        request,
        "workbench/trends.html",
        "Trends",
        drawn=draw([chart] if chart else []),
        chart=render_blocks([chart]) if chart else "",
        rows=list(zip(last, steps, strict=True)),
        column=column,
        columns=columns,
        format_means=format_means,
        ticked=sorted(ticked),
        left_out=[entry for entry in every if entry.chosen],
        text=text,
        order=order,
        n_before=len(judged) - len(last),
        n_without=len(matching) - len(judged),
    )


def run_steps(
    entries: Sequence[RunEntry], column: RunColumn, ids_of: Callable[[RunEntry], frozenset[str] | None]
) -> list[RunStep]:
    """Return runs, in this order, with their means and with what changed from the one before each.

    ids_of: the ids of a run's questions, which are compared where a manifest is missing; None where unknown.
    """
    every = [metric for entry in entries for metric in means_of(entry, column)]
    steps = []
    for before, entry in zip([None, *entries[:-1]], entries, strict=True):
        means = [(who_answered(metric, every) or "mean", metric) for metric in means_of(entry, column)]
        changes, unknown = _changes(before, entry) if before else [], ""
        if before and (before.manifest is None or entry.manifest is None):
            earlier, own = ids_of(before), ids_of(entry)
            unknown = "settings and questions" if earlier is None or own is None else "settings"
            if earlier is not None and own is not None and earlier != own:
                shared = f"{count(len(earlier & own))} of {count(len(earlier | own))}"
                changes.insert(0, f"questions: {shared} are in both")
        steps.append(RunStep(run=entry.name, means=means, changes=changes, unknown=unknown))
    return steps


def _changes(before: RunEntry, entry: RunEntry) -> list[str]:
    """Return what differs: the number of answers, which of itself moves a mean, and the known settings."""
    sizes = [run.counts.get("answers", 0) for run in (before, entry)]
    resized = [f"answers: {count(sizes[0])} → {count(sizes[1])}"] if sizes[0] != sizes[1] else []
    if before.manifest is None or entry.manifest is None:
        return resized
    return resized + [
        f"{row.name}: {one_line(row.a or 'not set', LONGEST_SETTING)} → "
        f"{one_line(row.b or 'not set', LONGEST_SETTING)}"
        for row in differing_settings(before.manifest, entry.manifest)
    ]


ROUTES = (runs, trends)
