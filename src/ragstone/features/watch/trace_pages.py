"""The traces that were sent, or that a file holds: the list, one as people read it, those of a session."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, NamedTuple
from urllib.parse import parse_qsl, urlencode

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.watch._trace_index import LONGEST_NAME, IndexState, TraceIndex, TraceRow, lines_of
from ragstone.features.watch._trace_query import Order, TraceQuery, TraceScore, TraceTotals, with_scores
from ragstone.features.watch._trace_view import exchanges_in, lasted, priced, shown_trace
from ragstone.features.watch.traces import TraceTree, find_trace
from ragstone.kernel.document.room import SHORT, shortened
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.notes import Note, read_notes
from ragstone.kernel.serve.frame import AtPerson, at_time, page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.kernel.serve.tables import FilterChip, TableHead
from ragstone.kernel.tables.interchange.values import amount_in
from ragstone.kernel.tables.where import ColumnTest, value_in_filter

TRACES_A_PAGE = 50
OF_A_SESSION = 100  # traces on a page of it
DEEPEST = 12  # steps that are set in
MOST_DOWNLOADED = 100_000
AT_ONCE = 500
WAIT_S = 0.6  # for what is new to be read, before the page is shown
SINCE_S = {"hour": 3_600, "day": 86_400, "week": 7 * 86_400, "month": 30 * 86_400}
SLOWER_S = ("1", "3", "10", "30", "60")
HEADS: tuple[Order, ...] = ("errors", "duration", "tokens", "cost", "time")


class TracesAsked(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which traces an address asks for. where: a filter in words, see tables/where.py; the others are menus.

    slower: seconds; dearer: USD. order: of which column; rising: the least first. at: the page, from 1.
    """

    text: Annotated[str, msgspec.Meta(max_length=500)] = ""
    service: str = ""
    since: str = ""
    outcome: str = ""
    slower: str = ""
    dearer: str = ""
    user: str = ""
    session: str = ""
    where: str = ""
    order: Order = "time"
    rising: int = 0
    at: Annotated[int, msgspec.Meta(ge=1, le=10_000_000)] = 1


def index_of(app: AppState) -> TraceIndex:
    """The index of the traces of a project."""
    return TraceIndex(app.store / "traces", lambda: _folders(app))


def notes_folder(app: AppState) -> Path:
    """Return the folder in which notes on traces are kept."""
    return app.store / "traces"


@contextmanager
def traces_asked(app: AppState) -> Iterator[TraceQuery]:
    """Give what asks the index as files are now, with the scores of the monitor and the notes."""
    state = app.part(index_of).refresh(WAIT_S)
    notes = read_notes(notes_folder(app))
    with (
        app.part(index_of).opened() as con,
        with_scores(con, app.settings.path(app.settings.monitor.store)) as has_monitor,
    ):
        yield TraceQuery(con, notes, has_monitor=has_monitor, state=state)


def filter_of(query: TracesAsked, now: float) -> list[tuple[str, str]]:
    """Return the parts of a filter that an address asks for, each with the name of its field."""
    parts = [(f"text ~ {value_in_filter(word)}", "text") for word in query.text.split()]
    parts += [
        (f"{name} = {value_in_filter(value)}", name)
        for name in ("service", "user", "session")
        if (value := getattr(query, name))
    ]
    if query.since in SINCE_S:
        parts.append((f"time >= {at_time(now - SINCE_S[query.since])}", "since"))
    if query.outcome in ("failed", "fine"):
        parts.append(("failed" if query.outcome == "failed" else "not failed", "outcome"))
    for name, column in (("slower", "duration"), ("dearer", "cost")):
        if text := getattr(query, name).strip():
            if (number := amount_in(text)) is None:
                raise DataError(f"{text!r} is not a number: write one such as 0.01.")
            parts.append((f"{column} > {number:.10g}", name))
    if query.where.strip():
        parts.append((f"({query.where.strip()})" if parts else query.where.strip(), "where"))
    return parts


@get("/traces", sync_to_thread=True)
def traces(request: AnyRequest, app: AtApp, person: AtPerson) -> Response[str]:
    """Give a page of the traces that a filter leaves, the newest first unless another order is asked for."""
    query = query_of(request, TracesAsked)
    problem, listed, scores = None, None, {}
    with traces_asked(app) as index:
        try:
            parts = filter_of(query, app.now())
            where = " and ".join(part for part, _ in parts)
            listed = index.page(
                where, query.order, rising=bool(query.rising), at=query.at, size=TRACES_A_PAGE
            )
            scores = index.scores([row.id for row in listed.rows])
        except DataError as mistake:
            parts, where, problem = [], "", str(mistake)
        services, columns = index.services(), index.columns
        noted = {trace: len(notes) for trace, notes in _by_trace(index.notes).items()}
    return page(
        request,
        "features/watch/traces.html",
        "Traces",
        status=422 if problem else 200,
        found=listed,
        query=query,
        state=index.state,
        problem=problem,
        where=where,
        chips=[FilterChip(label, address(query, **{name: None})) for label, name in parts],
        heads=[_head(query, order) for order in HEADS],
        address=lambda **changes: address(query, **changes),
        paged=parse_qsl(address(query)[1:]),
        n_pages=-(-listed.n // TRACES_A_PAGE) if listed else 0,
        scores=scores,
        noted=noted,
        services=services,
        columns=columns,
        slower=SLOWER_S,
        folders=[str(folder) for folder in _folders(app)],
        lasted=lasted,
        priced=priced,
        moment=moment,
        may_choose=person.may("owner"),
    )


def address(query: TracesAsked, **changes: object) -> str:
    """Return the address of the list with other values, from its first page; None takes one out."""
    fields = {**msgspec.structs.asdict(query), "at": None, **changes}
    defaults = msgspec.structs.asdict(TracesAsked())
    fields_set = {name: value for name, value in fields.items() if value not in (None, "", defaults[name])}
    return f"?{urlencode(fields_set)}" if fields_set else "?"


def _head(query: TracesAsked, order: Order) -> TableHead:
    """Return the head of a column that sorts: from the highest down, then from the least up."""
    direction = ("ascending" if query.rising else "descending") if query.order == order else ""
    href = address(query, order=order, rising=1 if direction == "descending" else None)
    return TableHead(
        name=order.capitalize(), kind="text" if order == "time" else "number", href=href, way=direction
    )


@get("/traces/{trace_id:str}", sync_to_thread=True)
def trace(request: AnyRequest, app: AtApp, person: AtPerson, trace_id: FromPath[str]) -> Response[str]:
    """Give a trace: question, answer and what led to it; the spans behind it."""
    lines, tree = _tree_of(app, trace_id)
    with traces_asked(app) as index:
        row = next(iter(index.named([trace_id])), None)
        scores = index.scores([trace_id]).get(trace_id.lower(), [])
        notes = _by_trace(index.notes).get(trace_id.lower(), [])
    view = shown_trace(tree, lines)
    spans = dict.fromkeys(note.span or "" for note in notes)
    title = (row.question if row else None) or tree.summary.name or tree.summary.id
    return page(
        request,
        "features/watch/trace.html",
        shortened(title, SHORT)[0],
        tree=tree,
        row=row,
        shown=view,
        scores=scores,
        notes=notes,
        notes_of={span: [note for note in notes if (note.span or "") == span] for span in spans},
        mine={note.id for note in notes if person.may("owner") or note.author == person.name},
        may_note=person.may("annotator"),
        may_choose=person.may("owner"),
        deepest=DEEPEST,
        lasted=lasted,
        priced=priced,
        moment=moment,
    )


def moment(seconds: float) -> str:
    """Return a time as a list has it, where this server is: `27 Nov 2026, 02:47`."""
    there = datetime.fromtimestamp(seconds, UTC).astimezone()
    return f"{there.day} {there:%b %Y, %H:%M}"


class ListedTrace(TraceRow, frozen=True, kw_only=True):
    """A trace as the list is downloaded: with its scores by metric and judge, and what people wrote."""

    scores: tuple[TraceScore, ...] = ()
    notes: tuple[Note, ...] = ()


@get("/traces/list.jsonl", sync_to_thread=True)
def download(request: AnyRequest, app: AtApp) -> Response[bytes]:
    """Give the traces that a filter leaves as JSON lines, the newest first. Raises DataError."""
    query = query_of(request, TracesAsked)
    rows: list[bytes] = []
    with traces_asked(app) as index:
        notes = _by_trace(index.notes)
        where = " and ".join(part for part, _ in filter_of(query, app.now()))
        ids = index.ids(where, MOST_DOWNLOADED)
        for at in range(0, len(ids), AT_ONCE):
            some = index.named(ids[at : at + AT_ONCE])
            scores = index.scores([row.id for row in some])
            for row in some:
                listed = ListedTrace(
                    **msgspec.structs.asdict(row),
                    scores=tuple(scores.get(row.id.lower(), ())),
                    notes=tuple(notes.get(row.id.lower(), ())),
                )
                rows.append(msgspec.json.encode(listed) + b"\n")
    headers = {"Content-Disposition": 'attachment; filename="traces.jsonl"', "Cache-Control": "no-store"}
    return Response(b"".join(rows), media_type="application/jsonl", headers=headers)


def _by_trace(notes: Sequence[Note]) -> dict[str, list[Note]]:
    """Return id of a trace in small letters -> the notes on it and its spans."""
    traces: dict[str, list[Note]] = {}
    for note in notes:
        traces.setdefault(note.question_id.lower(), []).append(note)
    return traces


class SessionAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Whose traces are shown: those of a session, or of a user. at: the page, from 1."""

    session: str = ""
    user: str = ""
    at: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


class SessionTurn(NamedTuple):
    """A trace of a session. exchanges: its answers, as rows of an answer sheet."""

    row: TraceRow
    exchanges: list[dict[str, object]]


@get("/traces/session", sync_to_thread=True)
def session(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give all traces of a session, or of a user, from the first on, as one conversation with its totals."""
    query = query_of(request, SessionAsked)
    kind = "session" if query.session else "user"
    value = query.session or query.user
    with traces_asked(app) as index:
        where = ColumnTest(column=kind, kind="text", sign="=", values=(value[:LONGEST_NAME],))
        listed = index.page(where, "time", rising=True, at=query.at, size=OF_A_SESSION)
        if not value or not listed.n:
            raise NotFoundException(f"There is no trace of this {kind} here.")
        totals: TraceTotals = index.totals(where)
        turns = [SessionTurn(row, exchanges_in(index.lines(row.id), row.id)) for row in listed.rows]
    return page(
        request,
        "features/watch/session.html",
        f"{kind.capitalize()} {shortened(value, 60)[0]}",
        kind=kind,
        value=value,
        found=listed,
        totals=totals,
        turns=turns,
        state=index.state,
        n_pages=-(-listed.n // OF_A_SESSION),
        lasted=lasted,
        priced=priced,
        moment=moment,
    )


@get("/traces/{trace_id:str}/{number:int}", sync_to_thread=True)
def span_text(app: AtApp, trace_id: FromPath[str], number: FromPath[int]) -> Response[bytes]:
    """Give all that one span of a trace holds, as plain text; number: its place in the tree, from 0."""
    _, tree = _tree_of(app, trace_id)
    if not 0 <= number < len(tree.rows):
        raise NotFoundException(f"The trace {trace_id} has no span {number}.")
    row = tree.rows[number]
    fields = [("name", row.name), ("error", row.error), *row.fields]
    text = "\n\n".join(f"{name}:\n{text}" for name, text in fields if text)
    return Response(text.encode("utf-8", "replace"), media_type="text/plain")


def _folders(app: AppState) -> list[Path]:
    """Return the folders and files of traces."""
    settings = app.settings
    return [settings.path(name) for name in (settings.serve.otlp.folder, *settings.workbench.traces)]


def _tree_of(app: AppState, trace_id: str) -> tuple[list[bytes], TraceTree]:
    """Return a trace, with the lines that hold its spans; the newest lines are waited for, if need be."""
    index = app.part(index_of)
    for wait_s in (WAIT_S, 20 * WAIT_S):  # the longer one while many files are read for the first time
        state: IndexState = index.refresh(wait_s)
        with index.opened() as con:
            lines = lines_of(con, trace_id)
        tree = find_trace(lines, trace_id)
        if tree is not None:
            return lines, tree
        if not state.left:
            break
    more = " Files of traces are still being read: try again soon." if state.left else ""
    raise NotFoundException(f"No span of the trace {trace_id} is here.{more}")


ROUTES = (traces, download, session, trace, span_text)
