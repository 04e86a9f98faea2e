"""An answer sheet -> judgements, row by row as they stream past; where they go, and what was not read."""

import contextlib
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TypedDict

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.engine.digests import digest_of, made_from
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.output import write_stream
from ragstone.kernel.engine.session import PLAIN, SessionOptions, open_session
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import Judge, MetricSummary, Tally
from ragstone.kernel.judging.conversation import TURN
from ragstone.kernel.judging.fields import JOINT_SUFFIX
from ragstone.kernel.judging.leaves import asks_default, members_of, read_no_answer
from ragstone.kernel.judging.savings import CascadeTally
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Question
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.stages.given import paths_of, sheet_rows
from ragstone.kernel.stages.judge import count_planned, judge_rows
from ragstone.kernel.stages.notes import fitted_notes, judgements_alone, masking_notes
from ragstone.kernel.tables import check_output, keep_sources, read_rows
from ragstone.kernel.tables.columns import PASSAGE
from ragstone.kernel.tables.formats import READERS, ending_of, reader_of
from ragstone.kernel.tables.interchange.recognise import is_trace
from ragstone.kernel.tables.names import accepted_names
from ragstone.kernel.tables.proposals import could_hold
from ragstone.kernel.tables.reading import columns_in
from ragstone.kernel.tables.storage import Place, is_shards, local_path, url_of

# What may be missed of a sheet: the field of the longest texts first.
FIELDS = ("contexts", "reference", "question")
LOOKED_AT = 100  # rows
DOCUMENT_IDS = accepted_names(Question, "document_ids")  # are no texts


class JudgingOptions(TypedDict, total=False):
    """How a sheet is judged: see judge_sheet."""

    questions: Path | None
    limit: int | None
    each_turn: bool
    how: SessionOptions
    force: bool
    bounds: bool


def judge_sheet(
    sheet: Path | Sequence[Path],
    output: Place,
    judges: Sequence[Judge],
    settings: Settings,
    *,
    questions: Path | None = None,
    limit: int | None = None,
    each_turn: bool = False,
    how: SessionOptions = PLAIN,
    force: bool = False,
    bounds: bool = False,
    kept: Sequence[Judgement] = (),
    log_in: Path | None = None,
) -> RunSummary:
    """Judge the answers of a file, or of several as if they were one, into a file, and return the numbers.

    The sheet is read through once before anything is paid for, so that a bad row stops nothing half-way;
    then once for each judge, so that memory does not grow with it. questions: a file that holds question
    and reference by id, where the sheet does not. each_turn: every reply of a conversation is judged. kept:
    judgements that stand before these, and count. log_in: a folder that keeps what was asked and told.
    bounds: every mean with failed rows is shown with its bounds. Raises DataError, ConfigError, ModelError.
    """
    check_output(output, force)
    sources = [*paths_of(sheet), *([questions] if questions else [])]
    keep_sources([output], sources)
    answers = sheet_rows(sheet, questions, limit, bare=read_no_answer(judges), each_turn=each_turn)
    n_answers = sum(1 for _ in answers())
    inputs = [list(map(digest_of, judges)), limit, *([TURN] if each_turn else [])]

    async def work() -> RunSummary:
        tally, cascades = Tally(), CascadeTally()
        async with open_session(settings, how) as session:
            with session.logging_calls(log_in) if log_in else contextlib.nullcontext():
                rows = _after(kept, judge_rows(answers, judges, session, n_answers))
                n_new = count_planned(judges, n_answers)
                await write_stream(
                    rows,
                    output,
                    Judgement,
                    each=_both(tally, cascades),
                    n_planned=None if n_new is None else len(kept) + n_new,
                    force=force,
                    made_from=made_from(settings, "judge", sources, *inputs),
                )
        judged = judgements_alone(str(output), tally.summaries(settings.run.seed), cascades.savings())
        return msgspec.structs.replace(
            judged,
            models=session.roles(members_of(judges)),
            counts={"answers": n_answers, **judged.counts},
            calls=session.calls(),
            notes=judged.notes + _notes(judges, judged.metrics, answers(), settings),
            bounds_from=0.0 if bounds else judged.bounds_from,
        )

    return run_sync(work())


async def _after(kept: Sequence[Judgement], judged: AsyncIterator[Judgement]) -> AsyncIterator[Judgement]:
    for row in kept:
        yield row
    async for row in judged:
        yield row


def _notes(
    judges: Sequence[Judge], metrics: Sequence[MetricSummary], answers: Iterator[Answer], settings: Settings
) -> list[str]:
    notes = fitted_notes(judges, metrics) + masking_notes(settings)
    if not any(judge.compares_two for judge in judges):
        return notes
    from ragstone.kernel.judging.pairwise import unpaired_notes

    return notes + unpaired_notes(judges, answers)


def _both(tally: Tally, cascades: CascadeTally) -> Callable[[Judgement], None]:
    def count(row: Judgement) -> None:
        tally.add(row)
        cascades.add(row)

    return count


def unread_notes(
    metrics: list[MetricSummary],
    answers: Callable[[], Iterator[Answer]],
    sheets: Sequence[Path],
    questions: Path | None = None,
) -> tuple[list[str], list[str]]:
    """Return what is to be told of judges that scored nothing, and the options that mend it.

    Empty where every judge scored something, or where the sheet has no column of text that was not read. What
    a reader made itself, of a trace, is no column. Options are given where name and values speak for one
    column alone; else all are listed, and the user says which.
    """
    scored = {one.judge for one in metrics if one.estimate is not None}
    blind = [one for one in metrics if one.judge not in scored and one.statuses.keys() == {"not_applicable"}]
    lacking = [field for field in FIELDS if any(field in why for one in blind for why in one.reasons)]
    unused = _unused_columns(answers(), [*sheets, *([questions] if questions else [])]) if lacking else {}
    if lacking == ["contexts"] and not any(
        len(str(value)) >= PASSAGE for values in unused.values() for value in values
    ):
        return [], []
    if not unused or not lacking:
        return [], []
    judges = ", ".join(dict.fromkeys(one.judge for one in blind))
    likely = {field: could_hold(field, unused) for field in lacking}
    clear = {field: next(iter(some.items())) for field, some in likely.items() if len(some) == 1}
    told = (
        f"Nothing was scored by {judges}: the sheet has no {' and no '.join(lacking)}. Unused columns: "
        f"{', '.join(map(repr, unused))}. "
    )
    if not clear:
        form = " ".join(f"--column {field}=NAME" for field in lacking)
        return [f"{told}To use one, run the same command with {form} --force."], []
    reasons = [f"{name!r} as the {field} ({why})" for field, (name, why) in clear.items()]
    options = [part for field, (name, _) in clear.items() for part in ("--column", f"{field}={name}")]
    return [f"{told}To use {' and '.join(reasons)}, run:"], [*options, "--force"]


def _unused_columns(answers: Iterator[Answer], sheets: Sequence[Path]) -> dict[str, list[object]]:
    """Return the columns of text that are read as no field, with the values of the first rows."""
    files = [path for path in sheets if path.is_file() and ending_of(path) in READERS]
    tables = [path for path in files if not _is_trace(path)]
    there = {column for path in tables for column in columns_in(path)} - set(DOCUMENT_IDS)
    unused: dict[str, list[object]] = {}
    for row in islice(answers, LOOKED_AT):
        for name, value in (row.metadata or {}).items():
            if name in there and isinstance(value, str | list):
                unused.setdefault(name, []).append(value)
    return unused


def _is_trace(path: Path) -> bool:
    _, first = next(iter(reader_of(path)(path)), (0, None))
    return isinstance(first, dict) and is_trace(first)


def run_folder_of(
    output: str | None, sheet: Sequence[Path], settings: Settings, *, force: bool, each_turn: bool = False
) -> Path | None:
    """Return the folder of the run that is written; None where `output` names a file of rows.

    Without an output it is `runs/NAME`, after the sheet, `runs/NAME-turns` with each_turn; a path without an
    ending is a folder as it stands. Raises DataError as check_run_folder does.
    """
    if output is not None and (is_shards(output) or url_of(output) or Path(output).suffix):
        return None
    name = re.sub(r"[^\w.-]+", "-", sheet[0].stem).strip("-.") or "judged"
    name += "-turns" if each_turn else ""
    folder = settings.path("runs") / name if output is None else Path(output)
    check_run_folder(folder, force)
    return folder


def check_run_folder(folder: Path, force: bool) -> None:
    """Raise DataError where something else stands, before anything is paid for."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file. Give another name with -o, e.g. -o {folder}.jsonl.")
    if (folder / "manifest.json").is_file() and not force:
        raise DataError(
            f"{folder} was written by `ragstone run`, as its settings say. To add a judge, name it in judges "
            "of [judge] in ragstone.toml and run again; else give another folder or file with -o."
        )


def judges_again(
    output: str, answers: Iterable[Answer], judges: Sequence[Judge], settings: Settings, *, force: bool
) -> bool:
    """Return whether a file holds judgements that the same command made, so that it may be written anew.

    Everything of it comes from the ledger then, but for what has failed. Raises DataError, saying what else
    it holds, for a file of other judgements.
    """
    path = local_path(output)
    if force or is_shards(output) or url_of(output) or not path.is_file():
        return False
    asked = {(row.question_id, row.system) for row in answers}
    by_name = {judge.name: judge for judge in judges}
    try:
        rows = [*read_rows(path, Judgement)]
    except DataError:
        return False  # no judgements at all: it is not to be touched
    for row in rows:
        judge = by_name.get(row.judge.removesuffix(JOINT_SUFFIX))
        if judge is None:
            why = f"it holds judgements by {row.judge} too. Add --judge {row.judge}: nothing is asked twice"
        elif row.model not in (NO_MODEL, settings.judge.model) and asks_default(judge):
            why = f"its judgements by {row.judge} were made with {row.model}. Add --model {row.model}"
        elif (row.question_id, row.system) not in asked:
            why = f"it holds judgements of answers that are not in the sheet, such as {row.question_id!r}"
        else:
            continue
        raise DataError(
            f"{output} exists and was not touched: {why}; or give another name, or --force to replace it."
        )
    return True
