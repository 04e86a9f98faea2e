"""Whether all parts work, what is counted, and what the page must know before it begins."""

import asyncio

import msgspec
from litestar import Response, get
from litestar.openapi.datastructures import ResponseSpec

from ragstone.kernel.serve.requests import AnyRequest
from ragstone_assistant.api._problems import fails
from ragstone_assistant.api.state import WithState, owner_of

WITHHELD = "it does not work: ask with a key to read why"


class Health(msgspec.Struct, frozen=True):
    """parts: each "ok", or what is wrong with it."""

    status: str
    parts: dict[str, str]


class PageSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What the chat page shows. filters: tag -> its values. scope: what the assistant is asked about."""

    languages: list[str]
    filters: dict[str, list[str]]
    needs_key: bool
    scope: str


WITHOUT_KEY: list[dict[str, list[str]]] = [{}]


@get(
    "/health",
    summary="Whether all parts work",
    security=WITHOUT_KEY,
    responses={
        200: ResponseSpec(Health, description="All parts work", generate_examples=False),
        503: ResponseSpec(Health, description="A part does not work", generate_examples=False),
        **fails(),
    },
    tags=["operation"],
)
async def health(request: AnyRequest, app_state: WithState) -> Response[Health]:
    """Look at model, documents, log and conversations. It needs no key; where there are keys, only they are
    told what is wrong: that may name addresses, folders and what a provider said.
    """
    parts = await app_state.health()
    if app_state.keys and owner_of(request) is None:
        parts = {part: state if state == "ok" else WITHHELD for part, state in parts.items()}
    well = all(state == "ok" for state in parts.values())
    return Response(Health("ok" if well else "degraded", parts), status_code=200 if well else 503)


@get(
    "/metrics",
    summary="Counters for Prometheus",
    media_type="text/plain",
    responses=fails(),
    tags=["operation"],
)
async def metrics(app_state: WithState) -> Response[bytes]:
    """Give all counters in Prometheus's text format."""
    for part, state in (await app_state.health()).items():
        app_state.metrics.up.labels(part).set(state == "ok")
    return Response(app_state.metrics.text(), media_type="text/plain; version=0.0.4")


@get(
    "/v1/settings",
    summary="Data for the page",
    security=WITHOUT_KEY,
    responses=fails(),
    tags=["chat"],
)
async def settings(app_state: WithState) -> PageSettings:
    """Give languages, filters and scope. It needs no key."""
    assistant = app_state.assistant
    return PageSettings(
        languages=list(assistant.languages),
        filters=await asyncio.to_thread(assistant.knowledge.filters),
        needs_key=bool(app_state.keys),
        scope=assistant.domain.scope("en"),
    )
