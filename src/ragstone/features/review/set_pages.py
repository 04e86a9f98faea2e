"""The data sets of a project: their list, and one with its certificate and its questions."""

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.build import certified_blocks, headline
from ragstone.features.review._reviews import STATES
from ragstone.features.review._set_rows import SetFilter, set_rows
from ragstone.features.review._sets import sets_of
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.frame import page, query_of
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AtApp


@get("/data", sync_to_thread=True)
def data(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the list of data sets."""
    return page(
        request, "features/review/data.html", "Data sets", headline=headline, sets=app.part(sets_of).all()
    )


@get("/data/{set_id:str}", sync_to_thread=True)
def data_set(request: AnyRequest, app: AtApp, set_id: FromPath[str]) -> Response[str]:
    """Give a data set: its certificate, and a page of its questions. See SetFilter."""
    query = query_of(request, SetFilter)
    chosen = next((entry for entry in app.part(sets_of).all() if entry.id == set_id), None)
    if chosen is None:
        raise NotFoundException("There is no such data set, or it has changed: see the list of data sets.")
    page_rows, wrong = None, chosen.wrong
    try:
        page_rows = None if wrong else set_rows(app, chosen, query)
    except DataError as mistake:
        wrong = str(mistake)
    return page(
        request,
        "features/review/data_set.html",
        chosen.name,
        one=chosen,
        wrong=wrong,
        asked=query,
        found=page_rows,
        kept=[(name, value) for name, value in (("text", query.text), ("where", query.where)) if value],
        states=dict(STATES),
        certificate=render_blocks(certified_blocks(chosen.certified)) if chosen.certified else "",
    )


ROUTES = (data, data_set)
