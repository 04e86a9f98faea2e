"""`ragstone bench judges`: a grid of judges."""

from typing import TYPE_CHECKING

import typer

from ragstone.console.asking import Asking, asks_models, cut_off, leave
from ragstone.console.benches import bench_options, tell_bench
from ragstone.console.columns import reads_rows
from ragstone.console.options import Limit, SeedOfRun
from ragstone.console.printing import UNSCORED

if TYPE_CHECKING:
    from ragstone.config import Settings


@reads_rows
@asks_models("keep_failures")
def judges(
    *,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Compare the judges, models and settings in [bench.judges] on one labelled sheet.

    Examples:

    - `ragstone bench judges`
    - `ragstone bench judges --limit 50 --forecast`
    """
    from ragstone.config import choose
    from ragstone.flows.bench_judges.grid import bench_judges, forecast_judge_bench, judge_bench_folder
    from ragstone.report.benches.judges import judge_bench_document

    settings = limit_sheet(choose(asking.settings(), "run", seed=seed), limit)
    asking.tell_forecast(lambda: forecast_judge_bench(settings))
    summary = bench_judges(settings, **bench_options(asking))
    tell_bench(summary, judge_bench_document, judge_bench_folder(settings), json=asking.json)
    board = summary.board
    if summary.calls:
        statuses = [*cut_off(summary.calls), *(each for row in board.standings for each in row.statuses)]
        leave(statuses, summary.calls, strict=asking.strict)
    if asking.strict and board.failed:
        raise typer.Exit(UNSCORED)


def limit_sheet(settings: "Settings", limit: int | None) -> "Settings":
    """Return the settings with another limit of the labelled sheet, if one is given."""
    import msgspec

    from ragstone.config import choose

    if limit is None:
        return settings
    return choose(settings, "bench", judges=msgspec.structs.replace(settings.bench.judges, limit=limit))
