"""`ragstone bench answerers`: a grid of models and prompts that answer."""

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.features.bench.printing import tell_bench
from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Limit, SeedOfRun

if TYPE_CHECKING:
    from ragstone.kernel.config import Settings


@reads_rows
@asks_models("keep_failures", "trust")
def answerers(
    *,
    race: Annotated[
        bool, typer.Option("--race", help="Stop a configuration early once it is clearly worse.")
    ] = False,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Compare the models and prompts in [bench.answerers], under each condition.

    Examples:

    - `ragstone bench answerers`
    - `ragstone bench answerers --race --budget 5usd`
    """
    from ragstone.features.bench.answerers.grid import (
        answer_bench_folder,
        bench_answerers,
        forecast_answer_bench,
    )
    from ragstone.features.bench.answerers.words import answer_bench_document
    from ragstone.kernel.config import choose

    settings = limit_questions(choose(asking.settings(), "run", seed=seed), limit, race)
    asking.tell_forecast(lambda: forecast_answer_bench(settings))
    summary = bench_answerers(settings, **asking.limits, force=asking.force)
    tell_bench(summary, answer_bench_document, answer_bench_folder(settings), json=asking.json)
    board = summary.board
    rows = [counts for row in board.standings for counts in row.statuses.values()]
    statuses = [*cut_off(summary.calls), *(each for row in rows for each in row)]
    leave(statuses, summary.calls, strict=asking.strict, lost=board.failed)


def limit_questions(settings: "Settings", limit: int | None, race: bool) -> "Settings":
    """Return the settings with another limit of the questions of the bench of answerers, if one is given.

    race: make it a race, also where the settings do not.
    """
    import msgspec

    from ragstone.kernel.config import choose

    declared = settings.bench.answerers
    replaced = msgspec.structs.replace(declared, limit=limit or declared.limit, race=race or declared.race)
    return choose(settings, "bench", answerers=replaced)
