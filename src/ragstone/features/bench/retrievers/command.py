"""`ragstone bench retrievers`: a grid of retrievers, or of languages."""

from typing import Annotated

import typer

from ragstone.features.bench.printing import grid_settings, tell_bench
from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Limit, Model, SeedOfRun

BoardMeasure = Annotated[
    str | None,
    typer.Option(
        "--measure", help="Order by this measure, e.g. rank_score; default: [bench.retrievers] measure."
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option("--batch-size", min=1, help="Questions in a batch; default: [bench.retrievers] batch_size."),
]


@reads_rows
@asks_models()
def retrievers(
    *,
    measure: BoardMeasure = None,
    batch_size: BatchSize = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Compare the retrievers in [bench.retrievers] on the same questions.

    Examples:

    - `ragstone bench retrievers`
    - `ragstone bench retrievers --limit 50 --forecast`
    - `ragstone bench retrievers --measure rank_score --batch-size 110`
    """
    import msgspec

    from ragstone.features.bench.retrievers.grid import bench_folder, bench_retrievers, forecast_bench
    from ragstone.features.bench.retrievers.words import bench_document
    from ragstone.kernel.config import choose

    settings = grid_settings(asking, limit, seed)
    given = {"measure": measure, "batch_size": batch_size}
    chosen = {key: value for key, value in given.items() if value is not None}
    settings = choose(
        settings, "bench", retrievers=msgspec.structs.replace(settings.bench.retrievers, **chosen)
    )
    asking.tell_forecast(lambda: forecast_bench(settings))
    summary = bench_retrievers(settings, **asking.limits, force=asking.force)
    tell_bench(summary, bench_document, bench_folder(settings), json=asking.json)
    leave(cut_off(summary.calls), summary.calls, strict=asking.strict, lost=summary.leaderboard.failed)


@reads_rows
@asks_models()
def languages(
    *,
    model: Model = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Measure whether to search documents in the question's language only, or in all languages.

    Examples:

    - `ragstone bench languages`
    - `ragstone bench languages --limit 50`
    """
    from ragstone.features.bench.retrievers.language_words import study_document
    from ragstone.features.bench.retrievers.study import bench_languages, forecast_study, study_folder
    from ragstone.kernel.config import choose

    settings = choose(grid_settings(asking, limit, seed), "answer", model=model)
    asking.tell_forecast(lambda: forecast_study(settings))
    study = bench_languages(settings, **asking.limits, force=asking.force)
    tell_bench(study, study_document, study_folder(settings), json=asking.json)
    lost = study.failed or any(cost.n_unscored for cost in study.costs)
    leave(cut_off(study.calls), study.calls, strict=asking.strict, lost=lost)
