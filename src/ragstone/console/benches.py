"""What the three benches share: what they show, and the settings of a grid."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragstone.console.printing import say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.config import Settings
    from ragstone.report.document import Document

SummaryT = TypeVar("SummaryT")


def tell_bench(
    summary: SummaryT, made: "Callable[[SummaryT], Document]", folder: Path, *, json: bool
) -> None:
    """Show what a bench found, and where its page stands."""
    from ragstone.report.render.terminal import render_terminal

    if json:
        show_json(summary)
    else:
        show(render_terminal(made(summary)))
    say(f"Report: {folder / 'report.html'}")


def grid_settings(config: Path | None, limit: int | None, seed: int | None) -> "Settings":
    """Return the settings of a file, with the limit and the seed of the command."""
    from ragstone.config import choose, load_settings

    settings = choose(load_settings(config), "run", seed=seed)
    return choose(settings, "questions", limit=limit)
