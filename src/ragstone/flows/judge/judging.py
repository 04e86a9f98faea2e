"""An answer sheet -> judgements, row by row as they stream past."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ragstone.config import Settings
from ragstone.engine.local import run_sync
from ragstone.engine.manifest import digest_of, made_from
from ragstone.engine.output import write_stream
from ragstone.engine.progress import Progress, silent
from ragstone.engine.session import open_session
from ragstone.judging import Judge, Tally
from ragstone.judging.pairwise import unpaired_notes
from ragstone.judging.savings import CascadeTally
from ragstone.llm import Caps
from ragstone.records import Judgement
from ragstone.report.summary import Calls, RunSummary
from ragstone.stages.given import paths_of, sheet_rows
from ragstone.stages.judge import count_planned, judge_rows
from ragstone.stages.notes import failed_answers_notes, fitted_notes, plain_notes
from ragstone.tables import check_output, keep_sources
from ragstone.tables.storage import Place
from ragstone.version import __version__


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
    sources = [*paths_of(sheet), *([questions] if questions else [])]
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
            models=session.roles(),
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
