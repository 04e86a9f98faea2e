"""`ragstone bench`: grids of retrievers, languages, judges and answerers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ragstone.kernel.console.asking import Asking, asks_models, cut_off, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import Limit, Model, SeedOfRun
from ragstone.kernel.console.printing import say, show_found

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.kernel.config import Settings
    from ragstone.kernel.document.blocks import ReportDocument

SummaryT = TypeVar("SummaryT")


def _show(
    summary: SummaryT, document: "Callable[[SummaryT], ReportDocument]", folder: Path, asking: Asking
) -> None:
    """Show what a bench found, and where its page is."""
    show_found(summary, lambda: document(summary), json=asking.json, whole=asking.whole)
    say(f"Report: {folder / 'report.html'}")


def _settings(
    asking: Asking, section: str, seed: int | None, n_questions: int | None = None, **keys: object
) -> "Settings":
    """Return the settings of a file, with the seed, a limit of questions and keys of a bench as given."""
    import msgspec

    from ragstone.kernel.config import choose

    settings = asking.settings(run={"seed": seed}, questions={"limit": n_questions})
    chosen = {key: value for key, value in keys.items() if value is not None}
    if not chosen:
        return settings
    declared = msgspec.structs.replace(getattr(settings.bench, section), **chosen)
    return choose(settings, "bench", **{section: declared})


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
@asks_models("whole")
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
    from ragstone.features.bench._running import bench_path
    from ragstone.features.bench.retrievers.grid import bench_retrievers, forecast_bench
    from ragstone.features.bench.retrievers.words import bench_document

    settings = _settings(asking, "retrievers", seed, limit, measure=measure, batch_size=batch_size)
    asking.tell_forecast(lambda: forecast_bench(settings))
    summary = bench_retrievers(settings, **asking.limits, force=asking.force)
    _show(summary, bench_document, bench_path(settings, "retrievers"), asking)
    leave(cut_off(summary.calls), summary.calls, strict=asking.strict, lost=summary.leaderboard.failed)


@reads_rows
@asks_models("whole")
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
    from ragstone.features.bench._running import bench_path
    from ragstone.features.bench.languages.study import bench_languages, forecast_study
    from ragstone.features.bench.languages.words import study_document

    settings = asking.settings(run={"seed": seed}, questions={"limit": limit}, answer={"model": model})
    asking.tell_forecast(lambda: forecast_study(settings))
    study = bench_languages(settings, **asking.limits, force=asking.force)
    _show(study, study_document, bench_path(settings, "languages"), asking)
    lost = study.failed or any(cost.n_unscored for cost in study.costs)
    leave(cut_off(study.calls), study.calls, strict=asking.strict, lost=lost)


OnSuite = Annotated[
    bool,
    typer.Option("--suite", help="Measure judges on the labelled rows that ship, instead of [bench.judges]."),
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
@asks_models("keep_failures", "trust", "whole")
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
    from ragstone.features.bench._running import bench_path
    from ragstone.features.bench.judges.grid import bench_judges, forecast_judge_bench
    from ragstone.features.bench.judges.words import judge_bench_document
    from ragstone.kernel.errors import ConfigError

    if suite:
        settings = _settings(asking, "judges", seed)
        if limit is not None:
            raise ConfigError("--limit is for the sheet of [bench.judges]; with --suite, use --sample.")
        _suite(settings, judge, model, sample, asking)
        return
    settings = _settings(asking, "judges", seed, limit=limit)
    for name, key, value in (
        ("--judge", "judges", judge),
        ("--model", "models", model),
        ("--sample", "limit", sample),
    ):
        if value is not None:
            raise ConfigError(f"{name} needs --suite. Without it, give {key} in [bench.judges].")
    asking.tell_forecast(lambda: forecast_judge_bench(settings))
    summary = bench_judges(settings, **asking.limits, force=asking.force)
    _show(summary, judge_bench_document, bench_path(settings, "judges"), asking)
    statuses = [*cut_off(summary.calls), *(each for row in summary.board.standings for each in row.statuses)]
    leave(statuses, summary.calls, strict=asking.strict, lost=summary.board.failed)


def _suite(
    settings: "Settings",
    judges: list[str] | None,
    models: list[str] | None,
    sample: int | None,
    asking: Asking,
) -> None:
    from ragstone.features.bench._running import run_bench
    from ragstone.features.bench.suite.judging import forecast_suite, plan_suite, run_suite
    from ragstone.features.bench.suite.words import suite_document

    if settings.bench.judges.sheet is not None:
        say("--suite judges its own rows: the sheet and the grid of [bench.judges] are not used.")
    plan = plan_suite(settings, judges=judges, models=models, sample=sample)
    asking.tell_forecast(lambda: forecast_suite(plan))
    summary = run_bench(run_suite, plan, **asking.limits, force=asking.force)
    _show(summary, suite_document, plan.folder, asking)
    statuses = [*cut_off(summary.calls), *(each for card in summary.cards for each in card.statuses)]
    leave(statuses, summary.calls, strict=asking.strict, lost=summary.failed)


@reads_rows
@asks_models("keep_failures", "trust", "whole")
def answerers(
    *,
    race: Annotated[
        bool, typer.Option("--race", help="Stop a configuration early once it is clearly worse.")
    ] = False,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", help="People's labels of these answers, each with its cell as system: rank by them."
        ),
    ] = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    asking: Asking,
) -> None:
    """Compare the models and prompts in [bench.answerers], under each condition.

    Examples:

    - `ragstone bench answerers`
    - `ragstone bench answerers --race --budget 5usd`
    - `ragstone bench answerers --labels people.jsonl`
    """
    from ragstone.features.bench._running import bench_path
    from ragstone.features.bench.answerers.grid import (
        bench_answerers,
        forecast_answer_bench,
    )
    from ragstone.features.bench.answerers.words import answer_bench_document

    named = str(labels.resolve()) if labels else None
    settings = _settings(asking, "answerers", seed, limit=limit, race=race or None, labels=named)
    asking.tell_forecast(lambda: forecast_answer_bench(settings))
    summary = bench_answerers(settings, **asking.limits, force=asking.force)
    _show(summary, answer_bench_document, bench_path(settings, "answerers"), asking)
    board = summary.board
    rows = [counts for row in board.standings for counts in row.statuses.values()]
    statuses = [*cut_off(summary.calls), *(each for row in rows for each in row)]
    leave(statuses, summary.calls, strict=asking.strict, lost=board.failed)
