"""`ragstone serve`: the assistant, its API and its chat page, until Ctrl-C."""

from typing import Annotated

import typer

from ragstone.cli.console import say, show
from ragstone.cli.options import Config, Model


def serve(
    *,
    config: Config = None,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on; default that of [serve].")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="0 takes a free one; default 8000.")
    ] = None,
    model: Model = None,
) -> None:
    """Serve the assistant: its chat page, an API that OpenAI's clients speak, health and metrics.

    It listens on this machine only; on another address it wants a `keys_file` in `[serve]`. Build its
    knowledge base first with `ragstone assistant build`. Ctrl-C lets replies under way come to their end.
    """
    from ragstone.config import choose, load_settings
    from ragstone.engine import run_sync
    from ragstone.engine.assistant import open_assistant
    from ragstone.web.monitor_routes import monitor_routes
    from ragstone.web.serving import check_public, keys_of, listen, serve_assistant

    settings = choose(load_settings(config), "serve", host=host, port=port)
    settings = choose(settings, "assistant", model=model)
    check_public(settings)
    keys_of(settings)  # a file that is missing is told before the assistant is opened, which takes long
    bound = listen(settings.serve.host, settings.serve.port)

    def ready(address: str) -> None:
        show(address)
        say(f"The chat page is at {address}, the API at {address}/v1. Ctrl-C stops it.")

    say("Getting ready: the first start embeds what questions are compared with, later ones have it.")

    async def run() -> None:
        async with open_assistant(settings) as assistant:
            for part, state in (await assistant.health()).items():
                if state != "ok":
                    say(f"{part}: {state}")
            await serve_assistant(assistant, settings, bound, ready=ready, routes=monitor_routes(settings))

    try:
        run_sync(run())
    finally:
        bound.close()
