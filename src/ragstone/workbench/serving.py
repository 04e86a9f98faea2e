"""What `ragstone serve FOLDER` means; and a server of the workbench, and of the assistant beside it."""

import asyncio
import contextlib
import errno
import gc
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.assistant.api.app import create_app
from ragstone.assistant.api.gate import read_keys
from ragstone.assistant.assistant import Assistant
from ragstone.assistant.knowledge.knowledge_base import CATALOGUE
from ragstone.config import Settings, declared_tables, load_settings
from ragstone.config.loading import DEFAULT_FILE
from ragstone.errors import ConfigError, DataError, optional_package
from ragstone.monitor.traces import is_trace_file
from ragstone.workbench.accounts import needs_accounts
from ragstone.workbench.bare_files import link_files

if TYPE_CHECKING:
    from litestar import Litestar


MANIFEST = "manifest.json"


class Project(msgspec.Struct, frozen=True):
    """What is served. assistant: whether there is one beside the workbench. opened: runs of bare files."""

    settings: Settings
    assistant: bool
    opened: list[Path] = []


def project_at(paths: Sequence[Path], config: Path | None = None, model: str | None = None) -> Project:
    """Return the project of a folder, default this one; or this one with files of rows as further runs.

    A folder that holds runs and no ragstone.toml is shown as it is: labels and accounts are then kept where
    the command runs, with its settings. An assistant is served where `[assistant]` is declared or its
    knowledge base is built, and where a model is given. Raises DataError for what is not there, for a file
    that holds neither judgements nor answers, and what load_settings raises.
    """
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise DataError(
            f"{missing}: no such folder or file. Name a project's folder, one of runs, or judgements."
        )
    if paths and not any(path.is_dir() for path in paths):
        settings = load_settings(config)
        opened = link_files(settings, paths)
        traces = [str(path.resolve()) for path in paths if is_trace_file(path)]
        shown = msgspec.structs.replace(settings.workbench, traces=[*settings.workbench.traces, *traces])
        settings = msgspec.structs.replace(settings, workbench=shown)
        return Project(settings, assistant=model is not None, opened=opened)
    if len(paths) > 1:
        raise DataError("name one folder, or files of judgements and answers: a folder goes alone.")
    return _project_in(paths[0] if paths else None, config, model)


def _project_in(folder: Path | None, config: Path | None, model: str | None) -> Project:
    if folder is not None and config is None:
        if (folder / DEFAULT_FILE).is_file():
            config = folder / DEFAULT_FILE
        elif not _runs_in(folder):
            return _project(Settings(root=str(folder)), declared=False, model=model)
    settings = load_settings(config)
    runs = _runs_in(folder) if folder is not None else None
    if runs is None or (config and folder == config.parent):
        return _project(settings, declared="assistant" in declared_tables(config), model=model)
    shown = msgspec.structs.replace(settings.workbench, runs=[str(runs.resolve())])
    return Project(msgspec.structs.replace(settings, workbench=shown), assistant=model is not None)


def _runs_in(folder: Path) -> Path | None:
    """Return the folder whose folders are runs: this one, or that of the run which it is."""
    if (folder / MANIFEST).is_file():
        return folder.resolve().parent
    return folder if any(folder.glob(f"*/{MANIFEST}")) else None


def _project(settings: Settings, *, declared: bool, model: str | None) -> Project:
    built = (settings.path(settings.assistant.store) / CATALOGUE).is_file()
    return Project(settings, assistant=declared or built or model is not None)


GRACE_S = 20
"""Seconds that replies under way may still take after the server was told to stop."""
BACKLOG = 2048
SWITCH_S = 0.001
"""So long a thread that computes keeps the interpreter while the loop waits for it."""


def check_public(settings: Settings) -> None:
    """Check that who reaches the assistant needs a key, unless only this machine does. Raises ConfigError."""
    serve = settings.serve
    if serve.keys_file is None and needs_accounts(settings):
        named = f"public_url = {serve.public_url!r}" if serve.public_url else f"host = {serve.host!r}"
        raise ConfigError(
            f"[serve] {named}: everybody who reaches it could ask the assistant, change the documents and "
            "spend your money. Write a keys_file (see docs/serve.md), or listen on 127.0.0.1, behind a proxy "
            "that asks who it is."
        )


def keys_of(settings: Settings) -> dict[str, str] | None:
    """Return the keys of `[serve]`, None where there is no keys_file. Raises what read_keys raises."""
    serve = settings.serve
    return read_keys(settings.path(serve.keys_file)) if serve.keys_file else None


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that is bound; port 0 takes a free one. Raises ConfigError with what to do."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host.strip("[]"), port))
    except OSError as mistake:
        bound.close()
        raise ConfigError(_unbound(host, port, mistake)) from None
    return bound


def _unbound(host: str, port: int, mistake: OSError) -> str:
    if mistake.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is taken: another server runs there. Stop it, or choose another port "
            "with --port; --port 0 takes a free one."
        )
    if mistake.errno in (errno.EACCES, errno.EPERM):
        return f"port {port} may not be opened by you: choose one above 1023 with --port."
    return f"cannot listen on {host!r}, port {port} ({mistake}). Check --host: 127.0.0.1 is this machine."


def address_of(bound: socket.socket) -> str:
    """Return the address of a socket as one opens it in a browser."""
    host, port = bound.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"


async def serve_project(
    settings: Settings,
    bound: socket.socket,
    *,
    ready: Callable[[str], None],
    assistant: Assistant | None = None,
    routes: Sequence[Any] = (),
    otlp: bool = False,
) -> None:
    """Serve until SIGTERM or Ctrl-C; replies under way may then still take 20 seconds.

    ready: is told the address when requests are answered. routes: further pages of the assistant's. otlp:
    spans are taken at /v1/traces. Raises ConfigError for keys that are no keys, MissingExtra without the
    packages.
    """
    with optional_package("serving", "serve"):
        import uvicorn

        from ragstone.workbench.app import create_workbench, side_by_side
        from ragstone.workbench.collecting import open_receiver
        from ragstone.workbench.connections import limited
    chat = _app_of(assistant, settings, routes) if assistant is not None else None
    app = side_by_side(create_workbench(settings), chat, open_receiver(settings) if otlp else None)
    config = uvicorn.Config(
        app,
        http=limited(settings.serve.max_connections),
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips=settings.serve.trusted_proxies,
        timeout_graceful_shutdown=GRACE_S,
        backlog=BACKLOG,
        lifespan="on",
    )

    class Server(uvicorn.Server):
        """Tells when it is ready; when it is told to stop it ends, and raises no signal once more."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready(address_of(bound))

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            # uvicorn's own raises the signal again at the end, which would kill the process before the log
            # and the session are closed.
            with _heard(lambda number: self.handle_exit(number, None)):
                yield

    with _no_long_waits():
        await Server(config).serve(sockets=[bound])


@contextlib.contextmanager
def _no_long_waits() -> Iterator[None]:
    """Let the loop have the interpreter soon within the block, whatever threads compute."""
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_S)
    # What is there by now stays: else all requests wait some 0.2 s each time it is gone through.
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        sys.setswitchinterval(interval_s)
        gc.unfreeze()


def _app_of(assistant: Assistant, settings: Settings, routes: Sequence[Any]) -> "Litestar":
    section = settings.assistant
    folder, keys = settings.path(section.store), keys_of(settings)
    return create_app(assistant, settings.serve, folder=folder, keys=keys, k=section.k, routes=routes)


@contextlib.contextmanager
def _heard(stop: Callable[[int], None]) -> Iterator[None]:
    """Call `stop` with SIGINT and SIGTERM within the block; a thread that is not the main one hears none."""
    loop = asyncio.get_running_loop()
    heard: list[int] = []
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C cancels this task
                loop.add_signal_handler(number, stop, number)
                heard.append(number)
    try:
        yield
    finally:
        for caught in heard:
            loop.remove_signal_handler(caught)
