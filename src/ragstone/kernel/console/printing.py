"""What commands print: results on standard output, everything else on standard error."""

import functools
import os
import shlex
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import typer

from ragstone.kernel.errors import ColumnsError, RagstoneError, harmless
from ragstone.kernel.persistence.private import no_empty_folders
from ragstone.kernel.trust import UntrustedCode, trusting

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ragstone.kernel.document.blocks import Block, ReportDocument

P = ParamSpec("P")
R = TypeVar("R")

STOPPED = "stopped. Finished calls are in the ledger: run the same command again to continue."
FAILED_GATE, WRONG_USE, CANNOT_TELL, OVER_BUDGET, UNSCORED = 1, 2, 3, 4, 5
PIPED_WIDTH = 100  # columns of a screen that is no terminal
TERMINATED = 128 + signal.SIGTERM
_terminated = threading.Event()


def told_plainly(
    command: Callable[P, R], code_for: Callable[[str], str | None] = lambda _: None
) -> Callable[P, R]:
    """Return the command with a user's mistake told in one message and exit code 2, without a traceback.

    code_for: a message -> the code that `ragstone explain` takes, if that says more; a terminal names it.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with no_empty_folders():
                return _asking_for_trust(functools.partial(command, *args, **kwargs))
        except RagstoneError as mistake:
            say(f"ragstone: {mistake}")
            if isinstance(mistake, ColumnsError) and _has_option(command, mistake.options[:1]):
                say(again(mistake.options))
            elif sys.stderr.isatty() and (explained := code_for(str(mistake))):
                say(f"More about it: ragstone explain {explained}")
            if getattr(mistake, "status", None) == "over_budget":  # a CallFailed, which is not imported here
                raise typer.Exit(OVER_BUDGET) from None
        except KeyboardInterrupt as stop:
            say(f"ragstone: {str(stop) or STOPPED}")
            code = TERMINATED if _terminated.is_set() else WRONG_USE
            others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
            if any(not thread.daemon for thread in others):  # Python would wait for it, and it may generate
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
            raise typer.Exit(code) from None
        raise typer.Exit(WRONG_USE)

    return guarded


def _asking_for_trust(command: Callable[[], R]) -> R:
    """Run a command; where it meets code from outside the project, a person on a terminal is asked once."""
    try:
        return command()
    except UntrustedCode as mistake:
        if not on_terminal():
            raise
        say(f"ragstone: {str(mistake).partition(' Read the code')[0]}")
        try:
            if not typer.confirm("Run it?", err=True):
                raise
        except typer.Abort:
            raise mistake from None
    with trusting():
        return command()


def _has_option(command: Callable[..., object], names: list[str]) -> bool:
    """Say whether a command has an option of such a name."""
    notes = (
        metadata
        for note in command.__annotations__.values()
        for metadata in getattr(note, "__metadata__", ())
    )
    spelled = [
        (getattr(note, "default", None), *(getattr(note, "param_decls", None) or ())) for note in notes
    ]
    return any(name in own for own in spelled for name in names)


def again(options: list[str]) -> str:
    """Return the command that was run with further options, ready to be pasted, on a line of its own."""
    return f"Run:\n  {shlex.join([*program(), *sys.argv[1:], *options])}"


def program() -> list[str]:
    """Return how this command line was called: by its name, if a shell finds it, else as it was."""
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return [sys.executable, "-m", "ragstone"]
    path = shutil.which(called.name)
    return [called.name if path and Path(path).absolute() == called.absolute() else str(called)]


def end_on_sigterm() -> None:
    """Let SIGTERM end a command as Ctrl-C does, but for its exit code."""
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(_number: int, frame: FrameType | None) -> None:
    _terminated.set()
    as_ctrl_c = signal.getsignal(signal.SIGINT)  # while a loop runs, it cancels the work
    if callable(as_ctrl_c):
        as_ctrl_c(signal.SIGINT, frame)
    else:  # a shell that starts a command in the background has it ignore Ctrl-C
        raise KeyboardInterrupt


def say(text: str) -> None:
    """Print a line on standard error."""
    sys.stderr.write(f"{harmless(text)}\n")


class _Harmless:
    """A renderable whose words, wherever they come from, do nothing to the terminal."""

    def __init__(self, renderable: "RenderableType") -> None:
        self.renderable = renderable

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        from rich.segment import Segment

        for text, style, control in console.render(self.renderable, options):
            yield Segment(text, style, control) if control else Segment(harmless(text), style)


def show(*renderables: "RenderableType") -> None:
    """Print tables and text on standard output, 100 columns wide where it is no terminal."""
    for renderable in renderables:
        console().print(_Harmless(renderable))
    sys.stdout.flush()


def counts_line(counts: "Mapping[str, int]") -> str:
    """Return `2 pdf, 1,024 text`."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items())


def on_terminal() -> bool:
    """Return whether a person can be asked, and sees the question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def show_json(value: object) -> None:
    """Print a value as one JSON document on standard output, with escapes if its encoding is not UTF-8."""
    import json

    import msgspec

    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    if (sys.stdout.encoding or "utf-8").lower() not in ("utf-8", "utf8"):
        text = json.dumps(json.loads(text), indent=2)
    sys.stdout.write(text + "\n")


def show_found(
    value: object,
    document: "Callable[[], ReportDocument]",
    *,
    json: bool,
    whole: bool,
    lines: int | None = None,
) -> None:
    """Show what a command found: as JSON, or as the document that is made of it; see show_documents."""
    if json:
        show_json(value)
    else:
        show_documents(document(), whole=whole, lines=lines)


def show_documents(*documents: "ReportDocument", whole: bool, lines: int | None = None) -> None:
    """Show what answers first on one screen, or the documents whole. lines: of a screen that others share."""
    from ragstone.kernel.document.screen import LINES, render_screen
    from ragstone.kernel.document.terminal import render_terminal

    if whole:
        show(*map(render_terminal, documents))
    elif documents:
        show(render_screen(documents, console().width, lines or LINES))


def show_blocks(blocks: "Iterable[Block]", *, whole: bool) -> None:
    """Show what has no page as a document is shown; see show_documents."""
    from ragstone.kernel.document.blocks import ReportDocument

    document = ReportDocument(title="", kind="screen", about="", version="", blocks=list(blocks))
    show_documents(document, whole=whole)


@functools.cache
def console() -> "Console":
    """Return the console of standard output."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPED_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)
