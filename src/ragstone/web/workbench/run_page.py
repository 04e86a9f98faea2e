"""The page of a run: what the report shows, from the same templates, and its rows a page at a time."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery, QueryParameter

from ragstone.engine.progress_file import read_progress
from ragstone.report.asked import CALLS_FILE, read_asked
from ragstone.report.benches.answerers import answer_bench_document, read_answer_bench
from ragstone.report.benches.judges import judge_bench_document, read_judge_bench
from ragstone.report.benches.languages import read_study, study_document
from ragstone.report.benches.retrievers import bench_document, read_leaderboard
from ragstone.report.charts import draw
from ragstone.report.document import Document
from ragstone.report.embedded import CallShown, Column, spelled_out
from ragstone.report.joining import Opened, columns_of, script_json
from ragstone.report.page import charts_of, render_run, values_of
from ragstone.report.render.html import policy_in, render_page, safe
from ragstone.report.run import Run, read_run
from ragstone.report.wording import STATUS_WORDS
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.live import progressed
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.rows.asking import Filter, Lines, columns_in, lines_in, menus_in, page_of
from ragstone.web.workbench.rows.conversations import conversations
from ragstone.web.workbench.rows.files import rows_file
from ragstone.web.workbench.rows.opening import opened_in
from ragstone.web.workbench.run_view import summary_of_none, view_of
from ragstone.web.workbench.runs import find_run, kind_of_bench

BENCHES: dict[str, Callable[[Path], Document]] = {
    "bench of retrievers": lambda folder: bench_document(read_leaderboard(folder)),
    "bench of answerers": lambda folder: answer_bench_document(read_answer_bench(folder)),
    "bench of judges": lambda folder: judge_bench_document(read_judge_bench(folder)),
    "study of languages": lambda folder: study_document(read_study(folder)),
}


@get("/runs/{index:int}/{name:str}", include_in_schema=False, sync_to_thread=True)
def run(request: AnyRequest, bench: AtWorkbench, index: FromPath[int], name: FromPath[str]) -> Response[str]:
    """Give the page of a run: its numbers at once; its script asks for the rows."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    how_far = progressed(read_progress(folder), bench.now())
    view = view_of(bench, folder)
    values: dict[str, Any] = {}
    if view.run:
        charts = charts_of(view.run.summary)
        values = {**values_of(view.run, charts), "drawn": draw(charts.every())}
    return page(
        request,
        "run.html",
        name,
        **values,
        run_id=f"{index}/{name}",
        kind=kind_of_bench({file.name for file in folder.iterdir()}),
        how_far=how_far,
        wrong=view.wrong,
        numbers=view.run is not None,
        has_rows=any(rows_file(folder, kind) for kind in ("questions", "answers", "judgements")),
        has_calls=(folder / CALLS_FILE).is_file(),
        folder=str(folder),
        cut_note="",
        block_type="application/json",
        paged=True,
        status_words=safe(script_json(STATUS_WORDS).decode()),
    )


class Head(msgspec.Struct, frozen=True, kw_only=True):
    """What the list of a run's questions needs once."""

    columns: list[Column]
    groups: list[tuple[str, str, int]]
    n_groups: int
    causes: list[tuple[str, int]]


@get("/runs/{index:int}/{name:str}/head", include_in_schema=False, sync_to_thread=True)
def head(request: AnyRequest, bench: AtWorkbench, index: FromPath[int], name: FromPath[str]) -> Head:
    """Give the judges of a run, and what its menus offer."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    columns = told_columns(bench, folder)
    with bench.indexes.of(folder) as con:
        menus = menus_in(con)
        return Head(
            columns=columns_in(con, columns),
            groups=menus.groups,
            n_groups=menus.n_groups,
            causes=menus.causes,
        )


@get("/runs/{index:int}/{name:str}/rows", include_in_schema=False, sync_to_thread=True)
def rows(
    request: AnyRequest,
    bench: AtWorkbench,
    index: FromPath[int],
    name: FromPath[str],
    *,
    judge: FromQuery[int | None] = None,
    result: FromQuery[str] = "any",
    found: FromQuery[str] = "any",
    tag: FromQuery[str] = "",
    value: FromQuery[str] = "",
    cause: FromQuery[str] = "any",
    text: FromQuery[str] = "",
    low: FromQuery[float | None] = None,
    high: FromQuery[float | None] = None,
    order: FromQuery[Literal["file", "lowest", "highest", "rank"]] = "file",
    at: Annotated[int, QueryParameter(ge=0, le=10_000_000)] = 0,
) -> Lines:
    """Give a page of the questions of a run."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    columns = told_columns(bench, folder)
    chosen = Filter(
        judge=judge,
        result=result,
        found=found,
        tag=tag,
        value=value,
        cause=cause,
        text=text,
        low=low,
        high=high,
        order=order,
        page=at,
    )
    with bench.indexes.of(folder) as con:
        return lines_in(con, chosen, columns_in(con, columns))


class Found(msgspec.Struct, frozen=True):
    """The page of a question, from 0, in the order of the file."""

    page: int


@get("/runs/{index:int}/{name:str}/place", include_in_schema=False, sync_to_thread=True)
def place(
    request: AnyRequest,
    bench: AtWorkbench,
    index: FromPath[int],
    name: FromPath[str],
    question: FromQuery[str],
) -> Found:
    """Give the page on which a question stands."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    with bench.indexes.of(folder) as con:
        at = page_of(con, question)
    if at is None:
        raise _no_question(question)
    return Found(at)


@get("/runs/{index:int}/{name:str}/question", include_in_schema=False, sync_to_thread=True)
def question(
    request: AnyRequest,
    bench: AtWorkbench,
    index: FromPath[int],
    name: FromPath[str],
    question: FromQuery[str],
) -> Opened:
    """Give a question with its answers, judgements, contexts and rankings."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    shown = view_of(bench, folder).run
    with bench.indexes.of(folder) as con:
        columns = columns_in(con, columns_of(shown.summary) if shown else [])
        summary = shown.summary if shown else summary_of_none(folder)
        opened = opened_in(con, question, columns, summary, shown.causes if shown else {})
    if opened is None:
        raise _no_question(question)
    return opened


class Calls(msgspec.Struct, frozen=True):
    """Conversations with models: the texts that messages number, and the conversations."""

    shared: list[str]
    calls: list[CallShown]


@get("/runs/{index:int}/{name:str}/calls", include_in_schema=False, sync_to_thread=True)
def calls(
    request: AnyRequest,
    bench: AtWorkbench,
    index: FromPath[int],
    name: FromPath[str],
    question: FromQuery[str],
) -> Calls:
    """Give what was asked of models for a question, word for word."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    return Calls(*spelled_out(conversations(folder, question, bench.indexes.folder_of(folder))))


@get("/runs/{index:int}/{name:str}/report.html", include_in_schema=False, sync_to_thread=True)
def report(
    request: AnyRequest, bench: AtWorkbench, index: FromPath[int], name: FromPath[str]
) -> Response[str]:
    """Give the report as one file, which opens anywhere; made from the files as they are now."""
    person_of(request)
    folder = find_run(bench, f"{index}/{name}")
    kind = kind_of_bench({file.name for file in folder.iterdir()})
    html = render_page(BENCHES[kind](folder)) if kind else render_run(read_run(folder), read_asked(folder))
    headers = {"Content-Security-Policy": policy_in(html), "Cache-Control": "no-store"}
    return Response(html, media_type="text/html", headers=headers)


def told_columns(bench: Workbench, folder: Path) -> list[Column]:
    """Return the judges of a run as its summary tells of them; none where there is no summary."""
    shown: Run | None = view_of(bench, folder).run
    return columns_of(shown.summary) if shown else []


def _no_question(name: str) -> NotFoundException:
    return NotFoundException(f"There is no question {name!r} in this run, or it has been made anew since.")


ROUTES = (run, head, rows, place, question, calls, report)
