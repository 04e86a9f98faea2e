"""The monitor's page and its questions, as a server shows them: from the store as it is then."""

import asyncio
import time
from collections.abc import Callable
from typing import Annotated, Generic, TypeVar

import msgspec
from litestar import Response, get
from markupsafe import Markup

from ragstone.features.watch._charts import drawn_metrics
from ragstone.features.watch._page import MonitorView, monitor_view, questions_view, render_view
from ragstone.features.watch._showing import ExchangeFilter
from ragstone.features.watch.gaps import load_gaps
from ragstone.features.watch.look import Open, low_in
from ragstone.features.watch.store import MonitorStore, has_store
from ragstone.features.watch.watching import look_of, utc_today
from ragstone.kernel.config import Settings
from ragstone.kernel.document.html import (
    DrawnChart,
    contents_of,
    draw,
    render_blocks,
)
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.serve.frame import page, query_of
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone.kernel.serve.state import AppState, AtApp

FRESH_S = 10.0
"""Seconds for which a page is shown again without a look at the store."""

A_PAGE = 50


class QuestionsAsked(msgspec.Struct, frozen=True, kw_only=True):
    """Which questions an address asks for. gap: its rank; what is no number is no gap."""

    metric: str = ""
    tag: str = ""
    value: str = ""
    text: str = ""
    gap: str = ""
    page: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


class FramedView(msgspec.Struct, frozen=True):
    """A page of the monitor for the frame of the workbench. has_list: it is the overview, with its list."""

    title: str
    about: str
    html: Markup
    drawn: DrawnChart
    listed: list[tuple[str, str]]
    has_list: bool


def framed(view: MonitorView) -> FramedView:
    """Return what the frame of the workbench shows of a page."""
    document = view.document
    return FramedView(
        title=document.title,
        about=document.about,
        html=render_blocks(document.blocks, **view.values),
        drawn=draw(document.blocks),
        listed=contents_of(document.blocks),
        has_list=document.skip[0] != "list",
    )


RenderedT = TypeVar("RenderedT")


class MonitorPages(Generic[RenderedT]):
    """The page that was made last, and until when it is shown.

    render: a page for whoever shows it. root: where the server has it.
    """

    def __init__(
        self,
        settings: Settings,
        render: Callable[[MonitorView], RenderedT],
        tick: Callable[[], float] = time.monotonic,
        *,
        root: str = "/monitor",
    ) -> None:
        self._settings, self._view, self._tick = settings, render, tick
        self._root = root
        self._folder = settings.path(settings.monitor.store)
        self._made: tuple[float, RenderedT] | None = None
        self._lock = asyncio.Lock()

    async def page(self) -> RenderedT:
        """Return the page, made anew by one request at a time. Raises RefusedRequest without a store."""
        async with self._lock:
            if self._made is None or self._tick() > self._made[0]:
                rendered = await asyncio.to_thread(self._render)
                self._made = (self._tick() + FRESH_S, rendered)
            return self._made[1]

    def _open(self) -> MonitorStore:
        if not has_store(self._folder):
            raise RefusedRequest(
                404, "nothing is monitored yet: run `ragstone watch LOG` in the project's folder"
            )
        return MonitorStore(self._folder)

    def _render(self) -> RenderedT:
        judges = load_judges(map(self._settings.named, self._settings.monitor.judges))
        with self._open() as store:
            look = look_of(store, self._settings, judges, utc_today())
        return self._view(monitor_view(look, served=self._root))

    async def questions(self, request: AnyRequest) -> RenderedT:
        """Return a page of the questions that an address asks for, see QuestionsAsked.

        Raises RefusedRequest for a metric and a gap that there are not.
        """
        return await asyncio.to_thread(self._questions, query_of(request, QuestionsAsked))

    def _questions(self, query: QuestionsAsked) -> RenderedT:
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
                    raise RefusedRequest(404, "this gap no longer exists")
                names = tuple(name for row in latest.gaps[gap - 1].examples for name in row.ids)
                chosen = msgspec.structs.replace(chosen, names=names)
            exchanges = (
                store.scored(metric, chosen, page=page, size=A_PAGE)
                if metric
                else store.exchanges(chosen, page=page, size=A_PAGE)
            )
            items = [Open(seen=row, low=low_in(row, best), gaps=[]) for row in exchanges.rows]
            view = questions_view(
                exchanges,
                items,
                chosen,
                metric=metric,
                gap=gap,
                choices=choices,
                tags=store.tags,
                served=self._root,
            )
        return self._view(view)


def whole_pages(settings: Settings, tick: Callable[[], float] = time.monotonic) -> MonitorPages[str]:
    """Return the pages of the monitor as files of their own, below /monitor."""
    return MonitorPages(settings, render_view, tick)


def pages_of(app: AppState) -> MonitorPages[FramedView]:
    """The pages of the monitor as the workbench shows them."""
    return MonitorPages(app.settings, framed, root="/workbench/monitor")


NOTHING = 404


@get("/monitor")
async def monitor(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the page of the monitor; where nothing is monitored, how to begin."""
    try:
        view = await app.part(pages_of).page()
    except RefusedRequest as refused:
        if refused.status_code != NOTHING:
            raise
        return page(request, "features/watch/no_monitor.html", "Monitor")
    return page(request, "features/watch/monitor.html", view.title, view=view)


@get("/monitor/questions")
async def questions(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give a page of questions: the newest, or the worst in a metric."""
    view = await app.part(pages_of).questions(request)
    return page(request, "features/watch/monitor.html", view.title, view=view)


ROUTES = (monitor, questions)
