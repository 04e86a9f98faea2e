"""What the three benches share: what they show, and the settings of a grid."""

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from ragstone.kernel.console.printing import say, show_found

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.kernel.config import Settings
    from ragstone.kernel.console.asking import Asking
    from ragstone.kernel.document.blocks import ReportDocument

SummaryT = TypeVar("SummaryT")


def tell_bench(
    summary: SummaryT, made: "Callable[[SummaryT], ReportDocument]", folder: Path, *, json: bool
) -> None:
    """Show what a bench found, and where its page stands."""
    show_found(summary, lambda: made(summary), json=json)
    say(f"Report: {folder / 'report.html'}")


def grid_settings(asking: "Asking", limit: int | None, seed: int | None) -> "Settings":
    """Return the settings of a file, with the limit and the seed of the command."""
    from ragstone.kernel.config import choose

    settings = choose(asking.settings(), "run", seed=seed)
    return choose(settings, "questions", limit=limit)
