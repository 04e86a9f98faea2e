"""`ragstone bench judges --suite`: judges and models on the labelled rows that ship -> a card of each."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench.folder import bench_path, open_folder, slug
from ragstone.features.bench.judges.board import no_scores
from ragstone.features.bench.judges.grid import decisive_settings, judge_cell, judged_cells
from ragstone.features.bench.judges.planning import JudgeGrid, baselines_of, cell_of
from ragstone.features.bench.judges.values import JudgeCell, LeftOutCell
from ragstone.features.bench.suite.cards import JudgedOnSuite, SuiteCard, keep_cards, known_cards, suite_cards
from ragstone.features.bench.suite.rows import (
    SuiteRow,
    labels_of,
    metrics_of,
    rows_for,
    sample_rows,
    suite_rows,
)
from ragstone.features.bench.suite.words import SUITE, SuiteSummary, suite_document
from ragstone.kernel.config import JudgesBench, Settings, choose, load_settings
from ragstone.kernel.document.html import write_page
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError, checks_arguments
from ragstone.kernel.judging import Judge, load_judge
from ragstone.kernel.judging.render import gather_inputs
from ragstone.kernel.judging.stack import StackJudge
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast, Forecaster
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
    that no row has labels for, for a judge that asks a model and none is named, and for a wrong sample.
    """
    rows = sample_rows(sample)
    asked = list(models or ([settings.judge.model] if settings.judge.model else []))
    names = list(judges or (OF_A_MODEL if asked else ()))
    thresholds = settings.bench.judges.thresholds
    declared = JudgesBench(judges=names, models=asked, thresholds=thresholds, limit=sample)
    settings = choose(settings, "bench", judges=declared)
    known = metrics_of(rows)
    found: dict[str, dict[str, Judge]] = {metric: {} for metric in known}
    for name in dict.fromkeys(names):
        judge = load_judge(settings.named(name))
        metric = next((each for each in judge.metrics if each in known), None)
        if metric is None:
            raise ConfigError(
                f"judge {judge.name!r} measures {' and '.join(judge.metrics)}, and the suite has labels of "
                f"{', '.join(known)}. If it grades one of these, write that as metric in its file; else "
                "measure it on answers of yours: sheet in [bench.judges], without --suite."
            )
        if judge.needs_model and not asked:
            raise ConfigError(
                f"judge {judge.name!r} asks a model: name one with --model, e.g. openai/gpt-4o-mini, or as "
                "model in the table [judge] of ragstone.toml."
            )
        _check_inputs(judge, metric, rows_for(metric, rows))
        found[metric][judge.name] = judge
    named = "-".join(["suite", *([str(sample)] if sample else []), *(judges or ()), *asked])
    return SuitePlan(
        rows=rows,
        grids=[
            _grid(metric, of_metric, declared)
            for metric, of_metric in found.items()
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
    if all(isinstance(one, str) for one in lacking):
        raise ConfigError(
            f"judge {judge.name!r} reads {lacking[0]}, which no row of the suite with a label of {metric} "
            "has. Measure it on answers of yours: sheet in [bench.judges], without --suite."
        )


def _grid(metric: str, judges: Mapping[str, Judge], declared: JudgesBench) -> JudgeGrid:
    """Return the cells of one metric: each judge asked of each model, then the baselines."""
    several = len(declared.models) > 1
    cells = [
        cell_of(judge, judge, model, declared.thresholds, several=several)
        for judge in judges.values()
        for model in (declared.models if judge.needs_model else [NO_MODEL])
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
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_suite(plan, how, force=force)


def run_suite(plan: SuitePlan, how: SessionOptions, *, force: bool = False) -> SuiteSummary:
    """Return what a plan shows, and write it; see judge_suite."""
    return run_sync(_run(plan, how, force))


async def _run(plan: SuitePlan, how: SessionOptions, force: bool) -> SuiteSummary:
    settings, home = plan.settings, plan.settings.path(".ragstone")
    with open_folder(plan.folder, decisive_settings(settings), force, "*.jsonl") as folder:
        cards: list[SuiteCard] = []
        failed: list[LeftOutCell] = []
        judgements: list[Judgement] = []
        async with open_session(settings, how) as session:
            for grid in plan.grids:
                judged, without = await _judged(grid, plan.rows, session)
                judgements += [row for one in judged for row in one.judgements]
                failed += without
                if judged:
                    cards += suite_cards(grid.metric, plan.rows, judged, seed=settings.run.seed)
            calls = session.calls()
        n_asked = sum(not cell.added for grid in plan.grids for cell in grid.cells)
        if n_asked and len(failed) == n_asked and not calls.failed.get("over_budget"):
            told = "; ".join(f"{one.name}: {one.reason}" for one in failed)
            raise DataError(f"nothing that you asked for could be measured. {told}")
        whole = [card for card in cards if card.identity != NO_MODEL and "over_budget" not in card.statuses]
        measured = {card.key for card in cards}
        models = {card.model: card.identity for card in cards if card.identity != NO_MODEL}
        summary = SuiteSummary(
            name=settings.run.name,
            version=__version__,
            n_rows=len(plan.rows),
            n_suite=len(suite_rows()),
            models=models,
            cards=cards,
            earlier=[card for card in known_cards(home) if card.key not in measured],
            failed=failed,
            notes=_notes(cards, whole, cut_short=how.offline or bool(calls.late)),
        )
        if whole and not how.offline and not calls.late:
            keep_cards(home, whole)
        _write_rows(folder.path, plan.rows, judgements)
        folder.finish(
            SUITE, summary, models=models, judges=[j for grid in plan.grids for j in grid.judges.values()]
        )
        write_page(folder.path / "report.html", suite_document(summary))
    return msgspec.structs.replace(summary, calls=calls)


async def _judged(
    grid: JudgeGrid, rows: Iterable[SuiteRow], session: Session
) -> tuple[list[JudgedOnSuite], list[LeftOutCell]]:
    """Return what the cells of a metric said, and those that said nothing, with their reasons.

    A baseline that nobody asked for, and that no row is for, is passed over in silence.
    """
    answers = [row.as_answer() for row in rows_for(grid.metric, rows)]
    judged: list[JudgedOnSuite] = []
    failed: list[LeftOutCell] = []
    async for _, cell, found in judged_cells(grid, answers, session, failed):
        mine = [row for row in found.runs[0] if row.metric == grid.metric]
        if any(row.score is not None for row in mine):
            judged.append(
                JudgedOnSuite(
                    judgements=mine,
                    cut=_cut(cell, grid.judges[cell.judge]),
                    identity=await _identity(cell, session),
                    spent=found.spent,
                )
            )
        elif not cell.added:
            failed.append(LeftOutCell(name=cell.name, reason=no_scores(count_statuses(mine), mine)))
    return judged, failed


def _cut(cell: JudgeCell, judge: Judge) -> float:
    """Return the score from which on a cell says 1: by the settings, its file, or the middle of its scale."""
    own = judge.threshold if isinstance(judge, StackJudge) else sum(cell.scale) / 2
    return own if cell.threshold is None else cell.threshold


async def _identity(cell: JudgeCell, session: Session) -> str:
    if cell.model == NO_MODEL:
        return NO_MODEL
    return (await session.models.identities([cell.model]))[cell.model]


def _notes(cards: Sequence[SuiteCard], whole: Sequence[SuiteCard], *, cut_short: bool) -> list[str]:
    """Return what a reader must know."""
    asking = [card for card in cards if card.identity != NO_MODEL]
    if not asking or (len(whole) == len(asking) and not cut_short):
        return []
    return [
        "Not every row was judged, so the cards of this run are not kept. What was paid for is in the "
        "ledger: run it again with a larger budget, or without one, and it goes on from there."
    ]


def _write_rows(folder: Path, rows: Sequence[SuiteRow], judgements: Sequence[Judgement]) -> None:
    """Write what was judged, what the labels say and what the judges said, as `ragstone agree` takes them."""
    labels = [label for metric in metrics_of(rows) for label in labels_of(metric, rows_for(metric, rows))]
    write_rows(folder / "answers.jsonl", [row.as_answer() for row in rows], Answer, force=True)
    write_rows(folder / "labels.jsonl", labels, Label, force=True)
    write_rows(folder / "judgements.jsonl", judgements, Judgement, force=True)


def forecast_suite(plan: SuitePlan) -> Forecast:
    """Return what the suite would ask. A cell whose model cannot be had is passed over."""

    async def work(session: Session, forecaster: Forecaster) -> None:
        for grid in plan.grids:
            answers = [row.as_answer() for row in rows_for(grid.metric, plan.rows)]
            for cell in grid.cells:
                judge = grid.judges[cell.judge]
                if judge.needs_model:
                    forecaster.assumptions |= dict.fromkeys([judge.assumption] if judge.assumption else [])
                    with contextlib.suppress(RagstoneError):
                        await judge_cell(cell, grid, answers, session)

    return forecast_of(plan.settings, work)
