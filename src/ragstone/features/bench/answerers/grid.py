"""`ragstone bench answerers`: the grid of `[bench.answerers]`, answered and judged into one folder."""

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench._running import BenchOptions, bench_path, open_bench, run_bench, slug
from ragstone.features.bench._words import FEW_QUESTIONS, few_questions
from ragstone.features.bench.answerers._board import BoardInput, make_board
from ragstone.features.bench.answerers._cells import (
    BenchInput,
    BenchMeans,
    answers_of,
    give_out,
    open_means,
    read_input,
)
from ragstone.features.bench.answerers._labels import CellLabels, read_labels
from ragstone.features.bench.answerers._measuring import shared_documents
from ragstone.features.bench.answerers._planning import (
    AnswerGrid,
    AnswerRows,
    all_at_once,
    plan_answerers,
)
from ragstone.features.bench.answerers._race import AnswerRace, race_condition, raced
from ragstone.features.bench.answerers._values import AnswerBoard
from ragstone.features.bench.answerers.words import AnswerBenchSummary, answer_bench_document
from ragstone.features.bench.judges.words import BENCH
from ragstone.kernel.config import BenchSection, RunSection, Settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, forecast_of
from ragstone.kernel.errors import RagstoneError, checks_arguments, plural
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.llm.stub_reply import ASSUMPTION
from ragstone.kernel.records import NO_MODEL, Answer, Document, Judgement, Question
from ragstone.kernel.retrieval.relevance import missing_documents
from ragstone.kernel.stages.calibrate import cards_of
from ragstone.kernel.stages.forecasting import sample_of
from ragstone.kernel.stages.judge import judge_rows
from ragstone.kernel.tables import write_rows
from ragstone.kernel.version import __version__


@checks_arguments
def bench_answerers(
    settings: Settings,
    *,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> AnswerBenchSummary:
    """Answer the questions in every cell of `[bench.answerers]`, judge the answers, and return the board.

    Numbers, answers, judgements and page are in `runs/NAME-answerers/`. If run again, no finished call is
    made twice and every file is the same. A cell whose model fails is listed with its reason and loses no
    other. force: replace a bench of the same name that had other settings. budget: e.g. `100calls` or `2usd`;
    what it cuts off has the status `over_budget`. deadline: e.g. `30m`. Raises ConfigError for settings that
    do not fit together, DataError for files and if no cell could be measured, ModelError when no judge can be
    asked.
    """
    return run_bench(
        _bench, settings, budget=budget, deadline=deadline, offline=offline, force=force, progress=progress
    )


async def _bench(settings: Settings, options: BenchOptions) -> AnswerBenchSummary:
    grid, declared = plan_answerers(settings), settings.bench.answerers
    if declared.race:
        race_condition(grid)  # before anything is paid for
    bench_input = read_input(settings, grid)
    path, questions = bench_path(settings, "answerers"), bench_input.questions
    labels = _labels(settings, grid, bench_input)
    async with open_bench(path, settings, _decisive(settings), options) as bench:
        write_rows(path / "questions.jsonl", questions, Question, force=True)
        session = bench.session
        means = await open_means(bench_input, grid, session)
        if means.corpus.documents:
            write_rows(path / "documents.jsonl", means.corpus.documents, Document, force=True)
        cards = await cards_of(settings, means.judges, session)
        clusters, race = shared_documents(questions, means.passages.same), None
        if declared.race:
            race = AnswerRace(
                grid,
                questions,
                clusters,
                cards=cards,
                confidence=declared.confidence,
                seed=settings.run.seed,
            )
        answered = await give_out(race or all_at_once(grid.cells, questions), means, session)
        models = await session.models.identities(
            cell.model for cell in grid.cells if cell.model and cell.name in answered.rows
        )
        judge = session.roles().get("judge")
        models |= {"judge": judge} if judge else {}
        calls = session.calls()
        report = race.report(answered.rows) if race else None
        # How long a race went follows from the judge's scores: labels of what it asked then correct nothing.
        cut_short = report is not None and (report.n_given < report.n_questions or len(report.standing) < 2)
        board = make_board(
            BoardInput(
                grid=grid,
                rows=answered.rows,
                failed=answered.failed,
                questions=questions,
                passages=means.passages,
                cards=cards,
                tags=declared.tags,
                files=_write(path, grid, answered.rows),
                labels=None if cut_short else labels,
            ),
            seed=settings.run.seed,
        )
        board = raced(board, report) if report else board
        counts = {
            "documents": len(means.corpus.documents),
            "questions": len(questions),
            "answers": sum(len(rows.answers) for rows in answered.rows.values()),
            "judgements": sum(len(rows.judgements) for rows in answered.rows.values()),
        }
        summary = AnswerBenchSummary(
            name=settings.run.name,
            version=__version__,
            counts={name: n for name, n in counts.items() if n},
            models=models,
            retriever=settings.retrieve.retriever,
            k=settings.retrieve.k,
            n_distractors=declared.distractors,
            board=board,
            race=report,
            list_prices=calls.list_prices,
            notes=bench_notes(board, bench_input, means)
            + ([LABELS_UNUSED.format(file=labels.file)] if labels and cut_short else []),
        )
        bench.finish(BENCH, summary, answer_bench_document, models=models, judges=means.judges)
    return msgspec.structs.replace(summary, calls=calls)


def _labels(settings: Settings, grid: AnswerGrid, bench_input: BenchInput) -> CellLabels | None:
    named = settings.bench.answerers.labels
    if named is None:
        return None
    return read_labels(
        settings.path(named),
        grid,
        {question.id for question in bench_input.questions},
        bench_input.judges,
        settings.agree.thresholds,
    )


def _write(folder: Path, grid: AnswerGrid, rows: Mapping[str, AnswerRows]) -> dict[str, str]:
    """Write the answers and judgements of each cell, and return the files of the judgements."""
    files = {}
    for number, cell in enumerate(grid.cells, 1):
        if cell.name not in rows:
            continue
        named = f"{number:02}-{slug(cell.name, 80)}.jsonl"
        write_rows(folder / f"answers-{named}", rows[cell.name].answers, Answer, force=True)
        write_rows(folder / f"judgements-{named}", rows[cell.name].judgements, Judgement, force=True)
        files[cell.name] = f"judgements-{named}"
    return files


def _decisive(settings: Settings) -> Settings:
    """Return the settings that decide anything here."""
    return msgspec.structs.replace(
        settings,
        run=RunSection(name=settings.run.name, seed=settings.run.seed),
        answer=msgspec.structs.replace(settings.answer, sheet=None, system=None, limit=None),
        # Labels decide no answer and no judgement: they may be added to a bench that is done.
        bench=BenchSection(answerers=msgspec.structs.replace(settings.bench.answerers, labels=None)),
        blame=Settings().blame,
        build=Settings().build,
        translate=Settings().translate,
        sample=Settings().sample,
    )


LABELS_UNUSED = (
    "The labels of {file} decide no place: the judge's scores ended the race before all questions were "
    "asked, and that choice cannot be corrected afterwards. Run without --race to use the labels."
)
SHOWN = 3


def bench_notes(board: AnswerBoard, bench_input: BenchInput, means: BenchMeans) -> list[str]:
    """Return the notes: few questions, documents that are missing, judges nobody has measured, rows lost."""
    notes = []
    if board.n_questions < FEW_QUESTIONS:
        notes.append(few_questions(board.n_questions))
    if board.n_unanswerable == board.n_questions:
        notes.append(
            "No question is answerable, so only refusals distinguish the cells: a judge that compares with "
            "a reference scores none of them."
        )
    if any(row.spent.n_answers > row.n_questions for row in board.standings):
        notes.append("Questions were answered several times: each counts once, with the mean of its answers.")
    notes += _missing(missing_documents(bench_input.questions, means.corpus.documents))
    notes += _judges(board)
    notes += _failed(board)
    if bench_input.paired:
        notes.append(f"Judges that compare two answers are left out: {', '.join(bench_input.paired)}.")
    return notes


def _missing(missing: Mapping[str, Sequence[str]]) -> list[str]:
    if not missing:
        return []
    more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
    return [
        f"{plural(len(missing), 'question')} {'names' if len(missing) == 1 else 'name'} documents that the "
        f"corpus lacks: {', '.join(list(missing)[:SHOWN])}{more}. The gold passages there are incomplete."
    ]


def _judges(board: AnswerBoard) -> list[str]:
    notes = []
    unmeasured = [role.judge for role in board.roles if role.model != NO_MODEL and not role.measured]
    if unmeasured:
        notes.append(
            "These judges have not been checked against people's labels with this model: "
            f"{', '.join(unmeasured)}. Name answers that people have labelled as sheet in [agree]."
        )
    doubtful = [
        role.judge
        for role in board.roles
        if role.model != NO_MODEL and role.measured and not role.better_than_baseline
    ]
    if doubtful:
        notes.append(f"Not shown to be better than a baseline: {', '.join(doubtful)}.")
    if not any(role.role == "correct" for role in board.roles):
        notes.append(
            "No judge of [judge] measures correctness, so cells are ordered by answered × faithful: an "
            "answer can be faithful to its passages and wrong."
        )
    return notes


def _failed(board: AnswerBoard) -> list[str]:
    lost = {row.cell.name: row.spent.n_failed for row in board.standings if row.spent.n_failed}
    if not lost:
        return []
    counts = ", ".join(f"{name} {n}" for name, n in lost.items())
    return [f"Failed answers are in no mean and are counted separately: {counts}."]


SAMPLED = 200  # questions that are looked at in each cell; each stands for as many as were passed over


def forecast_answer_bench(settings: Settings) -> Forecast:
    """Return what all cells and judges would ask, all questions given out to every cell.

    A cell whose model cannot be had is passed over: the bench will show its reason. Raises what
    bench_answerers raises before it makes a call.
    """
    grid = plan_answerers(settings)
    if settings.bench.answerers.race:
        race_condition(grid)
    bench_input = read_input(settings, grid)
    _labels(settings, grid, bench_input)

    async def work(session: Session) -> None:
        questions = sample_of(bench_input.questions, session, SAMPLED)
        if settings.bench.answerers.race:
            session.forecaster.assume(
                "This forecast stops no configuration early: the race may ask far less."
            )
        sampled = msgspec.structs.replace(bench_input, questions=questions)
        means = await open_means(sampled, grid, session)
        answers: list[Answer] = []
        for cell in grid.cells:
            with contextlib.suppress(RagstoneError):
                # Cells seldom say the same, word for word, as made-up answers do.
                answers += [
                    msgspec.structs.replace(row, answer=f"{row.answer} ({row.system})")
                    if row.usage is not None and not row.usage.calls
                    else row
                    for row in await answers_of(cell, questions, means, session)
                ]
        if any(judge.needs_model for judge in bench_input.judges):
            session.forecaster.assume(ASSUMPTION)
        session.forecaster.assume(*(judge.assumption for judge in bench_input.judges))
        async for _row in judge_rows(lambda: answers, bench_input.judges, session, len(answers)):
            pass
        session.forecaster.weight = 1.0
        await cards_of(settings, bench_input.judges, session)

    return forecast_of(settings, work)
