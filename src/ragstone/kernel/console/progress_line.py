"""Progress for who calls from Python: one line a stage, redrawn in place, in a notebook or a terminal."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module

from ragstone.kernel.engine.progress import Advance, State

REDRAW_S = 0.5  # a notebook keeps up with that, and a file of its outputs holds the last line only

Draw = Callable[[str], None]


@contextlib.contextmanager
def progress_line(stage: str, total: int | None, state: Callable[[], State] = State) -> Iterator[Advance]:
    """Show how far a stage is: give it as `progress=ragstone.progress_line`.

    In a notebook the line is one output that is redrawn at most twice a second; in a terminal it is a line of
    standard error; elsewhere nothing is shown.
    """
    draw = _notebook() or (_print_over if sys.stderr.isatty() else None)
    if draw is None:
        yield lambda: None
        return
    done, drawn = 0, time.monotonic()
    draw(_told(stage, done, total, state()))

    def advance() -> None:
        nonlocal done, drawn
        done += 1
        if time.monotonic() - drawn >= REDRAW_S:
            drawn = time.monotonic()
            draw(_told(stage, done, total, state()))

    try:
        yield advance
    finally:
        draw(_told(stage, done, total, state()))
        if _notebook_shell() is None:
            sys.stderr.write("\n")


def _told(stage: str, done: int, total: int | None, state: State) -> str:
    of = f" of {total:,}" if total is not None else ""
    calls = f", {state.made:,} calls" if state.made else ""
    return f"{stage}: {done:,}{of}{calls}"


def _notebook_shell() -> object | None:
    """Return the shell of a kernel, None in a terminal or a script; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell: object | None = ipython.get_ipython() if ipython else None
    return shell if shell is not None and hasattr(shell, "kernel") else None


def _notebook() -> Draw | None:
    if _notebook_shell() is None:
        return None
    display = import_module("IPython.display")
    handle = display.DisplayHandle()
    begun = False

    def draw(line: str) -> None:
        nonlocal begun
        bundle = {"text/plain": line}
        (handle.update if begun else handle.display)(bundle, raw=True)
        begun = True

    return draw


def _print_over(line: str) -> None:
    """Write a line over the one that stands there."""
    sys.stderr.write(f"\r\x1b[K{line}")
    sys.stderr.flush()
