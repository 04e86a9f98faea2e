"""`ragstone bench judges`: the grid that `[bench.judges]` declares, judged and measured into one folder."""

import contextlib
import math
from collections.abc import AsyncIterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.bench._board import LeftOutCell, reasons_text
from ragstone.features.bench._running import BenchOptions, attempt, bench_path, open_bench, run_bench, slug
from ragstone.features.bench._words import FEW_QUESTIONS, few_questions
from ragstone.features.bench.judges._choice import choose
from ragstone.features.bench.judges._use_cases import read_use_cases
from ragstone.features.bench.judges.board import JudgedRuns, humans_of, make_board
from ragstone.features.bench.judges.planning import JudgeGrid, models_asked, plan_judges
from ragstone.features.bench.judges.values import JudgeCell, JudgingSpent
from ragstone.features.bench.judges.words import BENCH, JudgeBenchSummary, judge_bench_document
from ragstone.kernel.agreement.mapping import mapping_of
from ragstone.kernel.config import BenchSection, JudgeSection, RetrieveSection, RunSection, Settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import ConfigError, DataError, RagstoneError, checks_arguments
from ragstone.kernel.judging import JudgeContext
from ragstone.kernel.llm import Ask, CallFailed, Prompt, Reply
from ragstone.kernel.llm.budget import sum_usd
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Answer, Judgement, Label, Usage
from ragstone.kernel.stages.forecasting import sample_of
from ragstone.kernel.stages.judge import judge_context, judge_rows
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.version import __version__


class LabelledSheet(msgspec.Struct, frozen=True, kw_only=True):
    """The answers to judge, and what people say of them."""

    answers: list[Answer]
    labels: list[Label]


@checks_arguments
def bench_judges(
    settings: Settings,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> JudgeBenchSummary:
    """Judge a labelled sheet in each way of `[bench.judges]`, and return how far each agrees with people.

    Numbers, judgements and page are in `runs/NAME-judges/`. If run again, no finished call is made twice and
    every file is the same. A cell that fails is listed with its reason and loses no other. force: replace a
    bench of the same name that had other settings. budget, deadline, offline: for the judges' models.
    Raises ConfigError for settings that do not fit together, DataError for files, and if no cell could be
    measured.
    """
    return run_bench(
        _bench, settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=progress
    )


def read_labelled(settings: Settings, metric: str) -> LabelledSheet:
    """Return the sheet of `[bench.judges]`, its first rows where it has a limit.

    Raises ConfigError, and DataError where no label is for the metric.
    """
    declared = settings.bench.judges
    if declared.sheet is None:
        raise ConfigError(
            "a bench of judges needs answers that people have labelled: name the file as sheet in "
            "[bench.judges] of ragstone.toml."
        )
    path = settings.path(declared.sheet)
    answers = list(islice(read_rows(path, Answer), declared.limit))
    keys = {(answer.question_id, answer.system) for answer in answers}
    words, _numbers = mapping_of(declared.mapping)
    labels = [row for row in read_rows(path, Label, words=words) if (row.question_id, row.system) in keys]
    humans_of(labels, metric, declared.mapping)  # else the models would be paid before that is refused
    return LabelledSheet(answers=answers, labels=labels)


async def _bench(settings: Settings, options: BenchOptions) -> JudgeBenchSummary:
    grid = plan_judges(settings)
    sheet = read_labelled(settings, grid.metric)
    path, declared, seed = bench_path(settings, "judges"), settings.bench.judges, settings.run.seed
    use_cases = read_use_cases(settings, grid.metric, path)
    async with open_bench(path, settings, decisive_settings(settings), options) as bench:
        write_rows(path / "answers.jsonl", sheet.answers, Answer, force=True)
        write_rows(path / "labels.jsonl", sheet.labels, Label, force=True)
        failed: list[LeftOutCell] = []
        judged = [
            _write_judged(number, runs, grid.metric, path)
            async for number, runs in judged_cells(grid, sheet.answers, bench.session, failed)
        ]
        if not judged:
            raise DataError(f"no cell could be judged. {reasons_text(failed)}")
        names = [name for runs in judged for name in models_asked(grid.judges[runs.cell.judge], runs.cell)]
        calls, models = bench.session.calls(), await bench.session.models.identities(dict.fromkeys(names))
        board = make_board(judged, failed, sheet.labels, grid, declared, use_cases=use_cases, seed=seed)
        summary = JudgeBenchSummary(
            name=settings.run.name,
            version=__version__,
            counts={"answers": len(sheet.answers), "labels": len(sheet.labels)},
            models=models,
            board=board,
            choice=choose(board) if board.standings else None,
            repeats=declared.repeats,
            list_prices=calls.list_prices,
            notes=_notes(board.n_questions, declared.repeats),
        )
        judges = list(grid.judges.values())
        bench.finish(BENCH, summary, judge_bench_document, models=models, judges=judges)
    return msgspec.structs.replace(summary, calls=calls)


def _write_judged(number: int, judged: JudgedRuns, metric: str, folder: Path) -> JudgedRuns:
    """Write each run of a cell to a file, and return what is of the metric, with the first file."""
    name = f"judgements-{number:02}-{slug(judged.cell.name, 80)}"
    for run, rows in enumerate(judged.runs, 1):
        again = f"-run{run}" if run > 1 else ""
        write_rows(folder / f"{name}{again}.jsonl", rows, Judgement, force=True)
    mine = [[row for row in rows if row.metric == metric] for rows in judged.runs]
    return msgspec.structs.replace(judged, runs=mine, file=f"{name}.jsonl")


async def judged_cells(
    grid: JudgeGrid, answers: Sequence[Answer], session: Session, failed: list[LeftOutCell]
) -> AsyncIterator[tuple[int, JudgedRuns]]:
    """Yield the number of each cell, from 1, and what was judged; `failed` gains what could not be."""
    for number, cell in enumerate(grid.cells, 1):
        judged = await attempt(cell.name, judge_cell(cell, grid, answers, session), failed)
        if judged is not None:
            yield number, judged


async def judge_cell(
    cell: JudgeCell, grid: JudgeGrid, answers: Sequence[Answer], session: Session
) -> JudgedRuns:
    """Return the judgements of one cell, of all metrics. Raises ModelError when no call can succeed."""
    judge, meter = grid.judges[cell.judge], Meter()
    context = await judge_context(session, [judge], cell.model if judge.asks_default else None)
    # A judge that calls no model gives the same result each time.
    n_runs = session.settings.bench.judges.repeats if judge.needs_model else 1
    runs = []
    for run in range(n_runs):
        rows = judge_rows(
            lambda: answers, [judge], session, len(answers), context=meter.metered(context, run)
        )
        runs.append([row async for row in rows])
    tried = [row for rows in runs for row in rows if row.metric == judge.measures]
    n_judged = sum(row.status not in ("not_applicable", "app_error") for row in tried)
    return JudgedRuns(cell=cell, runs=runs, spent=meter.spent(n_judged))


def decisive_settings(settings: Settings) -> Settings:
    """Return the settings that decide anything here."""
    return Settings(
        run=RunSection(name=settings.run.name, seed=settings.run.seed),
        retrieve=RetrieveSection(embedder=settings.retrieve.embedder),
        judge=JudgeSection(model=settings.judge.model),
        bench=BenchSection(judges=settings.bench.judges),
        models=settings.models,
        root=settings.root,
    )


def _notes(n_questions: int, repeats: int) -> list[str]:
    notes = []
    if n_questions < FEW_QUESTIONS:
        notes.append(few_questions(n_questions))
    if repeats > 1:
        notes.append(
            f"Each cell that asks a model was judged {repeats} times. Agreement is that of the first run; "
            "cost and seconds are those of a judgement, over all runs."
        )
    return notes


SAMPLES = 1000  # numbers of draws that one run of a judge may take


class Meter:
    """Listens to calls. Sums do not depend on the order in which the replies came in."""

    def __init__(self) -> None:
        self._usage = Usage(calls=0)
        self._seconds: list[float | None] = []
        self._costs: list[float | None] = []

    def metered(self, context: JudgeContext, run: int = 0) -> JudgeContext:
        """Return the context, listened to. run: the number of the repetition, from 0.

        Each run asks anew: it draws samples of its own, so the ledger does not answer one for the other.
        """

        def listened_to(ask: Ask) -> Ask:
            async def metered(prompt: Prompt) -> Reply:
                numbered = msgspec.structs.replace(prompt, sample=prompt.sample + run * SAMPLES)
                try:
                    reply = await ask(numbered)
                except CallFailed as failure:
                    if failure.usage is not None:
                        self._usage += failure.usage
                    raise
                self._usage += reply.usage
                self._seconds.append(reply.latency_s)
                self._costs.append(reply.cost_usd)
                return reply

            return metered

        return context.wrapped(listened_to)

    def spent(self, n_judged: int) -> JudgingSpent:
        """Return what was heard; n_judged: judgements that it was spent on."""
        return JudgingSpent(
            n_judged=n_judged,
            n_calls=self._usage.calls,
            input=self._usage.input,
            output=self._usage.output,
            seconds=None if None in self._seconds else math.fsum(filter(None, self._seconds)),
            cost_usd=sum_usd(self._costs),
        )


SAMPLE = 500  # answers that are looked at in each cell; each stands for as many as were passed over


def forecast_judge_bench(settings: Settings) -> Forecast:
    """Return what all cells and their repetitions would ask.

    A cell whose model cannot be had is passed over: the bench will show its reason. Raises what bench_judges
    raises before it makes a call.
    """
    grid = plan_judges(settings)
    read_use_cases(settings, grid.metric, bench_path(settings, "judges"))
    answers = read_labelled(settings, grid.metric).answers
    asking = [cell for cell in grid.cells if grid.judges[cell.judge].needs_model]

    async def work(session: Session) -> None:
        sampled = sample_of(answers, session, SAMPLE)
        judges = [grid.judges[cell.judge] for cell in asking]
        session.forecaster.assume(*(judge.assumption for judge in judges))
        for cell in asking:
            with contextlib.suppress(RagstoneError):
                await judge_cell(cell, grid, sampled, session)

    return forecast_of(settings, work)
