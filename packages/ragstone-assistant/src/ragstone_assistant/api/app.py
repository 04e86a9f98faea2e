"""The HTTP API of an assistant, as an ASGI application."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import ControllerRouterHandler

from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.serve.headers import methods_of
from ragstone.kernel.serve.keys import digests
from ragstone.kernel.serve.requests import JsonRequest
from ragstone.kernel.version import __version__
from ragstone_assistant.api import _chat as chat
from ragstone_assistant.api import _documents as documents
from ragstone_assistant.api import _status as status
from ragstone_assistant.api._gate import UPLOADS, body_limit, check_admins, gated
from ragstone_assistant.api._history import Conversations
from ragstone_assistant.api._problems import problem_response
from ragstone_assistant.api.state import ChatState, Clocks
from ragstone_assistant.assistant import Assistant
from ragstone_assistant.page import page

ROUTES: tuple[ControllerRouterHandler, ...] = (
    chat.chat_completions,
    chat.models,
    chat.model_card,
    chat.begin_conversation,
    chat.list_conversations,
    chat.read_conversation,
    chat.delete_conversation,
    chat.give_feedback,
    documents.retrieve,
    documents.answer,
    documents.passage,
    documents.remove_document,
    documents.rebuild,
    documents.read_job,
    documents.stop_job,
    status.health,
    status.metrics,
    status.settings,
    page.page,
    page.asset,
)


def create_app(
    assistant: Assistant,
    serve: ServeSection,
    *,
    folder: Path,
    keys: Mapping[str, str] | None = None,
    k: int = 5,
    routes: Sequence[ControllerRouterHandler] = (),
    clocks: Clocks | None = None,
) -> Litestar:
    """Return the application. It owns the conversations, which it closes at its end; not the assistant.

    folder: conversations are kept there. keys: name -> key; none: whoever reaches it may ask. k: passages
    that /v1/retrieve brings where the request does not say. routes: further pages, behind the same gate.
    Raises ConfigError for admin_keys without a key and for two names with the same key.
    """
    held = digests(keys or {})
    check_admins(serve.admin_keys, held)
    conversations = Conversations(folder, serve.keep_days)
    app_state = ChatState(assistant, serve, held, conversations, clocks=clocks or Clocks(), k=k)

    @asynccontextmanager
    async def lifespan(_app: Litestar) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await app_state.jobs.close()
            app_state.conversations.close()

    uploads = Router(
        "/",
        route_handlers=[documents.list_documents, documents.add_document],
        request_max_body_size=body_limit(UPLOADS, app_state),
    )
    app = Litestar(
        [*ROUTES, uploads, *routes],
        dependencies={"app_state": Provide(lambda: app_state, sync_to_thread=False)},
        exception_handlers={Exception: problem_response},
        lifespan=[lifespan],
        logging_config=None,
        openapi_config=_openapi_config(bool(held)),
        request_class=JsonRequest,
        request_max_body_size=body_limit("", app_state),
    )
    app.asgi_handler = gated(app.asgi_handler, app_state, methods_of(app))
    return app


def _openapi_config(needs_key: bool) -> OpenAPIConfig:
    bearer = SecurityScheme(type="http", scheme="bearer", description="A key of the keys_file")
    return OpenAPIConfig(
        title="Ragstone assistant",
        version=__version__,
        path="/openapi.json",
        render_plugins=[JsonRenderPlugin(path="/")],
        components=Components(security_schemes={"key": bearer}),
        security=[{"key": []}] if needs_key else None,
    )
