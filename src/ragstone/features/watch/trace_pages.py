"""The traces that were sent, or that a file holds: the newest, and the tree of one with its times."""

import json
from html import escape
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.features.watch.traces import SpanRow, TraceTree, find_trace, newest_traces, trace_files
from ragstone.kernel.document.room import MOST_A_PAGE, MOST_A_TEXT, MOST_TIMES, SHORT, shortened
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

TRACES_A_PAGE = 50
DEEPEST = 12  # steps that are set in
MOST_LEVELS = 20


@get("/traces", sync_to_thread=True)
def traces(request: AnyRequest, app: AtApp, at: FromQuery[int] = 1) -> Response[str]:
    """Give a page of the traces, the newest first."""
    at = max(1, at)
    files = trace_files(_folders(app))
    newest, more = newest_traces(files, TRACES_A_PAGE * (at - 1), TRACES_A_PAGE)
    return page(
        request,
        "features/watch/traces.html",
        "Traces",
        tree=None,
        found=newest,
        at=at,
        n_pages=at + more,
        folders=[str(folder) for folder in _folders(app)],
        longest=SHORT,
        lasted=lasted,
    )


@get("/traces/{trace_id:str}", sync_to_thread=True)
def trace(request: AnyRequest, app: AtApp, trace_id: FromPath[str]) -> Response[str]:
    """Give the tree of a trace."""
    tree = _tree_of(app, trace_id)
    title = tree.summary.name or tree.summary.id
    return page(
        request,
        "features/watch/traces.html",
        shortened(title, SHORT)[0],
        tree=tree,
        rows=_spans_on_page(tree),
        deepest=DEEPEST,
        lasted=lasted,
    )


@get("/traces/{trace_id:str}/{number:int}", sync_to_thread=True)
def span_text(app: AtApp, trace_id: FromPath[str], number: FromPath[int]) -> Response[bytes]:
    """Give all that one span of a trace holds, as plain text; number: its place in the tree, from 0."""
    rows = _tree_of(app, trace_id).rows
    if not 0 <= number < len(rows):
        raise NotFoundException(f"The trace {trace_id} has no span {number}.")
    row = rows[number]
    fields = [("name", row.name), ("error", row.error), *row.fields]
    text = "\n\n".join(f"{name}:\n{text}" for name, text in fields if text)
    return Response(text.encode("utf-8", "replace"), media_type="text/plain")


def _folders(app: AppState) -> list[Path]:
    """Return the folders and files of traces."""
    settings = app.settings
    return [settings.path(name) for name in (settings.serve.otlp.folder, *settings.workbench.traces)]


def _tree_of(app: AppState, trace_id: str) -> TraceTree:
    tree = find_trace(trace_files(_folders(app)), trace_id)
    if tree is None:
        raise NotFoundException(f"No span of the trace {trace_id} is here.")
    return tree


class ShownText(NamedTuple):
    """A text of a span as the page has it; as_block: with its lines and spaces."""

    name: str
    text: str
    as_block: bool


class ShownSpan(NamedTuple):
    """A span with the texts of it that are shown; is_cut: its page of plain text has more."""

    row: SpanRow
    name: str
    error: str
    texts: list[ShownText]
    is_cut: bool


def _spans_on_page(tree: TraceTree) -> list[ShownSpan]:
    """Return what the page shows of each span: the whole page has room for MOST_A_PAGE of their texts."""
    room, spans = MOST_A_PAGE, []
    for row in tree.rows:
        named = [("Input", row.given), ("Result", row.result)]
        named += [(name, text) for name, text in row.fields if text not in (row.given, row.result)]
        cuts = []
        texts = []
        for name, text in named:
            if not text and name in ("Input", "Result"):
                continue
            most = min(MOST_A_TEXT, max(room, SHORT), SHORT + MOST_TIMES * len(text))
            short, is_cut = shortened(indented(text), most)
            title, is_title_cut = shortened(name, SHORT)
            room -= len(escape(short))
            cuts += [is_cut, is_title_cut]
            texts.append(ShownText(title, short, len(text) > 80 or text[:1] in ("{", "[")))
        name, is_name_cut = shortened(row.name or row.id, SHORT)
        error, is_error_cut = shortened(row.error, MOST_A_TEXT // 10)
        room -= len(error)
        spans.append(ShownSpan(row, name, error, texts, any([*cuts, is_name_cut, is_error_cut])))
    return spans


def lasted(seconds: float | None) -> str:
    """Return a time as it is read: `12 ms`, `1.25 s`; a dash where it is not known."""
    if seconds is None:
        return "–"
    return f"{seconds * 1000:.3g} ms" if seconds < 1 else f"{seconds:,.2f} s"


def indented(text: str) -> str:
    """Return JSON with its objects set in; as it is any other text, and one that would become much longer."""
    if text[:1] not in ("{", "[") or len(text) > MOST_A_TEXT:
        return text
    if max(accumulate((text[at] in "[{") - (text[at] in "]}") for at in range(len(text)))) > MOST_LEVELS:
        return text
    try:
        made = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text
    return made if len(escape(made)) <= SHORT + MOST_TIMES * len(text) else text


ROUTES = (traces, trace, span_text)
