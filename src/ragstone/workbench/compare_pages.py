"""The page on which two runs are compared."""

from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import msgspec
from litestar import Response, get
from litestar.exceptions import HTTPException

from ragstone.features.compare.comparing import compare
from ragstone.features.compare.words import comparison_document
from ragstone.kernel.document.blocks import ReportDocument
from ragstone.kernel.document.html import (
    contents_of,
    render_blocks,
)
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.serve.frame import ROOT, page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.state import AppState, AtApp

MOST_FLIPS = 100  # of a kind, on a page
GATE_LABELS = "[gate] labels"


class RunsToCompare(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be compared: two runs by id, and as of `ragstone compare`. labels: a name of label_files."""

    a: str = ""
    b: str = ""
    metric: str = ""
    system_a: str = ""
    system_b: str = ""
    margin: Annotated[str, msgspec.Meta(max_length=20)] = ""
    shared: bool = False
    where: Annotated[str, msgspec.Meta(max_length=2000)] = ""
    labels: str = GATE_LABELS


@get("/compare", sync_to_thread=True)
def compare_page(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the form, and what B is against A where both are chosen."""
    query = query_of(request, RunsToCompare)
    ticked = request.query_params.getall("run", [])  # on the page of runs, which lists the newest first
    if len(ticked) == 2:
        query = msgspec.structs.replace(query, a=query.a or ticked[1], b=query.b or ticked[0])
    html, wrong, listed = None, None, []
    if len(ticked) > 2:
        wrong = f"Two runs can be compared here, and {len(ticked)} are ticked: choose two."
    if query.a and query.b:
        try:
            runs = (f"{ROOT}/runs/{quote(query.a)}", f"{ROOT}/runs/{quote(query.b)}")
            document = _compared(app, query, runs)
            html, listed = render_blocks(document.blocks), contents_of(document.blocks)
        except (RagstoneError, HTTPException) as mistake:
            wrong = mistake.detail if isinstance(mistake, HTTPException) else str(mistake)
    runs_judged = [entry for entry in app.runs.all() if rows_file(entry.folder, "judgements")]
    folders = {entry.id: entry.folder for entry in runs_judged}
    side_a, side_b = (
        app.runs.view(folders[side]).summary.metrics if side in folders else [] for side in (query.a, query.b)
    )
    in_b = {metric.judge for metric in side_b}
    return page(
        request,
        "workbench/compare.html",
        "Compare",
        runs=runs_judged,
        asked=query,
        metrics=list(dict.fromkeys(metric.judge for metric in side_a if metric.judge in in_b)),
        systems={
            name: list(dict.fromkeys(metric.system for metric in side))
            for name, side in (("a", side_a), ("b", side_b))
        },
        listed=listed,
        labels=[*label_files(app)],
        found=html,
        wrong=wrong,
    )


def _compared(app: AppState, query: RunsToCompare, runs: tuple[str, str]) -> ReportDocument:
    """Return the comparison. runs: the addresses of both.

    Raises what compare raises, NotFoundException for a run and HTTPException for labels that are not there.
    """
    files = label_files(app)
    if query.labels and query.labels != GATE_LABELS and query.labels not in files:
        raise HTTPException(f"There are no labels {query.labels!r} here: choose a queue that has some.")
    comparison = compare(
        app.runs.find(query.a),
        app.runs.find(query.b),
        metrics=[query.metric.strip()] if query.metric.strip() else [],
        system_a=query.system_a.strip() or None,
        system_b=query.system_b.strip() or None,
        margin=_share(query.margin),
        shared=query.shared,
        where=query.where.strip() or None,
        seed=app.settings.run.seed,
        labels=files.get("" if query.where and query.labels == GATE_LABELS else query.labels),
    )
    return comparison_document(comparison, runs=runs, most=MOST_FLIPS)


def label_files(app: AppState) -> dict[str, Path]:
    """Return the files of people's labels that a comparison may use: that of [gate], and those of queues."""
    own = app.settings.gate.labels
    queues = app.settings.path(app.settings.workbench.labels)
    files = {GATE_LABELS: app.settings.path(own)} if own else {}
    return files | {path.stem: path for path in sorted(queues.glob("*.jsonl"))}


def _share(text: str) -> float | None:
    """Return the margin. Raises HTTPException for what is not a number."""
    if not text.strip():
        return None
    try:
        return float(text)
    except ValueError:
        raise HTTPException(
            f"The margin {text!r} is not a number: give a share of the scale, such as 0.02."
        ) from None


ROUTES = (compare_page,)
