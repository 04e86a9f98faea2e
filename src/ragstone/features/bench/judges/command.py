"""`ragstone bench judges`: a grid of judges."""

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.features.bench.printing import tell_bench
from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Limit, SeedOfRun
from ragstone.kernel.console.printing import say

if TYPE_CHECKING:
    from ragstone.kernel.config import Settings


OnSuite = Annotated[
    bool,
    typer.Option(
        "--suite", help="Measure judges on the labelled rows that ship, in place of [bench.judges]."
    ),
]
OfSuite = Annotated[
    list[str] | None,
    typer.Option("--judge", help="With --suite: a judge's name or .toml file; may be repeated."),
]
AskedBySuite = Annotated[
    list[str] | None,
    typer.Option("--model", help="With --suite: the model to ask, transport/model; may be repeated."),
]
Sample = Annotated[
    int | None, typer.Option("--sample", min=1, help="With --suite: judge only this many of its rows.")
]


@reads_rows
@asks_models("keep_failures", "trust")
def judges(
    *,
    suite: OnSuite = False,
    judge: OfSuite = None,
    model: AskedBySuite = None,
    sample: Sample = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Compare the judges, models and settings in [bench.judges] on one labelled sheet.

    Examples:

    - `ragstone bench judges`
    - `ragstone bench judges --limit 50 --forecast`
    - `ragstone bench judges --suite --model openai/gpt-4o-mini --sample 100`
    """
    from ragstone.kernel.config import choose

    settings = choose(asking.settings(), "run", seed=seed)
    if suite:
        _check_of_grid(limit)
        _suite(settings, judge, model, sample, asking)
    else:
        _check_of_suite({"--judge": judge, "--model": model, "--sample": sample})
        _grid(limit_sheet(settings, limit), asking)


def _check_of_grid(limit: int | None) -> None:
    """Raise ConfigError for an option that says how much of a sheet is read."""
    from ragstone.kernel.errors import ConfigError

    if limit is not None:
        raise ConfigError("--limit is for the sheet of [bench.judges]; with --suite it is --sample.")


def _check_of_suite(given: dict[str, object]) -> None:
    """Raise ConfigError for options of the suite alone."""
    from ragstone.kernel.errors import ConfigError

    for name, value in given.items():
        if value is not None:
            key = {"--judge": "judges", "--model": "models", "--sample": "limit"}[name]
            raise ConfigError(f"{name} needs --suite. Without it, give {key} in [bench.judges].")


def _suite(
    settings: "Settings",
    judges: list[str] | None,
    models: list[str] | None,
    sample: int | None,
    asking: Asking,
) -> None:
    from ragstone.features.bench.suite.judging import forecast_suite, plan_suite, run_suite
    from ragstone.features.bench.suite.words import suite_document

    if settings.bench.judges.sheet is not None:
        say("--suite judges rows of its own: sheet and the grid of [bench.judges] are not used.")
    plan = plan_suite(settings, judges=judges, models=models, sample=sample)
    asking.tell_forecast(lambda: forecast_suite(plan))
    summary = run_suite(plan, asking.session, force=asking.force)
    tell_bench(summary, suite_document, plan.folder, json=asking.json)
    statuses = [*cut_off(summary.calls), *(each for card in summary.cards for each in card.statuses)]
    leave(statuses, summary.calls, strict=asking.strict, lost=summary.failed)


def _grid(settings: "Settings", asking: Asking) -> None:
    from ragstone.features.bench.judges.grid import bench_judges, forecast_judge_bench, judge_bench_folder
    from ragstone.features.bench.judges.words import judge_bench_document

    asking.tell_forecast(lambda: forecast_judge_bench(settings))
    summary = bench_judges(settings, **asking.limits, force=asking.force)
    tell_bench(summary, judge_bench_document, judge_bench_folder(settings), json=asking.json)
    board = summary.board
    statuses = [*cut_off(summary.calls), *(each for row in board.standings for each in row.statuses)]
    leave(statuses, summary.calls, strict=asking.strict, lost=board.failed)


def limit_sheet(settings: "Settings", limit: int | None) -> "Settings":
    """Return the settings with another limit of the labelled sheet, if one is given."""
    import msgspec

    from ragstone.kernel.config import choose

    if limit is None:
        return settings
    return choose(settings, "bench", judges=msgspec.structs.replace(settings.bench.judges, limit=limit))
