"""The monitor's page and its questions, as a server shows them: from the store as it is then."""

import asyncio
import time
from collections.abc import Callable
from typing import Annotated

import msgspec
from litestar import Response, get

from ragstone.features.watch._charts import drawn_metrics
from ragstone.features.watch._page import render_monitor, render_questions
from ragstone.features.watch._showing import ExchangeFilter
from ragstone.features.watch.gaps import load_gaps
from ragstone.features.watch.look import Open, low_in
from ragstone.features.watch.store import MonitorStore, has_store
from ragstone.features.watch.watching import look_of, utc_today
from ragstone.kernel.config import Settings
from ragstone.kernel.document.html import policy_in
from ragstone.kernel.serve.frame import page, query_of
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.kernel.stages.judge import load_judges

FRESH_S = 10.0
"""Seconds for which a page is shown again without a look at the store."""

A_PAGE = 50
CSP = "Content-Security-Policy"


class QuestionsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions an address asks for. gap: its rank; what is no number is no gap."""

    metric: str = ""
    tag: str = ""
    value: str = ""
    text: str = ""
    gap: str = ""
    page: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


def monitor_page(html: str) -> Response[str]:
    """Return a page whose own policy holds: the one of the API would forbid its style."""
    headers = {CSP: policy_in(html), "Cache-Control": "no-store"}
    return Response(html, media_type="text/html", headers=headers)


class MonitorPages:
    """The page that was made last, and until when it is shown. root, back: see render_monitor."""

    def __init__(
        self,
        settings: Settings,
        tick: Callable[[], float] = time.monotonic,
        *,
        root: str = "/monitor",
        back: str = "",
    ) -> None:
        self._settings, self._tick = settings, tick
        self._root, self._back = root, back
        self._folder = settings.path(settings.monitor.store)
        self._made: tuple[float, str] | None = None
        self._lock = asyncio.Lock()

    async def page(self) -> str:
        """Return the page, made anew by one request at a time. Raises RefusedRequest without a store."""
        async with self._lock:
            if self._made is None or self._tick() > self._made[0]:
                html = await asyncio.to_thread(self._render)
                self._made = (self._tick() + FRESH_S, html)
            return self._made[1]

    def _open(self) -> MonitorStore:
        if not has_store(self._folder):
            raise RefusedRequest(
                404, "nothing is monitored yet: run `ragstone watch LOG` in the project's folder"
            )
        return MonitorStore(self._folder)

    def _render(self) -> str:
        judges = [
            judge.name for judge in load_judges(map(self._settings.named, self._settings.monitor.judges))
        ]
        with self._open() as store:
            look = look_of(store, self._settings, judges, utc_today())
        return render_monitor(look, served=self._root, back=self._back)

    async def questions(self, query: QuestionsAsked) -> str:
        """Return a page of questions. Raises RefusedRequest for a metric and a gap that there are not."""
        return await asyncio.to_thread(self._questions, query)

    def _questions(self, query: QuestionsAsked) -> str:
        # A tag without a value narrows nothing.
        tags = {query.tag: query.value} if query.tag and query.value else {}
        chosen = ExchangeFilter(text=query.text or None, tags=tags)
        metric, page, gap = query.metric, query.page, int(query.gap) if query.gap.isdecimal() else 0
        with self._open() as store:
            best, latest = store.best(), load_gaps(store)
            choices = drawn_metrics(best, store.cells(tag=""))
            if metric and metric not in choices:
                raise RefusedRequest(404, "no judge has scored that metric")
            if gap:
                if latest is None or gap > len(latest.gaps):
                    raise RefusedRequest(404, "there is no such gap any more")
                names = tuple(name for row in latest.gaps[gap - 1].examples for name in row.ids)
                chosen = msgspec.structs.replace(chosen, names=names)
            exchanges = (
                store.scored(metric, chosen, page=page, size=A_PAGE)
                if metric
                else store.exchanges(chosen, page=page, size=A_PAGE)
            )
            items = [Open(seen=row, low=low_in(row, best), gaps=[]) for row in exchanges.rows]
            return render_questions(
                exchanges,
                items,
                chosen,
                metric=metric,
                gap=gap,
                choices=choices,
                tags=store.tags,
                served=self._root,
            )


def pages_of(app: AppState) -> MonitorPages:
    """The pages of the monitor as the workbench shows them."""
    return MonitorPages(app.settings, root="/workbench/monitor", back="/workbench/")


NOTHING = 404


@get("/monitor")
async def monitor(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the page of the monitor; where nothing is monitored, how to begin."""
    try:
        return monitor_page(await app.part(pages_of).page())
    except RefusedRequest as refused:
        if refused.status_code != NOTHING:
            raise
        return page(request, "features/watch/no_monitor.html", "Monitor")


@get("/monitor/questions")
async def questions(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give a page of questions: the newest, or the worst in a metric."""
    return monitor_page(await app.part(pages_of).questions(query_of(request, QuestionsAsked)))


ROUTES = (monitor, questions)
