"""What the three benches share: what they show, and the settings of a grid."""

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, TypeVar

from ragstone.console.bars import bars
from ragstone.console.printing import say, show, show_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.config import Settings
    from ragstone.console.asking import Asking
    from ragstone.engine.progress import Progress
    from ragstone.report.document import ReportDocument

SummaryT = TypeVar("SummaryT")


def tell_bench(
    summary: SummaryT, made: "Callable[[SummaryT], ReportDocument]", folder: Path, *, json: bool
) -> None:
    """Show what a bench found, and where its page stands."""
    from ragstone.report.render.terminal import render_terminal

    if json:
        show_json(summary)
    else:
        show(render_terminal(made(summary)))
    say(f"Report: {folder / 'report.html'}")


class BenchOptions(TypedDict):
    """How a bench runs."""

    budget: str | None
    deadline: str | None
    offline: bool
    force: bool
    progress: "Progress"


def bench_options(asking: "Asking") -> BenchOptions:
    """Return how a bench runs, as its command says."""
    return {
        "budget": asking.budget,
        "deadline": asking.deadline,
        "offline": asking.offline,
        "force": asking.force,
        "progress": bars,
    }


def grid_settings(asking: "Asking", limit: int | None, seed: int | None) -> "Settings":
    """Return the settings of a file, with the limit and the seed of the command."""
    from ragstone.config import choose

    settings = choose(asking.settings(), "run", seed=seed)
    return choose(settings, "questions", limit=limit)
