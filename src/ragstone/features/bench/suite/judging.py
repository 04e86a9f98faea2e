"""`ragstone bench judges --suite`: judges and models on the labelled rows that ship -> a card of each."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench._board import LeftOutCell, reasons_text
from ragstone.features.bench._running import BenchOptions, bench_path, open_bench, run_bench, slug
from ragstone.features.bench.judges.board import no_scores
from ragstone.features.bench.judges.grid import decisive_settings, judge_cell, judged_cells
from ragstone.features.bench.judges.planning import (
    JudgeGrid,
    baselines_of,
    cell_of,
    models_asked,
    models_tried,
)
from ragstone.features.bench.suite._rows import (
    SuiteRow,
    labels_of,
    metrics_of,
    rows_for,
    sample_rows,
    suite_rows,
)
from ragstone.features.bench.suite.cards import JudgedOnSuite, SuiteCard, keep_cards, known_cards, suite_cards
from ragstone.features.bench.suite.words import SUITE, SuiteSummary, suite_document
from ragstone.kernel.config import JudgesBench, Settings, choose, load_settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError, checks_arguments
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.stack import StackJudge
from ragstone.kernel.judging.unnamed_model import check_model_named
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Label, count_statuses
from ragstone.kernel.tables import write_rows
from ragstone.kernel.version import __version__

OF_A_MODEL = ("correctness", "answered", "faithfulness", "pairwise")
"""The judges that a model is asked as, unless others are named."""


class SuitePlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged: rows, and a grid for each metric, which also has the judges without a model."""

    rows: list[SuiteRow]
    grids: list[JudgeGrid]
    settings: Settings
    folder: Path


def plan_suite(
    settings: Settings,
    *,
    judges: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    sample: int | None = None,
) -> SuitePlan:
    """Return what the suite would judge.

    judges: names, files or variants; default those of OF_A_MODEL where there is a model, else none. models:
    default that of `[judge]`. Of `[bench.judges]` the thresholds alone count. Raises ConfigError for a judge
    that no row has labels for, and for a wrong sample; ModelError for one that asks a model where none is
    named.
    """
    rows = sample_rows(sample)
    models_named = list(models or ([settings.judge.model] if settings.judge.model else []))
    names = list(judges or (OF_A_MODEL if models_named else ()))
    thresholds = settings.bench.judges.thresholds
    declared = JudgesBench(judges=names, models=models_named, thresholds=thresholds, limit=sample)
    settings = choose(settings, "bench", judges=declared)
    known = metrics_of(rows)
    judges_of: dict[str, dict[str, Judge]] = {metric: {} for metric in known}
    for name in dict.fromkeys(names):
        judge = load_judge(settings.named(name))
        metric = next((each for each in judge.metrics if each in known), None)
        if metric is None:
            raise ConfigError(
                f"judge {judge.name!r} measures {' and '.join(judge.metrics)}, but the suite has labels of "
                f"{', '.join(known)}. If it grades one of these, set that as metric in its file; otherwise "
                "measure it on your own answers: sheet in [bench.judges], without --suite."
            )
        check_model_named([judge], models_named[0] if models_named else None)
        _check_inputs(judge, metric, rows_for(metric, rows))
        judges_of[metric][judge.name] = judge
    named = "-".join(["suite", *([str(sample)] if sample else []), *(judges or ()), *models_named])
    return SuitePlan(
        rows=rows,
        grids=[
            _grid(metric, of_metric, declared)
            for metric, of_metric in judges_of.items()
            if of_metric or not names
        ],
        settings=settings,
        folder=bench_path(settings, slug(named)),
    )


def _check_inputs(judge: Judge, metric: str, rows: Sequence[SuiteRow]) -> None:
    """Raise ConfigError for a judge that reads what none of these rows has."""
    if judge.compares_two or not judge.reads_texts:
        return
    lacking = [gather_inputs(judge, row.as_answer()) for row in rows]
    if all(isinstance(inputs, str) for inputs in lacking):
        raise ConfigError(
            f"judge {judge.name!r} reads {lacking[0]}, which no row of the suite with a label of {metric} "
            "has. Measure it on your own answers: sheet in [bench.judges], without --suite."
        )


def _grid(metric: str, judges: Mapping[str, Judge], declared: JudgesBench) -> JudgeGrid:
    """Return the cells of one metric: each judge asked of each model, then the baselines."""
    several = len(declared.models) > 1
    cells = [
        cell_of(judge, judge, model, declared.thresholds, several=several)
        for judge in judges.values()
        for model in models_tried(judge, declared.models)
    ]
    beside = {judge.name: judge for judge in baselines_of(metric, fitted=True) if judge.name not in judges}
    cells += [
        msgspec.structs.replace(
            cell_of(judge, judge, NO_MODEL, declared.thresholds, several=False), added=True
        )
        for judge in beside.values()
    ]
    return JudgeGrid(metric=metric, cells=cells, left_out=[], judges={**judges, **beside})


@checks_arguments
def judge_suite(
    *,
    judges: Sequence[str] | None = None,
    models: Sequence[str] | None = None,
    sample: int | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> SuiteSummary:
    """Return how far judges and models agree with the labelled rows that ship, beside the free judges.

    judges: names or files; default `correctness`, `answered`, `faithfulness` and `pairwise` where a model is
    named, else the free judges alone. models: default that of `[judge]`. sample: at most so many rows.
    settings: default ragstone.toml. Cards are kept in `.ragstone/suite.json`, judgements and page in a
    folder of `runs`; run again, no finished call is paid for twice. budget, deadline, offline, force: as for
    bench_judges. Raises ConfigError, DataError, ModelError.
    """
    plan = plan_suite(settings or load_settings(), judges=judges, models=models, sample=sample)
    return run_bench(
        run_suite, plan, budget=budget, deadline=deadline, offline=offline, force=force, progress=progress
    )


async def run_suite(plan: SuitePlan, options: BenchOptions) -> SuiteSummary:
    """Return what a plan shows, and write it; see judge_suite."""
    settings, home = plan.settings, plan.settings.path(".ragstone")
    async with open_bench(plan.folder, settings, decisive_settings(settings), options) as bench:
        failed: list[LeftOutCell] = []
        judged = {grid.metric: await _judged(grid, plan.rows, bench.session, failed) for grid in plan.grids}
        judgements = [row for of_metric in judged.values() for each in of_metric for row in each.judgements]
        calls = bench.session.calls()
        n_asked = sum(not cell.added for grid in plan.grids for cell in grid.cells)
        if n_asked and len(failed) == n_asked and not calls.failed.get("over_budget"):
            raise DataError(f"nothing that you asked for could be measured. {reasons_text(failed)}")
        cards = [
            card
            for metric, of_metric in judged.items()
            if of_metric
            for card in suite_cards(metric, plan.rows, of_metric, seed=settings.run.seed)
        ]
        whole = [card for card in cards if card.identity != NO_MODEL and "over_budget" not in card.statuses]
        measured = {card.key for card in cards}
        models = {card.model: card.identity for card in cards if card.identity != NO_MODEL}
        cut_short = options.session.offline or bool(calls.late)
        summary = SuiteSummary(
            name=settings.run.name,
            version=__version__,
            n_rows=len(plan.rows),
            n_suite=len(suite_rows()),
            models=models,
            cards=cards,
            earlier=[card for card in known_cards(home) if card.key not in measured],
            failed=failed,
            notes=_notes(cards, whole, cut_short=cut_short),
        )
        if whole and not cut_short:
            keep_cards(home, whole)
        # What was judged, what the labels say and what the judges said, as `ragstone agree` takes them.
        rows_of = {metric: rows_for(metric, plan.rows) for metric in metrics_of(plan.rows)}
        labels = [label for metric, rows in rows_of.items() for label in labels_of(metric, rows)]
        answers = [row.as_answer() for row in plan.rows]
        write_rows(plan.folder / "answers.jsonl", answers, Answer, force=True)
        write_rows(plan.folder / "labels.jsonl", labels, Label, force=True)
        write_rows(plan.folder / "judgements.jsonl", judgements, Judgement, force=True)
        judges = [judge for grid in plan.grids for judge in grid.judges.values()]
        bench.finish(SUITE, summary, suite_document, models=models, judges=judges)
    return msgspec.structs.replace(summary, calls=calls)


async def _judged(
    grid: JudgeGrid, rows: Iterable[SuiteRow], session: Session, failed: list[LeftOutCell]
) -> list[JudgedOnSuite]:
    """Return what the cells of a metric said; `failed` gains those that said nothing, with their reasons.

    A baseline that nobody asked for, and that no row is for, is passed over in silence.
    """
    answers = [row.as_answer() for row in rows_for(grid.metric, rows)]
    judged: list[JudgedOnSuite] = []
    async for _, runs in judged_cells(grid, answers, session, failed):
        cell, judge = runs.cell, grid.judges[runs.cell.judge]
        mine = [row for row in runs.runs[0] if row.metric == grid.metric]
        if any(row.score is not None for row in mine):
            own = judge.threshold if isinstance(judge, StackJudge) else sum(cell.scale) / 2
            identities = await session.models.identities(models_asked(judge, cell))
            judged.append(
                JudgedOnSuite(
                    judgements=mine,
                    cut=own if cell.threshold is None else cell.threshold,
                    identity=" + ".join(identities.values()) or NO_MODEL,
                    spent=runs.spent,
                )
            )
        elif not cell.added:
            failed.append(LeftOutCell(name=cell.name, reason=no_scores(count_statuses(mine), mine)))
    return judged


def _notes(cards: Sequence[SuiteCard], whole: Sequence[SuiteCard], *, cut_short: bool) -> list[str]:
    """Return what a reader must know."""
    asking = [card for card in cards if card.identity != NO_MODEL]
    if not asking or (len(whole) == len(asking) and not cut_short):
        return []
    return [
        "Not every row was judged, so the cards of this run are not kept. Paid calls are in the ledger: run "
        "again with a larger budget, or without one, to continue."
    ]


def forecast_suite(plan: SuitePlan) -> Forecast:
    """Return what the suite would ask. A cell whose model cannot be had is passed over."""

    async def work(session: Session) -> None:
        for grid in plan.grids:
            answers = [row.as_answer() for row in rows_for(grid.metric, plan.rows)]
            for cell in grid.cells:
                judge = grid.judges[cell.judge]
                if judge.needs_model:
                    session.forecaster.assume(judge.assumption)
                    with contextlib.suppress(RagstoneError):
                        await judge_cell(cell, grid, answers, session)

    return forecast_of(plan.settings, work)
