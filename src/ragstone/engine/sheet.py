"""Answer sheets as files: made by the built-in application, or judged, row by row as they stream past."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import msgspec

from ragstone.config import Settings
from ragstone.engine.judge_tasks import count_planned
from ragstone.engine.local import run_sync
from ragstone.engine.manifest import digest_of, made_from
from ragstone.engine.notes import failed_answers_notes, fitted_notes, plain_notes
from ragstone.engine.output import write_stream
from ragstone.engine.progress import Progress, silent
from ragstone.engine.session import open_session
from ragstone.engine.stages import answer_rows, corpus_on, judge_rows, rank_questions
from ragstone.engine.system_notes import system_notes
from ragstone.engine.systems import with_system
from ragstone.errors import ConfigError
from ragstone.judging import Judge, Tally
from ragstone.judging.combined.savings import CascadeTally
from ragstone.judging.pairwise import unpaired_notes
from ragstone.llm import Caps
from ragstone.records import Answer, Judgement, Question, Status
from ragstone.report import Calls, RunSummary
from ragstone.systems import join_questions
from ragstone.tables import check_output, keep_sources, read_rows
from ragstone.tables.storage import Place
from ragstone.version import __version__


def sheet_rows(
    sheet: Path | Sequence[Path], questions: Path | None, limit: int | None
) -> Callable[[], Iterator[Answer]]:
    """Return a function that reads the answers of files anew each time, joined with their questions."""
    asked = {row.id: row for row in read_rows(questions, Question)} if questions else {}
    sheets = _listed(sheet)
    return lambda: islice(
        join_questions(chain.from_iterable(read_rows(one, Answer) for one in sheets), asked), limit
    )


def _listed(sheet: Path | Sequence[Path]) -> list[Path]:
    return [sheet] if isinstance(sheet, Path) else list(dict.fromkeys(sheet))


def judge_sheet(
    sheet: Path | Sequence[Path],
    output: Place,
    judges: Sequence[Judge],
    settings: Settings,
    *,
    questions: Path | None = None,
    limit: int | None = None,
    caps: Caps | None = None,
    offline: bool = False,
    batch: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> RunSummary:
    """Judge the answers of a file, or of several as if they were one, into a file, and return the numbers.

    The sheet is read through once before anything is paid for, so that a bad row stops nothing half-way;
    then once for each judge, so that memory does not grow with it. questions: a file that holds question
    and reference by id, where the sheet does not. batch: by the provider's batch API.
    Raises DataError, ConfigError, ModelError.
    """
    check_output(output, force)
    sources = [*_listed(sheet), *([questions] if questions else [])]
    keep_sources([output], sources)
    answers = sheet_rows(sheet, questions, limit)
    n_answers = sum(1 for _ in answers())

    async def work() -> RunSummary:
        tally, cascades = Tally(), CascadeTally()
        async with open_session(
            settings, caps=caps, offline=offline, batch=batch, progress=progress
        ) as session:
            rows = judge_rows(answers, judges, session, n_answers)
            n_planned = count_planned(judges, n_answers)
            made = made_from(settings, "judge", sources, [digest_of(judge) for judge in judges], limit)
            await write_stream(
                rows,
                output,
                Judgement,
                each=_both(tally, cascades),
                n_planned=n_planned,
                force=force,
                made_from=made,
            )
        judged = _summary(output, tally, cascades, settings.run.seed)
        told = fitted_notes(judges, judged.metrics) + unpaired_notes(judges, answers())
        return msgspec.structs.replace(
            judged,
            models=session.models(),
            counts={"answers": n_answers, **judged.counts},
            calls=session.calls(),
            notes=judged.notes + told,
        )

    return run_sync(work())


def _summary(output: Place, tally: Tally, cascades: CascadeTally, seed: int) -> RunSummary:
    """Return what the judgements alone say."""
    metrics = tally.summaries(seed)
    return RunSummary(
        name=str(output),
        version=__version__,
        models={},
        counts={"judgements": sum(metric.n_rows for metric in metrics)},
        retrieval=[],
        metrics=metrics,
        cards=[],
        calls=Calls(),
        notes=failed_answers_notes(metrics) + plain_notes(metrics),
        cascades=cascades.savings(),
    )


def _both(tally: Tally, cascades: CascadeTally) -> Callable[[Judgement], None]:
    def count(row: Judgement) -> None:
        tally.add(row)
        cascades.add(row)

    return count


class AnswerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers there are, how many of them failed, and what was asked.

    failed: calls by status. notes: what a reader must know of the answers, in plain sentences.
    """

    n_answers: int
    n_failed: int
    notes: list[str]
    failed: dict[Status, int]
    calls: Calls
    output: str


def asked_questions(settings: Settings) -> list[Question]:
    """Return the questions that the settings name. Raises ConfigError if they name none."""
    if settings.questions.path is None:
        raise ConfigError(
            "no questions. Name a file with --questions, or as path in [questions] of ragstone.toml."
        )
    rows = read_rows(settings.path(settings.questions.path), Question)
    return list(islice(rows, settings.questions.limit))


def answer_to_file(
    settings: Settings,
    output: Place,
    *,
    caps: Caps | None = None,
    offline: bool = False,
    batch: bool = False,
    force: bool = False,
    progress: Progress = silent,
) -> AnswerSummary:
    """Answer the questions that the settings name, by the application that they declare, into a file.

    batch: by the provider's batch API. Raises ConfigError, DataError, ModelError.
    """
    check_output(output, force)
    settings = with_system(settings)
    questions = asked_questions(settings)
    answers: list[Answer] = []

    def look(answer: Answer) -> None:  # the texts stand in the file
        answers.append(msgspec.structs.replace(answer, answer=answer.answer[:1], contexts=None))

    async def work() -> AnswerSummary:
        async with open_session(
            settings, caps=caps, offline=offline, batch=batch, progress=progress
        ) as session:
            corpus = await corpus_on(session)
            rankings = (
                await rank_questions(questions, corpus.chunks, session, documents=corpus.documents)
                if corpus.chunks
                else []
            )
            made = answer_rows(questions, rankings, corpus.chunks, session, documents=corpus.documents)
            named = (settings.questions.path, *settings.documents.paths)
            digest = made_from(settings, "answer", [settings.path(one) for one in named if one])
            await write_stream(
                made, output, Answer, each=look, n_planned=len(questions), force=force, made_from=digest
            )
            calls, kept = session.calls(), session.kept
        return AnswerSummary(
            n_answers=len(answers),
            n_failed=sum(answer.error is not None for answer in answers),
            notes=system_notes(answers, kept, settings),
            failed=calls.failed,
            calls=calls,
            output=str(output),
        )

    return run_sync(work())
