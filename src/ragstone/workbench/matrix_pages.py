"""The matrix of runs: the means of one judge by two of the settings that differ, prompts by models first."""

from collections.abc import Sequence
from urllib.parse import quote

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from ragstone.features.bench.answerers.words import read_answer_bench
from ragstone.features.compare.matrix import MatrixPoint, axes_of, lay_out, matrix_blocks, point_of
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.document.numbers import usd
from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.frame import ROOT, page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.runs import RunEntry
from ragstone.kernel.serve.state import AtApp, RunFolder, run_folder
from ragstone.kernel.tables.where import value_in_filter
from ragstone.workbench.bare_files import link_cell, links_in
from ragstone.workbench.run_list_pages import chosen
from ragstone.workbench.run_table import RunColumn, format_cost, means_of, metric_columns

BENCH_OF_ANSWERERS = "bench of answerers"


@get("/runs/matrix", sync_to_thread=True)
def matrix(
    request: AnyRequest,
    app: AtApp,
    text: FromQuery[str] = "",
    metric: FromQuery[str] = "",
    down: FromQuery[str] = "",
    across: FromQuery[str] = "",
) -> Response[str]:
    """Give the means of one judge over the runs that are ticked or found, or of one bench of answerers."""
    ticked = request.query_params.getall("run", [])
    every = app.runs.all()
    bench = next((entry for entry in every if entry.id in ticked and entry.kind == BENCH_OF_ANSWERERS), None)
    if bench and len(ticked) > 1:
        raise DataError(f"{bench.name} is a bench and has its own matrix: tick it alone, or tick only runs.")
    columns: list[RunColumn] = []
    column: RunColumn | None = None
    points: list[MatrixPoint]
    left_out: list[RunEntry] = []
    if bench:
        points, judge = _of_bench(bench)
    else:
        judged = [entry for entry in every if entry.metrics and (not ticked or entry.id in ticked)]
        every_matching = chosen(judged, text)
        matching = [entry for entry in every_matching if not entry.chosen]
        left_out = [entry for entry in every_matching if entry.chosen]
        columns = metric_columns(matching)
        column = next((each for each in columns if each.key == f"metric {metric}"), None)
        if metric and not column:
            raise DataError(
                f"None of these runs was judged by {metric!r}. Choose another judge, or other runs."
            )
        column = column or next(iter(columns), None)
        points, judge = _of_runs(matching, column), column.head if column else ""
    offered = axes_of(points)
    axes = [axis for axis in dict.fromkeys((down, across)) if axis in offered]
    laid_out = lay_out(points, axes)
    return page(
        request,
        "workbench/matrix.html",
        "Matrix",
        columns=columns,
        column=column,
        bench=bench,
        judge=judge,
        matrix=laid_out,
        html=render_blocks(matrix_blocks(laid_out, judge)) if laid_out else "",
        offered=[*offered.items()],
        n_means=len(points),
        ticked=ticked,
        left_out=left_out,
        text=text,
    )


def _of_bench(bench: RunEntry) -> tuple[list[MatrixPoint], str]:
    """Return the score of each cell of a bench of answerers, in order, and the judge that gave it."""
    board = read_answer_bench(bench.folder).board
    points = [
        MatrixPoint(
            name=row.cell.name,
            of={
                "condition": row.cell.condition,
                "[answer] model": row.cell.model or row.cell.name,
                "[answer] prompt": row.cell.prompt or "its own",
                **({} if row.cell.temperature is None else {"temperature": f"{row.cell.temperature:g}"}),
            },
            estimate=row.score.mean if row.score else None,
            n_scored=row.score.n if row.score else 0,
            n_rows=row.n_questions,
            scale=board.scale,
            cost="" if row.spent.usd_each is None else f"{usd(1000 * row.spent.usd_each)} per 1,000",
            target=f"{ROOT}/runs/{quote(bench.id)}/cells/{number}",
        )
        for number, row in enumerate(board.standings, 1)
    ]
    return points, board.measure


def _of_runs(entries: Sequence[RunEntry], column: RunColumn | None) -> list[MatrixPoint]:
    points = []
    for entry in entries:
        means = means_of(entry, column) if column else []
        judges = entry.manifest.judges if entry.manifest else {}
        known = entry.calls and entry.calls.cost_usd and len(means) == 1
        cost = f"{format_cost(entry)} in total" if known else ""
        for mean in means:
            # Of the rows of a run with several systems, those of this one.
            query = f"?where={quote(f'system = {value_in_filter(mean.system)}')}" if len(means) > 1 else ""
            target = f"{ROOT}/runs/{quote(entry.id)}{query}#questions"
            points.append(point_of(entry.name, mean, entry.settings, judges, cost=cost, target=target))
    return points


@get("/runs/{index:int}/{name:str}/cells/{number:int}", sync_to_thread=True)
def cell(app: AtApp, folder: RunFolder, number: FromPath[int]) -> Redirect:
    """Lead to the rows of a cell of a bench of answerers; cells are counted from 1, the best first."""
    standings = read_answer_bench(folder).board.standings
    if not 1 <= number <= len(standings):
        raise NotFoundException(
            f"This bench has no cell {number}: it was run again, or the address is wrong."
        )
    links = link_cell(app.settings, folder, standings[number - 1].file)
    index = app.runs.folders.index(links_in(app.settings))
    return Redirect(f"{ROOT}/runs/{index}/{quote(links)}#questions")


ROUTES = (matrix, cell)
GIVEN = {"folder": run_folder}
