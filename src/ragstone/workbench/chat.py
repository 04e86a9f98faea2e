"""The assistant as `ragstone serve` shows it: all that the workbench takes of the distribution of its own."""

import time
from collections.abc import Callable
from typing import Any

from litestar import Litestar, Response, get

from ragstone.features.watch.monitor_pages import whole_pages
from ragstone.kernel.config import Settings
from ragstone.kernel.serve.frame import lone_page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.workbench.serving import keys_of
from ragstone_assistant.api.app import create_app
from ragstone_assistant.api.state import WithState
from ragstone_assistant.assistant import Assistant
from ragstone_assistant.assistant import open_assistant as open_assistant


def chat_app(assistant: Assistant, settings: Settings) -> Litestar:
    """The API, the chat page and the monitor of an assistant. Raises what keys_of raises."""
    return create_app(
        assistant,
        settings.serve,
        folder=settings.path(settings.assistant.store),
        keys=keys_of(settings),
        k=settings.assistant.k,
        routes=monitor_routes(settings),
    )


def monitor_routes(settings: Settings, tick: Callable[[], float] = time.monotonic) -> list[Any]:
    """Return the routes /monitor and /monitor/questions. tick: seconds, for how long a page is fresh."""
    pages = whole_pages(settings, tick)

    @get("/monitor", include_in_schema=False)
    async def monitor(request: AnyRequest, app_state: WithState) -> Response[str]:
        """Give the page of the monitor."""
        app_state.check_admin(request)
        return lone_page(await pages.page())

    @get("/monitor/questions", include_in_schema=False)
    async def questions(request: AnyRequest, app_state: WithState) -> Response[str]:
        """Give a page of questions: the newest, or the worst in a metric."""
        app_state.check_admin(request)
        return lone_page(await pages.questions(request))

    return [monitor, questions]
