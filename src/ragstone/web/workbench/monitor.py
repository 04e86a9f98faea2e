"""The monitor in the workbench: its page and its questions, as the server of the assistant has them."""

from typing import Annotated

from litestar import Response, get
from litestar.params import FromQuery, QueryParameter

from ragstone.assistant.api.problems import Refused
from ragstone.web.monitor_routes import chosen_by, monitor_page
from ragstone.web.workbench.desk import AtWorkbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest, person_of

NOTHING = 404


@get("/monitor", include_in_schema=False)
async def monitor(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the page of the monitor; where nothing is monitored, how to begin."""
    person_of(request)
    try:
        return monitor_page(await bench.monitor.page())
    except Refused as refused:
        if refused.status_code != NOTHING:
            raise
        return page(request, "no_monitor.html", "Monitor")


@get("/monitor/questions", include_in_schema=False)
async def questions(
    request: AnyRequest,
    bench: AtWorkbench,
    *,
    metric: FromQuery[str] = "",
    tag: FromQuery[str] = "",
    value: FromQuery[str] = "",
    text: FromQuery[str] = "",
    gap: FromQuery[str] = "",
    page: Annotated[int, QueryParameter(ge=1, le=1_000_000)] = 1,
) -> Response[str]:
    """Give a page of questions: the newest, or the worst in a metric."""
    person_of(request)
    chosen = chosen_by(tag, value, text)
    return monitor_page(await bench.monitor.questions(chosen, metric, gap, page))


ROUTES = (monitor, questions)
