"""The table of rows of runs: filtered, sorted, in chosen columns, saved as views, downloaded."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode

import msgspec
from litestar import Response, get, post
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, JSONBody
from litestar.response import Redirect, Stream

from ragstone.kernel.document.numbers import one_line
from ragstone.kernel.document.room import PageRoom, length_in_json
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import STATUS_WORDS
from ragstone.kernel.runs.joining import columns_of
from ragstone.kernel.runs.notes import read_notes
from ragstone.kernel.runs.views import VIEWS, View, check_view_name, read_view, views_in
from ragstone.kernel.serve.frame import ANNOTATOR, ROOT, AtPerson, page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.asking import RowFilter
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.kernel.serve.tables import TableAddress, TableHead
from ragstone.kernel.tables.where import Kind, conditions_in, name_in_filter, value_in_filter
from ragstone.workbench.download import TYPES, download
from ragstone.workbench.row_pairs import table_columns
from ragstone.workbench.row_table import (
    TableColumn,
    TableRun,
    as_filter,
    columns_of_table,
    export_rows,
    table_page,
    usual_columns,
)
from ragstone.workbench.views import MOST_COLUMNS, remove_view, rename_view, save_view

ROWS = f"{ROOT}/rows"
TABLE_PAGE = 50
MOST_RUNS = 8  # whose indexes are open at once
COOKIE = "ragstone_columns"
# Characters of a cell, and of one that is opened; the page of the row has the rest.
SHORT, LONGEST = 180, 4_000
SIGNS = (
    *(("=", "is"), ("!=", "is not"), ("~", "contains"), ("<", "is less than"), ("<=", "is at most")),
    *((">", "is more than"), (">=", "is at least"), ("none", "is empty"), ("any", "is not empty")),
)


class TableQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What an address asks for beside its filter. view: its name. at: a page, from 1.

    add, sign, value: a condition to add. keep: 1 keeps the columns in this browser, 0 forgets those there.
    """

    view: str = ""
    at: int = 1
    add: str = ""
    sign: str = "="
    value: str = ""
    keep: str = ""


class RowCell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell as it is shown. whole: the text where it is longer. tone: of a chip, "" for none."""

    short: str = ""
    whole: str = ""
    tone: str = ""


class ShownRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row. lead: its first cell, which leads to the page of the row; cells: the others."""

    id: str
    href: str
    lead: RowCell
    cells: list[RowCell]


class _TableRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request in the terms of the table. filter: its condition and order. columns: chosen, [] for none."""

    runs: list[str]
    filter: RowFilter
    columns: list[str]
    view: View | None = None

    def pairs(self) -> list[tuple[str, str]]:
        """Return what its address has of it."""
        named = [("view", self.view.name)] if self.view else []
        order = [("order", self.filter.order)] if self.filter.order != "file" or self.view else []
        where = [("where", self.filter.where)] if self.filter.where or self.view else []
        chosen = [("column", column) for column in self.columns]
        return [*(("run", run) for run in self.runs), *named, *where, *order, *chosen]

    @property
    def is_changed(self) -> bool:
        """Whether it is no longer what its view says."""
        own = (self.filter.where, self.filter.order, self.columns)
        return self.view is not None and own != (self.view.where, self.view.order, self.view.columns)


@get("/rows", sync_to_thread=True)
def rows(request: AnyRequest, app: AtApp, person: AtPerson) -> Response[Any]:
    """Give a page of the table, or the runs to choose from."""
    query = query_of(request, TableQuery)
    runs = list(dict.fromkeys(request.query_params.getall("run", [])))
    if len(runs) > MOST_RUNS:
        raise DataError(f"{len(runs)} runs are chosen, but a table holds at most {MOST_RUNS}: remove some.")
    views, broken = views_in(_folder(app))
    with ExitStack() as stack:
        opened = [_opened(app, run, stack) for run in runs]
        table = _asked(request, app, query, runs, opened)
        if query.add:
            more = _condition(query, table_columns([run.rows for run in opened]))
            address = TableAddress(tuple(table.pairs()))
            parts = [part for part in (_joinable(table.filter.where, opened), more) if part]
            return Redirect(f"{ROWS}{address.href('where', ' and '.join(parts))}", status_code=303)
        values = (
            _table(opened, table, request, query)
            if opened
            else {"address": TableAddress(tuple(table.pairs()))}
        )
    response: Response[Any] = page(
        request,
        "workbench/rows.html",
        table.view.name if table.view else "Rows",
        **values,
        run_ids=runs,
        run_pairs=[("run", run) for run in runs],
        runs=opened,
        chosen=table.filter,
        view=table.view,
        changed=table.is_changed,
        views=views,
        broken_views=broken,
        entries=[
            entry for entry in app.runs.all() if rows_file(entry.folder, "judgements") or entry.id in runs
        ],
        most_runs=MOST_RUNS,
        signs=SIGNS,
        endings=[*TYPES],
        may_save=person.may("annotator"),
        owner=person.may("owner"),
    )
    if query.keep == "1" and table.columns:
        columns_cookie = quote(msgspec.json.encode(table.columns).decode(), safe="")
        if len(columns_cookie) < 3500:
            response.set_cookie(
                COOKIE, columns_cookie, path=ROWS, max_age=31_536_000, httponly=True, samesite="lax"
            )
    elif query.keep == "0":
        response.delete_cookie(COOKIE, path=ROWS)
    return response


def _folder(app: AppState) -> Path:
    return app.settings.path(VIEWS)


def _opened(app: AppState, run_id: str, stack: ExitStack) -> TableRun:
    folder = app.runs.find(run_id)
    if not any(rows_file(folder, kind) for kind in ("questions", "answers", "judgements")):
        raise DataError(f"The run {run_id.partition('/')[2]!r} has no rows yet.")
    view = app.runs.view(folder)
    return TableRun(
        id=run_id,
        rows=stack.enter_context(app.indexes.of(folder, read_notes(folder))),
        summary=view.summary,
        causes=view.causes,
    )


def _asked(
    request: AnyRequest, app: AppState, query: TableQuery, runs: list[str], opened: Sequence[TableRun]
) -> _TableRequest:
    """Return what an address asks for: what it says, else what its view says."""
    row_filter = query_of(request, RowFilter)
    view = read_view(_folder(app), query.view) if query.view else None
    if view:
        row_filter = msgspec.structs.replace(
            row_filter,
            where=row_filter.where if "where" in request.query_params else view.where,
            order=row_filter.order if "order" in request.query_params else view.order,
        )
    chosen = row_filter
    if opened:
        if row_filter.judge is not None and len(opened) > 1:
            raise DataError("A judge's number holds in one run only: write the judge's name in the filter.")
        first = opened[0].rows
        columns, judges = first.own
        names = {key: name for name, key in judges.items()}
        if row_filter != RowFilter(
            where=row_filter.where, order=row_filter.order, at=row_filter.at
        ):  # a menu chose, too
            row_filter = msgspec.structs.replace(row_filter, where=_joinable(row_filter.where, opened))
        indexed = first.columns(columns_of(opened[0].summary))
        chosen = as_filter(row_filter, indexed, names, columns.tags)
    listed = [each for each in dict.fromkeys(request.query_params.getall("column", [])) if each]
    return _TableRequest(
        runs=runs,
        filter=chosen,
        columns=listed[:MOST_COLUMNS] or (view.columns if view else []),
        view=view,
    )


def _joinable(where: str, opened: Sequence[TableRun]) -> str:
    """Return a filter as one to which `and` may be added; one that does not parse as it is."""
    try:
        return " and ".join(conditions_in(where, table_columns([run.rows for run in opened])))
    except DataError:
        return where


def _condition(query: TableQuery, kinds: Mapping[str, Kind]) -> str:
    """Return the condition of the menu as text."""
    name = name_in_filter(query.add)
    if query.sign in ("none", "any"):
        return f"{name} {'=' if query.sign == 'none' else '!='} none"
    kind, value = kinds.get(query.add, "text"), query.value.strip()
    if kind in ("text", "search"):
        return f"{name} {'~' if kind == 'search' else query.sign} {value_in_filter(value)}"
    return f"{name} {query.sign} {value}"


def _columns_kept(request: AnyRequest) -> list[str]:
    """Return the columns that this browser keeps; none where it keeps nothing that can be read."""
    try:
        return msgspec.json.decode(unquote(request.cookies.get(COOKIE, "[]")), type=list[str])[:MOST_COLUMNS]
    except msgspec.DecodeError:
        return []


def _shown_columns(
    opened: Sequence[TableRun], table: _TableRequest, request: AnyRequest
) -> list[TableColumn]:
    every = {column.name: column for column in columns_of_table(opened)}
    wanted = table.columns or _columns_kept(request)
    columns = [every[name] for name in wanted if name in every]
    return columns or [every[name] for name in usual_columns(opened)]


def _table(
    opened: Sequence[TableRun], request_of_table: _TableRequest, request: AnyRequest, query: TableQuery
) -> dict[str, Any]:
    """Return what the page shows of rows; of a filter that does not parse, what is wrong."""
    columns = _shown_columns(opened, request_of_table, request)
    address = TableAddress(tuple(request_of_table.pairs()), max(1, query.at))
    kinds = table_columns([run.rows for run in opened])
    every = [column.name for column in columns_of_table(opened)]
    names = [column.name for column in columns]
    as_view = {
        "where": request_of_table.filter.where,
        "order": request_of_table.filter.order,
        "columns": names,
        "runs": request_of_table.runs,
    }
    values: dict[str, Any] = {
        "heads": address.heads(
            [(each.name, each.kind, each.sorts) for each in columns], request_of_table.filter.order
        ),
        "every_column": [*names, *(name for name in every if name not in names)],
        "shown": names,
        "filters": [*kinds],
        "chips": [],
        "wrong": None,
        "rows": [],
        "n": 0,
        "as_view": _as_text(
            as_view | {"seen": request_of_table.view.version if request_of_table.view else None}
        ),
        "as_new_view": _as_text(as_view | {"seen": None}),
        "downloaded": [*address.kept("column"), *(("column", name) for name in names)],
    }
    try:
        values["chips"] = address.chips(conditions_in(request_of_table.filter.where, kinds))
        first = (address.at - 1) * TABLE_PAGE
        places, page_rows = table_page(opened, request_of_table.filter, first=first, most=TABLE_PAGE)
        n_pages = max(1, -(-places.n // TABLE_PAGE))
        if address.at > n_pages:
            address = msgspec.structs.replace(address, at=n_pages)
            first = (n_pages - 1) * TABLE_PAGE
            places, page_rows = table_page(opened, request_of_table.filter, first=first, most=TABLE_PAGE)
    except DataError as mistake:
        return values | {"wrong": str(mistake), "address": address}
    shown_rows = [
        _shown_row(row, opened[answer_place.run], request_of_table, values["heads"], len(opened) > 1)
        for answer_place, row in zip(places.rows, page_rows, strict=True)
    ]
    return values | {
        "address": address,
        "rows": PageRoom(length_in_json).fitted(shown_rows),
        "n": places.n,
        "of": places.of,
        "n_pages": n_pages,
    }


def _as_text(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _shown_row(
    row: Mapping[str, Any], run: TableRun, table: _TableRequest, heads: Sequence[TableHead], several: bool
) -> ShownRow:
    query = [("question", row["question_id"]), ("system", row["system"])]
    if not several:  # another run may lack a column of the filter
        query += [(name, value) for name, value in table.pairs() if name in ("where", "order") and value]
    cells = [_cell(row, head) for head in heads]
    return ShownRow(
        id=row["question_id"],
        href=f"{ROOT}/runs/{quote(run.id)}/row?{urlencode(query)}",
        lead=cells[0],
        cells=cells[1:],
    )


def _cell(row: Mapping[str, Any], head: TableHead) -> RowCell:
    """Return a cell as it is shown. A judge without a score says why, as its status does."""
    value = row.get(head.name)
    if value is None:
        status = row.get(f"{head.name}_status") if head.kind == "number" else None
        return RowCell(short=STATUS_WORDS.get(status, status), tone="unscored") if status else RowCell()
    if isinstance(value, bool):
        return RowCell(short="yes" if value else "no")
    if isinstance(value, int | float):
        return RowCell(short=f"{value:,}" if isinstance(value, int) else f"{value:.4g}")
    text = "; ".join(map(str, value)) if isinstance(value, list) else str(value)
    short = one_line(text, SHORT)
    return RowCell(short=short, whole=text[:LONGEST] if len(text) > SHORT or "\n" in text.strip() else "")


@get("/rows/export/{ending:str}", sync_to_thread=True)
def export(request: AnyRequest, app: AtApp, ending: FromPath[str]) -> Stream:
    """Give the rows that the address asks for as a file, in its columns and order, while they are read."""
    if ending not in TYPES:
        raise NotFoundException(f"There is no download as {ending!r}: choose one of {', '.join(TYPES)}.")
    runs = list(dict.fromkeys(request.query_params.getall("run", [])))
    if not 1 <= len(runs) <= MOST_RUNS:
        raise DataError(f"Choose 1 to {MOST_RUNS} runs to download rows from.")
    stack = ExitStack()
    try:
        opened = [_opened(app, run, stack) for run in runs]
        table = _asked(request, app, query_of(request, TableQuery), runs, opened)
        columns = [column.name for column in _shown_columns(opened, table, request)]
        lines = export_rows(opened, table.filter, columns)
    except BaseException:
        stack.close()
        raise

    def pieces() -> Iterator[bytes]:
        with stack:
            yield from download(lines, columns, ending)

    name = table.view.name if table.view else "-".join(run.name for run in opened)[:80]
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_") else "-" for sign in name)
    names = f"filename=\"{plain}.{ending}\"; filename*=UTF-8''{quote(name)}.{ending}"
    headers = {
        "Content-Disposition": f"attachment; {names}",
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
    }
    return Stream(pieces(), media_type=TYPES[ending], headers=headers)


class ViewForm(msgspec.Struct, frozen=True, kw_only=True):
    """A view as its forms send it. seen: the version that is open, None for a new one. to: another name."""

    name: str
    where: str = ""
    order: str = "file"
    columns: list[str] = []
    runs: list[str] = []
    seen: int | None = None
    to: str = ""


def _go(form: ViewForm, name: str | None) -> dict[str, str]:
    named = [("view", name)] if name else []
    return {"go": f"{ROWS}?{urlencode([*(('run', run) for run in form.runs), *named])}"}


@post("/rows/views/save", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def save(request: AnyRequest, app: AtApp, person: AtPerson, data: JSONBody[ViewForm]) -> dict[str, str]:
    """Save a view. Raises ViewChanged where somebody else has changed it meanwhile."""
    view = View(name=data.name, where=data.where.strip(), order=data.order, columns=data.columns)
    saved = save_view(_folder(app), view, seen=data.seen, who=person.name)
    app.audit(request, "view saved", view=saved.name, version=saved.version)
    return _go(data, saved.name)


@post("/rows/views/rename", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def rename(request: AnyRequest, app: AtApp, person: AtPerson, data: JSONBody[ViewForm]) -> dict[str, str]:
    """Give a view another name. Raises ViewChanged as save does."""
    renamed = rename_view(_folder(app), data.name, data.to, seen=data.seen or 0, who=person.name)
    app.audit(request, "view renamed", view=check_view_name(data.name), to=renamed.name)
    return _go(data, renamed.name)


@post("/rows/views/delete", sync_to_thread=True, status_code=200, guards=[ANNOTATOR])
def delete(request: AnyRequest, app: AtApp, data: JSONBody[ViewForm]) -> dict[str, str]:
    """Delete a view. Raises ViewChanged as save does."""
    remove_view(_folder(app), data.name, seen=data.seen or 0)
    app.audit(request, "view deleted", view=check_view_name(data.name))
    return _go(data, None)


ROUTES = (rows, export, save, rename, delete)
