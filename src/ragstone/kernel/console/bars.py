"""Progress on standard error: done of how many, calls a second, in flight, retries, spent, time left."""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

    from ragstone.kernel.engine.progress import Advance, State

FRAMES_A_SECOND = 4


@contextlib.contextmanager
def bars(stage: str, total: int | None, state: "Callable[[], State] | None" = None) -> Iterator["Advance"]:
    """Show a bar, and under it what was asked of models; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description:<24}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    progress = Progress(*columns)
    task = progress.add_task(stage, total=total)
    drawn = Group(progress, _Asked(state)) if state else Group(progress)
    with Live(drawn, console=Console(stderr=True), refresh_per_second=FRAMES_A_SECOND):
        yield lambda: progress.advance(task)


class _Asked:
    """The line under the bar, drawn anew with each frame."""

    def __init__(self, state: "Callable[[], State]") -> None:
        self._state = state
        self._n_before = state().made
        self._began = time.monotonic()

    def __rich__(self) -> "Text":
        from rich.text import Text

        state = self._state()
        return Text(asked_now(state, state.made - self._n_before, time.monotonic() - self._began), "dim")


def asked_now(state: "State", n_calls: int, seconds: float) -> str:
    """Return the state in words. n_calls: those of this stage, which has taken so many seconds."""
    from ragstone.kernel.document.numbers import usd

    spent = "cost unknown" if state.spent_usd is None else f"{usd(state.spent_usd)} spent"
    parts = (
        f"{n_calls / max(seconds, 1e-3):.1f} calls/s",
        f"{state.in_flight:,} in flight",
        f"{state.retries:,} retries",
        spent,
    )
    return "  " + " · ".join(parts)
