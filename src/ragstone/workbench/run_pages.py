"""The pages of runs: their list, one with its rows, how far one has come, and two beside each other."""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from litestar import Response, get
from litestar.exceptions import HTTPException, NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.features.bench.finished import kind_of_bench, read_bench
from ragstone.features.compare.comparing import compare
from ragstone.features.compare.values import Comparison
from ragstone.features.compare.words import comparison_document
from ragstone.features.report.bare import bare_run
from ragstone.features.report.page import render_run
from ragstone.features.report.words import made_blocks, number_blocks
from ragstone.kernel.document.html import (
    charts_in,
    draw,
    policy_in,
    render_blocks,
    render_page,
    safe,
    script_json,
)
from ragstone.kernel.document.numbers import count, usd
from ragstone.kernel.document.room import PageRoom, length_in_json
from ragstone.kernel.engine.progress_file import Life, RunProgress, read_progress
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.asked import CALLS_FILE, read_asked
from ragstone.kernel.runs.embedded import CallShown, ColumnView, spelled_out
from ragstone.kernel.runs.joining import OpenedRows, columns_of
from ragstone.kernel.runs.run import Run, read_run
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.runs.wording import STATUS_WORDS, caution
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.workbench.bare_files import shown_place
from ragstone.workbench.desk import AtWorkbench, RunFolder, Workbench
from ragstone.workbench.frame import ROOT, AtPerson, page, query_of
from ragstone.workbench.rows.asking import Lines, RowFilter, RowsHead, columns_in, head_in, lines_in, page_of
from ragstone.workbench.rows.files import rows_file
from ragstone.workbench.rows.opening import conversations, opened_in, text_of
from ragstone.workbench.runs import summary_of_none
from ragstone.workbench.try_pages import offered


@get("/runs/{index:int}/{name:str}", sync_to_thread=True)
def run(
    request: AnyRequest,
    bench: AtWorkbench,
    person: AtPerson,
    folder: RunFolder,
    index: FromPath[int],
    name: FromPath[str],
) -> Response[str]:
    """Give the page of a run: its numbers at once; its script asks for the rows."""
    how_far = progressed(read_progress(folder), bench.now())
    view = bench.runs.view(folder)
    values: dict[str, Any] = {}
    if view.run:
        summary, numbers = view.run.summary, number_blocks(view.run.summary, view.run)
        values = {
            "summary": summary,
            "numbers": render_blocks(numbers),
            # Judgements that no command has summarised do not tell what was asked for them.
            "made": render_blocks(made_blocks(summary, view.run))
            if (folder / "summary.json").is_file()
            else "",
            "drawn": draw(charts_in(numbers)),
            "cautions": any(caution(metric, summary) for metric in summary.metrics),
            "n_unmeasured": _n_unmeasured(summary),
        }
    return page(
        request,
        "run.html",
        name,
        **{"numbers": "", **values},
        run_id=f"{index}/{name}",
        kind=kind_of_bench({file.name for file in folder.iterdir()}),
        how_far=how_far,
        wrong=view.wrong,
        has_rows=any(rows_file(folder, kind) for kind in ("questions", "answers", "judgements")),
        may_draw=person.may("owner") and all(rows_file(folder, kind) for kind in ("answers", "judgements")),
        tries=next(iter(offered(bench, folder)), None) if person.may("owner") else None,
        has_calls=(folder / CALLS_FILE).is_file(),
        folder=shown_place(folder),
        is_packed=False,
        paged=True,
        status_words=safe(script_json(STATUS_WORDS).decode()),
    )


def _n_unmeasured(summary: RunSummary) -> int:
    """Return how many judges that asked a model have no report card."""
    measured = {(card.judge, card.model) for card in summary.cards}
    asked = {(metric.judge, metric.model) for metric in summary.metrics if metric.model != NO_MODEL}
    return len(asked - measured)


@get("/runs/{index:int}/{name:str}/head", sync_to_thread=True)
def head(bench: AtWorkbench, folder: RunFolder) -> RowsHead:
    """Give the judges of a run, and what its menus offer."""
    with bench.indexes.of(folder) as con:
        return head_in(con, told_columns(bench, folder))


@get("/runs/{index:int}/{name:str}/rows", sync_to_thread=True)
def rows(request: AnyRequest, bench: AtWorkbench, folder: RunFolder) -> Lines:
    """Give a page of the questions of a run: those that the address asks for, see Filter."""
    columns, chosen = told_columns(bench, folder), query_of(request, RowFilter)
    with bench.indexes.of(folder) as con:
        return PageRoom(length_in_json).fitted(lines_in(con, chosen, columns_in(con, columns)))


@get("/runs/{index:int}/{name:str}/place", sync_to_thread=True)
def place(bench: AtWorkbench, folder: RunFolder, question: FromQuery[str]) -> dict[str, int]:
    """Give the page on which a question stands."""
    with bench.indexes.of(folder) as con:
        at = page_of(con, question)
    if at is None:
        raise _no_question(question)
    return {"page": at}


@get("/runs/{index:int}/{name:str}/question", sync_to_thread=True)
def question(bench: AtWorkbench, folder: RunFolder, question: FromQuery[str]) -> OpenedRows:
    """Give a question with its answers, judgements, contexts and rankings."""
    shown = bench.runs.view(folder).run
    with bench.indexes.of(folder) as con:
        columns = columns_in(con, columns_of(shown.summary) if shown else [])
        summary = shown.summary if shown else summary_of_none(folder)
        opened = opened_in(con, question, columns, summary, shown.causes if shown else {})
    if opened is None:
        raise _no_question(question)
    room = PageRoom(length_in_json)
    return msgspec.structs.replace(room.fitted(opened), is_cut=room.is_cut or None)


@get("/runs/{index:int}/{name:str}/question.txt", sync_to_thread=True)
def question_text(bench: AtWorkbench, folder: RunFolder, question: FromQuery[str]) -> Response[bytes]:
    """Give the rows of a question as they are in the files of the run."""
    with bench.indexes.of(folder) as con:
        text = text_of(con, question)
    if text is None:
        raise _no_question(question)
    return Response(text, media_type="text/plain", headers={"Cache-Control": "no-store"})


class CallsShown(msgspec.Struct, frozen=True):
    """Conversations with models: the texts that messages number, and the conversations."""

    shared: list[str]
    calls: list[CallShown]


@get("/runs/{index:int}/{name:str}/calls", sync_to_thread=True)
def calls(bench: AtWorkbench, folder: RunFolder, question: FromQuery[str]) -> CallsShown:
    """Give what was asked of models for a question, word for word."""
    told = CallsShown(*spelled_out(conversations(folder, question, bench.indexes.folder_of(folder))))
    return PageRoom(length_in_json).fitted(told)


@get("/runs/{index:int}/{name:str}/report.html", sync_to_thread=True)
def report(folder: RunFolder) -> Response[str]:
    """Give the report as one file, which opens anywhere; made from the files as they are now."""
    kind = kind_of_bench({file.name for file in folder.iterdir()})
    judgements = rows_file(folder, "judgements")
    if kind:
        html = render_page(read_bench(folder, kind))
    elif judgements and not (folder / "summary.json").is_file():
        html = render_run(bare_run(judgements, rows_file(folder, "answers")))
    else:
        html = render_run(read_run(folder), read_asked(folder))
    headers = {"Content-Security-Policy": policy_in(html), "Cache-Control": "no-store"}
    return Response(html, media_type="text/html", headers=headers)


def told_columns(bench: Workbench, folder: Path) -> list[ColumnView]:
    """Return the judges of a run as its summary tells of them; none where there is no summary."""
    shown: Run | None = bench.runs.view(folder).run
    return columns_of(shown.summary) if shown else []


def _no_question(name: str) -> NotFoundException:
    return NotFoundException(f"There is no question {name!r} in this run, or the run has been made again.")


AGAIN = "Run the same command again to go on: no call in the ledger is paid for twice."


class Progressed(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. life: None where it is finished. share: of the stage, 0 to 1, None if unknown."""

    life: Life | None
    words: str
    share: float | None = None


def progressed(found: RunProgress | None, now: float) -> Progressed:
    """Return the progress of a run in words. found: None of one that is finished. now: seconds since 1970."""
    if found is None:
        return Progressed(life=None, words="The run is finished.")
    share = found.done / found.total if found.total else None
    life = found.life(now)
    match life:
        case "going on":
            words = _going(found)
        case "stopped":
            words = f"It was stopped while {found.stage}, {_rows(found)}. {AGAIN}"
        case "failed":
            why = found.words or "no reason was given."
            words = f"It failed while {found.stage}, {_rows(found)}: {why} {AGAIN}"
        case "dead":
            words = f"Its process ended without an error message while {found.stage}, {_rows(found)}. {AGAIN}"
    return Progressed(life=life, words=words, share=share)


def _rows(found: RunProgress) -> str:
    return f"{count(found.done)} of {count(found.total)} done" if found.total else f"{count(found.done)} done"


def _going(found: RunProgress) -> str:
    rate, left = found.rate(), found.remaining_s()
    speed = [f"{rate:.1f} a second" if rate < 10 else f"{rate:,.0f} a second"] if rate else []
    speed += [f"about {lasting(left)} left"] if left is not None else []
    spent = "cost unknown" if found.spent_usd is None else usd(found.spent_usd)
    retries = f", {count(found.retries)} of them retries" if found.retries else ""
    calls = f"{count(found.made)} calls made{retries}, {count(found.in_flight)} in flight, {spent}"
    stage = found.stage[:1].upper() + found.stage[1:]
    began = f"Began {lasting(found.updated - found.started)} ago"
    return f"{stage}: {', '.join([_rows(found), *speed])}. {calls}. {began}."


def lasting(seconds: float) -> str:
    """Return a time as `40 seconds`, `12 minutes`, `3.5 hours`."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} second{'' if round(seconds) == 1 else 's'}"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@get("/runs/{index:int}/{name:str}/progress", sync_to_thread=True)
def progress(bench: AtWorkbench, folder: RunFolder) -> Progressed:
    """Give how far a run is."""
    return progressed(read_progress(folder), bench.now())


MOST_FLIPS = 100  # of a kind, on a page


class RunsToCompare(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be compared: two runs by id, and as of `ragstone compare`."""

    a: str = ""
    b: str = ""
    metric: str = ""
    system_a: str = ""
    system_b: str = ""
    margin: Annotated[str, msgspec.Meta(max_length=20)] = ""
    shared: bool = False


@get("/compare", sync_to_thread=True)
def compare_page(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the form, and what B is against A where both are chosen."""
    asked = query_of(request, RunsToCompare)
    ticked = request.query_params.getall("run", [])  # on the page of runs, which lists the newest first
    if len(ticked) == 2:
        asked = msgspec.structs.replace(asked, a=asked.a or ticked[1], b=asked.b or ticked[0])
    found, wrong = None, None
    if len(ticked) > 2:
        wrong = f"Two runs can be compared here, and {len(ticked)} are ticked: choose two."
    if asked.a and asked.b:
        try:
            runs = (f"{ROOT}/runs/{quote(asked.a)}", f"{ROOT}/runs/{quote(asked.b)}")
            document = comparison_document(compared(bench, asked), runs=runs, most=MOST_FLIPS)
            found = render_blocks(document.blocks)
        except (RagstoneError, HTTPException) as mistake:
            wrong = mistake.detail if isinstance(mistake, HTTPException) else str(mistake)
    return page(
        request,
        "compare.html",
        "Compare",
        runs=[entry for entry in bench.runs.all() if rows_file(entry.folder, "judgements")],
        asked=asked,
        found=found,
        wrong=wrong,
    )


def compared(bench: Workbench, asked: RunsToCompare) -> Comparison:
    """Return the comparison. Raises what compare raises, NotFoundException for a run that is not there."""
    return compare(
        bench.runs.find(asked.a),
        bench.runs.find(asked.b),
        metrics=[asked.metric.strip()] if asked.metric.strip() else [],
        system_a=asked.system_a.strip() or None,
        system_b=asked.system_b.strip() or None,
        margin=_share(asked.margin),
        shared=asked.shared,
        seed=bench.settings.run.seed,
    )


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


ROUTES = (run, head, rows, place, question, question_text, calls, report, progress, compare_page)
