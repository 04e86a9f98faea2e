"""The page of a run: its numbers, its rows as its script asks for them, and how far it has come."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.features.bench.finished import finished_bench, kind_of_bench
from ragstone.features.improve.trial.pages import offered
from ragstone.features.report.bare import folder_html
from ragstone.features.report.words import made_blocks, number_blocks
from ragstone.kernel.document.blocks import RowList
from ragstone.kernel.document.html import (
    contents_of,
    render_blocks,
    render_page,
)
from ragstone.kernel.document.numbers import count, usd
from ragstone.kernel.document.room import PageRoom, length_in_json
from ragstone.kernel.engine.progress_file import Life, RunProgress, read_progress
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import NO_MODEL, STATUS_WORDS
from ragstone.kernel.runs.asked import CALLS_FILE
from ragstone.kernel.runs.embedded import CallsShown, ColumnView, LineView
from ragstone.kernel.runs.joining import OpenedRows, columns_of
from ragstone.kernel.runs.modes import MODES_FILE
from ragstone.kernel.runs.notes import read_notes
from ragstone.kernel.runs.wording import caution
from ragstone.kernel.serve.frame import AtPerson, lone_page, page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.asking import (
    Lines,
    RowFilter,
    RowsHead,
)
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.rows.indexes import Making
from ragstone.kernel.serve.state import AppState, AtApp, RunFolder, run_folder
from ragstone.workbench.bare_files import rows_location
from ragstone.workbench.opened_rows import conversations, opened_in, text_of
from ragstone.workbench.reports import reports_of

BROWSER_WORDS = (
    (
        re.compile(r"Label some of the answers and run: ragstone agree .*", re.DOTALL),
        "Label some of the answers: “Label answers” above begins.",
    ),
    (re.compile(r"--judge ([\w-]+)"), r"\1"),
    (re.compile(r"^The labels of \[agree\] sheet belong"), "The labels that the settings name belong"),
    (
        re.compile(
            r"Labels of this run's own answers would: choose some with `ragstone label`, and name them as "
            r"`labels` in \[agree\]\."
        ),
        "Labels of this run's own answers would: “Label answers” above chooses some.",
    ),
)


def browser_notes(notes: Sequence[str], *, may_label: bool) -> list[str]:
    """Return the notes for a page. may_label: whether it has the button that begins to label."""
    chosen = BROWSER_WORDS if may_label else ()
    texts = []
    for note in notes:
        text = note
        for pattern, in_browser in chosen:
            text = pattern.sub(in_browser, text)
        texts.append(text)
    return texts


@get("/runs/{index:int}/{name:str}", sync_to_thread=True)
def run(
    request: AnyRequest,
    app: AtApp,
    person: AtPerson,
    folder: RunFolder,
    index: FromPath[int],
    name: FromPath[str],
) -> Response[str]:
    """Give the page of a run: its numbers at once; its script asks for the rows."""
    how_far = progressed(read_progress(folder), app.now())
    view = app.runs.view(folder)
    kind = kind_of_bench({file.name for file in folder.iterdir()})
    has_rows = any(rows_file(folder, rows) for rows in ("questions", "answers", "judgements"))
    may_draw = person.may("owner") and all(rows_file(folder, rows) for rows in ("answers", "judgements"))
    values: dict[str, Any] = {}
    wrong = view.wrong
    if kind:
        try:
            blocks = finished_bench(folder, kind).blocks
        except RagstoneError as mistake:
            blocks, wrong = [], str(mistake)
        values = {"numbers": render_blocks(blocks), "listed": contents_of(blocks)}
    elif view.run:
        summary = view.run.summary
        notes = browser_notes(summary.notes, may_label=may_draw)
        numbers = number_blocks(msgspec.structs.replace(summary, notes=notes), view.run)
        made = made_blocks(summary, view.run)
        rows = [RowList(template="run_questions.html", heading="Every question")] if has_rows else []
        by_model = {(metric.judge, metric.model) for metric in summary.metrics if metric.model != NO_MODEL}
        values = {
            "summary": summary,
            "numbers": render_blocks(numbers),
            # Judgements that no command has summarised do not tell what was asked for them.
            "made": render_blocks(made) if (folder / "summary.json").is_file() else "",
            "listed": contents_of([*numbers, *rows, *made]),
            "cautions": any(caution(metric, summary) for metric in summary.metrics),
            "n_unmeasured": len(by_model - {(card.judge, card.model) for card in summary.cards}),
        }
    return page(
        request,
        "workbench/run.html",
        name,
        **{"numbers": "", "made": "", "listed": [], "cautions": False, "n_unmeasured": 0, **values},
        run_id=f"{index}/{name}",
        kind=kind,
        how_far=how_far,
        wrong=wrong,
        has_rows=has_rows,
        may_draw=may_draw,
        may_note=person.may("annotator"),
        tries=next(iter(offered(app, folder)), None) if person.may("owner") else None,
        has_calls=(folder / CALLS_FILE).is_file(),
        has_modes=(folder / MODES_FILE).is_file(),
        folder=rows_location(folder),
        is_packed=False,
        paged=True,
        status_words=STATUS_WORDS,
    )


class FirstRows(msgspec.Struct, frozen=True, kw_only=True):
    """The first rows of a run whose index is being made. making: None once it is there.

    lines: in the order of the file, with the judgements that are near the start of theirs; more may follow.
    """

    making: Making | None = None
    columns: list[ColumnView] = []
    lines: list[LineView] = []


class AskedFirst(msgspec.Struct, frozen=True):
    """Whether the first rows are there already, and only how far the index is is asked for."""

    shown: bool = False


@get("/runs/{index:int}/{name:str}/first", sync_to_thread=True)
def first(request: AnyRequest, app: AtApp, folder: RunFolder) -> FirstRows:
    """Give what can be shown of a run before its index is made, and how far that is."""
    making = app.indexes.making(folder)
    if making is None or query_of(request, AskedFirst).shown:
        return FirstRows(making=making)
    with app.indexes.first_rows(folder) as index:
        columns = index.columns(summarised_columns(app, folder))
        lines = index.lines(RowFilter(), columns).lines
    # The documents that were found, and the causes, take whole files.
    lines = [msgspec.structs.replace(line, found=None, causes=None) for line in lines]
    return PageRoom(length_in_json).fitted(FirstRows(making=making, columns=columns, lines=lines))


@get("/runs/{index:int}/{name:str}/head", sync_to_thread=True)
def head(app: AtApp, folder: RunFolder) -> RowsHead:
    """Give the judges of a run, and what its menus offer."""
    with app.indexes.of(folder, read_notes(folder)) as index:
        return index.head(summarised_columns(app, folder))


@get("/runs/{index:int}/{name:str}/rows", sync_to_thread=True)
def rows(request: AnyRequest, app: AtApp, folder: RunFolder) -> Lines:
    """Give a page of the questions of a run: those that the address asks for, see Filter."""
    columns, chosen = summarised_columns(app, folder), query_of(request, RowFilter)
    notes = read_notes(folder) if chosen.where else []
    with app.indexes.of(folder, notes) as index:
        return PageRoom(length_in_json).fitted(index.lines(chosen, index.columns(columns)))


@get("/runs/{index:int}/{name:str}/place", sync_to_thread=True)
def place(app: AtApp, folder: RunFolder, question: FromQuery[str]) -> dict[str, int]:
    """Give the page on which a question stands."""
    with app.indexes.of(folder) as index:
        at = index.page_of(question)
    if at is None:
        raise _no_question(question)
    return {"page": at}


@get("/runs/{index:int}/{name:str}/question", sync_to_thread=True)
def question(app: AtApp, folder: RunFolder, question: FromQuery[str]) -> OpenedRows:
    """Give a question with its answers, judgements, contexts and rankings."""
    view = app.runs.view(folder)
    with app.indexes.of(folder) as index:
        columns = index.columns(columns_of(view.summary))
        opened = opened_in(index, question, columns, view.summary, view.causes)
    if opened is None:
        raise _no_question(question)
    room = PageRoom(length_in_json)
    return msgspec.structs.replace(room.fitted(opened), is_cut=room.is_cut or None)


@get("/runs/{index:int}/{name:str}/question.txt", sync_to_thread=True)
def question_text(app: AtApp, folder: RunFolder, question: FromQuery[str]) -> Response[bytes]:
    """Give the rows of a question as they are in the files of the run."""
    with app.indexes.of(folder) as index:
        text = text_of(index, question)
    if text is None:
        raise _no_question(question)
    return Response(text, media_type="text/plain", headers={"Cache-Control": "no-store"})


@get("/runs/{index:int}/{name:str}/calls", sync_to_thread=True)
def calls(app: AtApp, folder: RunFolder, question: FromQuery[str]) -> CallsShown:
    """Give what was asked of models for a question, word for word."""
    spelled = CallsShown.spelled_out(conversations(folder, question, app.indexes.folder_of(folder)))
    return PageRoom(length_in_json).fitted(spelled)


@get("/runs/{index:int}/{name:str}/report.html", sync_to_thread=True)
def report(app: AtApp, folder: RunFolder) -> Response[str]:
    """Give the report as one file, which opens anywhere; made from the files as they are now."""
    html = app.part(reports_of).html_of(folder, _report_html)
    return lone_page(html)


def _report_html(folder: Path) -> str:
    kind = kind_of_bench({file.name for file in folder.iterdir()})
    if kind:
        return render_page(finished_bench(folder, kind))
    return folder_html(folder, rows_file(folder, "judgements"), rows_file(folder, "answers"))


def summarised_columns(app: AppState, folder: Path) -> list[ColumnView]:
    """Return the judges of a run as its summary tells of them; none where there is no summary."""
    return columns_of(app.runs.view(folder).summary)


def _no_question(name: str) -> NotFoundException:
    return NotFoundException(f"There is no question {name!r} in this run, or the run was repeated.")


AGAIN = "Run the same command again to continue: no call in the ledger is paid for twice."


class Progressed(msgspec.Struct, frozen=True, kw_only=True):
    """How far a run is. life: None where it is finished. share: of the stage, 0 to 1, None if unknown."""

    life: Life | None
    words: str
    share: float | None = None


def progressed(progress: RunProgress | None, now: float) -> Progressed:
    """Return the progress of a run in words. found: None of one that is finished. now: seconds since 1970."""
    if progress is None:
        return Progressed(life=None, words="The run is finished.")
    share = progress.done / progress.total if progress.total else None
    life = progress.life(now)
    match life:
        case "going on":
            text = _going(progress)
        case "stopped":
            text = f"It was stopped while {progress.stage}, {_rows(progress)}. {AGAIN}"
        case "failed":
            why = progress.words or "no reason was given."
            text = f"It failed while {progress.stage}, {_rows(progress)}: {why} {AGAIN}"
        case "dead":
            how_far = f"{progress.stage}, {_rows(progress)}"
            text = f"Its process ended without an error message while {how_far}. {AGAIN}"
    return Progressed(life=life, words=text, share=share)


def _rows(progress: RunProgress) -> str:
    return (
        f"{count(progress.done)} of {count(progress.total)} done"
        if progress.total
        else f"{count(progress.done)} done"
    )


def _going(progress: RunProgress) -> str:
    rate, left = progress.rate(), progress.remaining_s()
    speed = [f"{rate:.1f} per second" if rate < 10 else f"{rate:,.0f} per second"] if rate else []
    speed += [f"about {lasting(left)} left"] if left is not None else []
    spent = "cost unknown" if progress.spent_usd is None else usd(progress.spent_usd)
    retries = f", {count(progress.retries)} of them retries" if progress.retries else ""
    calls = f"{count(progress.made)} calls made{retries}, {count(progress.in_flight)} in flight, {spent}"
    stage = progress.stage[:1].upper() + progress.stage[1:]
    began = f"Began {lasting(progress.updated - progress.started)} ago"
    return f"{stage}: {', '.join([_rows(progress), *speed])}. {calls}. {began}."


def lasting(seconds: float) -> str:
    """Return a time as `40 seconds`, `12 minutes`, `3.5 hours`."""
    if seconds < 90:
        return f"{max(seconds, 0):.0f} second{'' if round(seconds) == 1 else 's'}"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@get("/runs/{index:int}/{name:str}/progress", sync_to_thread=True)
def progress(app: AtApp, folder: RunFolder) -> Progressed:
    """Give how far a run is."""
    return progressed(read_progress(folder), app.now())


ROUTES = (run, first, head, rows, place, question, question_text, calls, report, progress)
GIVEN = {"folder": run_folder}
