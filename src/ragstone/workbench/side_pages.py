"""The page of several runs side by side: every answer to a question, and what the judges said of it."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get

from ragstone.kernel.document.numbers import interval
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.wording import mean_text
from ragstone.kernel.serve.frame import AtPerson, page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.workbench.run_pages import summarised_columns
from ragstone.workbench.side_by_side import MOST_COLUMNS, SideColumn, SideFilter, metrics_of, side_page

MOST_RUNS = 8  # whose indexes are open at once


class ColumnHead(msgspec.Struct, frozen=True, kw_only=True):
    """What stands over a column. mean, ends: of the judge's scores there, as the run's summary has them."""

    column: SideColumn
    run_id: str
    mean: str
    ends: str


@get("/compare/answers", sync_to_thread=True)
def side_by_side(request: AnyRequest, app: AtApp, person: AtPerson) -> Response[str]:
    """Give the runs that can be chosen, and a page of the answers of those that are."""
    chosen = query_of(request, SideFilter)
    runs = list(dict.fromkeys(request.query_params.getall("run", [])))
    values: dict[str, Any] = {"found": None, "wrong": None}
    fields = {"metric": chosen.metric, "text": chosen.text, "system": chosen.system}
    fields["flips"] = "true" if chosen.flips else ""
    try:
        if runs:
            values |= _side_by_side(app, runs, chosen)
    except DataError as mistake:
        values["wrong"] = str(mistake)
    return page(
        request,
        "workbench/side_by_side.html",
        "Answers side by side",
        **values,
        entries=[entry for entry in app.runs.all() if rows_file(entry.folder, "judgements")],
        runs=runs,
        asked=chosen,
        kept=[*(("run", run) for run in runs), *((name, value) for name, value in fields.items() if value)],
        may_draw=person.may("owner"),
        most=MOST_COLUMNS,
    )


def _side_by_side(app: AppState, runs: list[str], chosen: SideFilter) -> dict[str, Any]:
    """Return the page of rows, the heads of its columns, and the metrics to choose from. Raises DataError."""
    if len(runs) > MOST_RUNS:
        raise DataError(
            f"{len(runs)} runs are chosen, but at most {MOST_RUNS} fit side by side: remove some."
        )
    folders = [app.runs.find(run) for run in runs]
    with ExitStack() as stack:
        indexes = [stack.enter_context(app.indexes.of(folder)) for folder in folders]
        judges = [
            index.columns(summarised_columns(app, folder))
            for index, folder in zip(indexes, folders, strict=True)
        ]
        side = side_page(indexes, judges, chosen)
    metrics = metrics_of(judges)
    judge, _, metric = chosen.metric.rpartition("|")
    name = (judge, metric) if chosen.metric else (metrics or [("", "")])[0]
    return {
        "found": side,
        "heads": [_head(app, runs, folders, column, name) for column in side.columns],
        "metrics": metrics,
        "chosen_metric": name,
        "same_models": len({column.model for column in side.columns if column.model}) < 2,
    }


def _head(
    app: AppState, runs: list[str], folders: list[Path], column: SideColumn, metric: tuple[str, str]
) -> ColumnHead:
    key = (column.system, *metric, column.model)
    means = (
        mean
        for mean in app.runs.view(folders[column.run]).summary.metrics
        if (mean.system, mean.judge, mean.metric, mean.model) == key
        and mean.repeats is msgspec.UNSET  # a column is of one repeat, and the mean of them all
    )
    metric_summary = next(means, None)
    estimate = metric_summary.estimate if metric_summary else None
    return ColumnHead(
        column=column,
        run_id=runs[column.run],
        mean=mean_text(metric_summary, "") if metric_summary else "",
        ends=interval(estimate) if estimate else "",
    )


ROUTES = (side_by_side,)
