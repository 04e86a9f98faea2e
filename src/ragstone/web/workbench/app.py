"""The workbench as an ASGI application, below /workbench."""

import time
from collections.abc import Callable
from typing import Any

from litestar import Litestar, Response, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException, NotFoundException, ValidationException

from ragstone.assistant.api.app import JsonRequest
from ragstone.assistant.api.gate import methods_of
from ragstone.config import Settings
from ragstone.errors import RagstoneError
from ragstone.web.workbench import (
    account_pages,
    develop_pages,
    frame,
    guard,
    item_pages,
    label_pages,
    library_pages,
    review_pages,
    run_pages,
)
from ragstone.web.workbench.desk import Workbench, judge_developed, opened_queue, opened_review, run_folder
from ragstone.web.workbench.frame import AnyRequest, who_asks

ROUTES = (
    frame.asset,
    *(*run_pages.ROUTES, *library_pages.ROUTES, *account_pages.ROUTES),
)
OF_QUEUES = (*label_pages.ROUTES, *item_pages.ROUTES)
NO_PAGE = "There is no such page in the workbench. The places above lead to those there are."


def create_workbench(settings: Settings, now: Callable[[], float] = time.time) -> Litestar:
    """Return the application. Its pages stand below /workbench. now: seconds since 1970."""
    bench = Workbench(settings, now)
    app = Litestar(
        [
            Router(frame.ROOT, route_handlers=handlers, dependencies=needed)
            for handlers, needed in (
                (ROUTES, {"folder": Provide(run_folder, sync_to_thread=True)}),
                (develop_pages.ROUTES, {"file": Provide(judge_developed, sync_to_thread=True)}),
                (OF_QUEUES, {"opened": Provide(opened_queue, sync_to_thread=True)}),
                (review_pages.ROUTES, {"opened": Provide(opened_review, sync_to_thread=True)}),
            )
        ],
        dependencies={
            "bench": Provide(lambda: bench, sync_to_thread=False),
            "person": Provide(who_asks, sync_to_thread=False),
        },
        exception_handlers={Exception: told},
        on_shutdown=[bench.close],
        logging_config=None,
        openapi_config=None,
        request_class=JsonRequest,
        request_max_body_size=bench.most_bytes,
    )
    app.asgi_handler = guard.guarded(app.asgi_handler, bench, methods_of(app))
    return app


def told(request: AnyRequest, mistake: Exception) -> Response[Any]:
    """Return a page that says what is wrong; a script that asks for JSON gets the words as JSON."""
    match mistake:
        case ValidationException() if isinstance(mistake.extra, list):
            status, words = mistake.status_code, _unfit(mistake.extra)
        case NotFoundException(detail="Not Found"):
            status, words = mistake.status_code, NO_PAGE
        case HTTPException():
            status, words = mistake.status_code, mistake.detail
        case RagstoneError():
            status, words = 422, str(mistake)
        case _:
            raise mistake
    if "application/json" in request.headers.get("accept", ""):
        answer: Response[Any] = Response({"detail": words}, status_code=status)
    else:
        answer = frame.page(request, "wrong.html", "This did not work", status=status, words=words)
    answer.headers.update(getattr(mistake, "headers", None) or {})
    return answer


def _unfit(found: list[Any]) -> str:
    """Return what is wrong with the values of an address or a form, by their names."""
    told = [f"{one['key']}: {one['message']}" if one.get("key") else str(one["message"]) for one in found]
    return f"What was asked for does not fit. {'; '.join(told)}."
