"""`ragstone serve`: the workbench, and the assistant beside it, until Ctrl-C."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.options import Config, Model
from ragstone.kernel.console.printing import say, show

if TYPE_CHECKING:
    import socket

    from ragstone.kernel.config import Settings


def serve(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="A project, a folder of runs, or files of judgements and answers; default this folder."
        ),
    ] = None,
    *,
    config: Config = None,
    host: Annotated[
        str | None, typer.Option("--host", help="The address to listen on; default that of [serve].")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65_535, help="0 picks a free one; default 8000.")
    ] = None,
    model: Model = None,
    otlp: Annotated[
        bool,
        typer.Option(
            "--otlp",
            help="Receive OpenTelemetry traces at /v1/traces and events at /v1/logs; see [serve.otlp].",
        ),
    ] = False,
) -> None:
    """Serve the workbench (runs, comparisons, labelling, judges) and the assistant, if there is one.

    The assistant is a chat page and an OpenAI-compatible API. It is served if ragstone.toml has
    `[assistant]`, if its knowledge base is built, or with `--model`. On this machine nobody logs in. On any
    other address the workbench needs accounts, and the assistant a `keys_file` in `[serve]`. On Ctrl-C,
    replies in progress are finished first.

    A file of judgements is opened as a separate run; an answer sheet given with it provides the texts.

    Examples:

    - `ragstone serve runs/`
    - `ragstone serve judgements.jsonl answers.jsonl`
    - `ragstone serve --port 0 --model openai/gpt-4o-mini`
    - `ragstone serve --otlp`
    """
    from ragstone.kernel.config import choose
    from ragstone.kernel.engine.local import run_sync
    from ragstone.kernel.errors import optional_package

    with optional_package("`ragstone serve`", "serve"):
        from ragstone.features.watch.collecting import sender_keys
        from ragstone.kernel.serve.server import address_of, listen
        from ragstone.workbench.serving import check_public, keys_of, project_at

    project = project_at(paths or [], config, model)
    settings = choose(project.settings, "serve", host=host, port=port)
    settings = choose(settings, "assistant", model=model)
    if otlp:
        sender_keys(settings)
    if project.assistant:
        with optional_package("the assistant", "assistant"):
            import_module("ragstone.workbench.chat")
        check_public(settings)
        keys_of(settings)  # a file that is missing is told before the assistant is opened, which takes long
    bound = listen(settings.serve.host, settings.serve.port)
    address = settings.serve.public_url or address_of(bound)
    _invite_first(settings, address.rstrip("/"))
    try:
        if project.assistant:
            run_sync(_with_assistant(settings, bound, otlp=otlp))
        else:
            run_sync(_alone(settings, bound, project.opened, otlp=otlp))
    finally:
        bound.close()


def _invite_first(settings: "Settings", address: str) -> None:
    """Say how the first owner comes in, where people log in and nobody has an account yet."""
    from ragstone.kernel.serve.headers import needs_accounts
    from ragstone.workbench.account_pages import invitation_link
    from ragstone.workbench.accounts import open_accounts

    if not needs_accounts(settings):
        return
    accounts = open_accounts(settings)
    token = accounts.invite_first("whoever started the server")
    accounts.close()
    if token is not None:
        say(
            "There are no accounts here yet. This link creates the first one, an owner's; it works once, "
            "within 7 days:"
        )
        say(f"  {invitation_link(address, token)}")


def _tell_of_traces(settings: "Settings", address: str) -> None:
    from ragstone.features.watch.otlp_decoding import has_protobuf

    say(
        f"Traces are received at {address}/v1/traces and events at {address}/v1/logs, masked, and written "
        f"to {settings.serve.otlp.folder}."
    )
    if not has_protobuf():
        say("JSON only. For protobuf, run: pip install 'ragstone[telemetry]'")


async def _alone(settings: "Settings", bound: "socket.socket", opened: list[Path], *, otlp: bool) -> None:
    from urllib.parse import quote

    from ragstone.workbench.serving import serve_project

    def ready(address: str) -> None:
        show(address)
        if otlp:
            _tell_of_traces(settings, address)
        say(f"The workbench is at {address}/workbench/. Ctrl-C stops it.")
        for run in opened:
            say(f"  {run.name}: {address}/workbench/runs/{len(settings.workbench.runs)}/{quote(run.name)}")
        if settings.workbench.traces:
            say(f"  traces: {address}/workbench/traces")
        if not opened and not any(settings.path(name).is_dir() for name in settings.workbench.runs):
            say("There are no runs here yet: make one with `ragstone run`, or name their folder.")

    await serve_project(settings, bound, ready=ready, otlp=otlp)


async def _with_assistant(settings: "Settings", bound: "socket.socket", *, otlp: bool) -> None:
    from ragstone.workbench.chat import chat_app, open_assistant
    from ragstone.workbench.serving import serve_project

    def ready(address: str) -> None:
        show(address)
        if otlp:
            _tell_of_traces(settings, address)
        say(f"The chat page is at {address}, the API at {address}/v1.")
        say(f"The workbench is at {address}/workbench/. Ctrl-C stops both.")

    say("Getting ready: embeddings that are kept are used again, others are computed now.")
    async with open_assistant(settings) as assistant:
        for part, state in (await assistant.health()).items():
            if state != "ok":
                say(f"{part}: {state}")
        await serve_project(settings, bound, ready=ready, chat=chat_app(assistant, settings), otlp=otlp)
