"""The data sets of a project: their list, and one with its certificate."""

from itertools import islice

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.build import certified_blocks, headline
from ragstone.features.review._sets import sets_of
from ragstone.kernel.document.html import render_blocks
from ragstone.kernel.records import Question
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AtApp
from ragstone.kernel.tables import read_rows

SAMPLE = 20


@get("/data", sync_to_thread=True)
def data(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the list of data sets."""
    return page(
        request, "features/review/data.html", "Data sets", headline=headline, sets=app.part(sets_of).all()
    )


@get("/data/{set_id:str}", sync_to_thread=True)
def data_set(request: AnyRequest, app: AtApp, set_id: FromPath[str]) -> Response[str]:
    """Give a data set: its certificate, and its first questions."""
    chosen = next((entry for entry in app.part(sets_of).all() if entry.id == set_id), None)
    if chosen is None:
        raise NotFoundException("There is no such data set, or it has changed: see the list of data sets.")
    rows = [] if chosen.wrong else list(islice(read_rows(chosen.path, Question), SAMPLE))
    certificate = render_blocks(certified_blocks(chosen.certified)) if chosen.certified else ""
    return page(
        request, "features/review/data_set.html", chosen.name, one=chosen, rows=rows, certificate=certificate
    )


ROUTES = (data, data_set)
