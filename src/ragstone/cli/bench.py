"""`ragstone bench`: a grid of ragstone.toml -> which is better, and whether that is more than chance."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from ragstone.cli.asking import cut_off, leave, replaying, tell_forecast
from ragstone.cli.bars import bars
from ragstone.cli.console import UNSCORED, say, show, show_json, told_plainly
from ragstone.cli.options import (
    AsJson,
    BudgetCap,
    Config,
    Deadline,
    Force,
    ForecastOnly,
    KeepFailures,
    Limit,
    Model,
    Offline,
    SeedOfRun,
    Strict,
    Yes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ragstone.config import Settings
    from ragstone.report.document import Document

SummaryT = TypeVar("SummaryT")

bench = typer.Typer(
    name="bench",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="A grid of ragstone.toml: which is better, and is that more than chance?",
)


def retrievers(
    *,
    config: Config = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Measure every configuration that [bench.retrievers] declares, on the same questions."""
    from ragstone.engine import bench_folder, bench_retrievers, forecast_bench
    from ragstone.llm import parse_caps
    from ragstone.report.benches.retrievers import bench_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = _settings(config, limit, seed)
    if forecast or not offline:
        tell_forecast(forecast_bench(settings), only=forecast, yes=yes, json=json)
    summary = bench_retrievers(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    _tell(summary, bench_document, bench_folder(settings), json=json)
    leave(cut_off(summary.calls), summary.calls, strict=strict)
    if strict and summary.leaderboard.failed:
        raise typer.Exit(UNSCORED)


def languages(
    *,
    config: Config = None,
    model: Model = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Study whether translations of the documents help: the own language's index against that of all."""
    from ragstone.config import choose
    from ragstone.engine import bench_languages, forecast_study, study_folder
    from ragstone.llm import parse_caps
    from ragstone.report.benches.languages import study_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = choose(_settings(config, limit, seed), "answer", model=model)
    if forecast or not offline:
        tell_forecast(forecast_study(settings), only=forecast, yes=yes, json=json)
    study = bench_languages(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    _tell(study, study_document, study_folder(settings), json=json)
    leave(cut_off(study.calls), study.calls, strict=strict)
    if strict and (study.failed or any(cost.n_unscored for cost in study.costs)):
        raise typer.Exit(UNSCORED)


def judges(
    *,
    config: Config = None,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    keep_failures: KeepFailures = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Measure every judge, model and way to ask that [bench.judges] declares on one labelled sheet."""
    from ragstone.config import choose, load_settings
    from ragstone.engine import bench_judges, forecast_judge_bench, judge_bench_folder
    from ragstone.llm import parse_caps
    from ragstone.report.benches.judges import judge_bench_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = limit_sheet(choose(load_settings(config), "run", seed=seed), limit)
    settings = replaying(settings, keep_failures)
    if forecast or not offline:
        tell_forecast(forecast_judge_bench(settings), only=forecast, yes=yes, json=json)
    summary = bench_judges(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    _tell(summary, judge_bench_document, judge_bench_folder(settings), json=json)
    board = summary.board
    if summary.calls:
        statuses = [*cut_off(summary.calls), *(each for row in board.standings for each in row.statuses)]
        leave(statuses, summary.calls, strict=strict)
    if strict and board.failed:
        raise typer.Exit(UNSCORED)


def answerers(
    *,
    config: Config = None,
    race: Annotated[
        bool, typer.Option("--race", help="Stop configurations that are worse beyond doubt early.")
    ] = False,
    limit: Limit = None,
    seed: SeedOfRun = None,
    budget: BudgetCap = None,
    deadline: Deadline = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    keep_failures: KeepFailures = False,
    force: Force = False,
    strict: Strict = False,
    json: AsJson = False,
) -> None:
    """Answer the questions with every model and prompt of [bench.answerers], under each condition."""
    from ragstone.config import choose, load_settings
    from ragstone.engine import answer_bench_folder, bench_answerers, forecast_answer_bench
    from ragstone.llm import parse_caps
    from ragstone.report.benches.answerers import answer_bench_document

    parse_caps(budget, deadline)  # a mistake in them is told before anything is read
    settings = limit_questions(choose(load_settings(config), "run", seed=seed), limit, race)
    settings = replaying(settings, keep_failures)
    if forecast or not offline:
        tell_forecast(forecast_answer_bench(settings), only=forecast, yes=yes, json=json)
    summary = bench_answerers(
        settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=bars
    )
    _tell(summary, answer_bench_document, answer_bench_folder(settings), json=json)
    board = summary.board
    if summary.calls:
        rows = [counts for row in board.standings for counts in row.statuses.values()]
        leave(
            [*cut_off(summary.calls), *(each for row in rows for each in row)], summary.calls, strict=strict
        )
    if strict and board.failed:
        raise typer.Exit(UNSCORED)


def _tell(summary: SummaryT, made: "Callable[[SummaryT], Document]", folder: Path, *, json: bool) -> None:
    """Show what a bench found, and where its page stands."""
    from ragstone.report.render.terminal import render_terminal

    if json:
        show_json(summary)
    else:
        show(render_terminal(made(summary)))
    say(f"Report: {folder / 'report.html'}")


def limit_questions(settings: "Settings", limit: int | None, race: bool) -> "Settings":
    """Return the settings with another limit of the questions of the bench of answerers, if one is given.

    race: make it a race, also where the settings do not.
    """
    import msgspec

    from ragstone.config import choose

    declared = settings.bench.answerers
    replaced = msgspec.structs.replace(declared, limit=limit or declared.limit, race=race or declared.race)
    return choose(settings, "bench", answerers=replaced)


def limit_sheet(settings: "Settings", limit: int | None) -> "Settings":
    """Return the settings with another limit of the labelled sheet, if one is given."""
    import msgspec

    from ragstone.config import choose

    if limit is None:
        return settings
    return choose(settings, "bench", judges=msgspec.structs.replace(settings.bench.judges, limit=limit))


def _settings(config: Path | None, limit: int | None, seed: int | None) -> "Settings":
    from ragstone.config import choose, load_settings

    settings = choose(load_settings(config), "run", seed=seed)
    return choose(settings, "questions", limit=limit)


bench.command("retrievers")(told_plainly(retrievers))
bench.command("languages")(told_plainly(languages))
bench.command("judges")(told_plainly(judges))
bench.command("answerers")(told_plainly(answerers))
