"""An answer sheet -> judgements, row by row as they stream past; where they go, and what was not read."""

import contextlib
import functools
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.features.judge._sheet import AnswerSheet, answers_or_questions
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.digests import digest_of, made_from
from ragstone.kernel.engine.output import write_stream
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import (
    PLAIN,
    Session,
    SessionOptions,
    forecast_of,
    run_in_session,
)
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.judging import Judge, MetricSummary
from ragstone.kernel.judging.conversation import TURN, every_reply
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.variant import AnyJudge, load_judges
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.records import JOINT_SUFFIX, NO_MODEL, Answer, Judgement, Question
from ragstone.kernel.runs.folders import is_ours
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.stages.forecasting import hear_judging
from ragstone.kernel.stages.judge import count_planned, judge_rows
from ragstone.kernel.stages.notes import JudgementTally
from ragstone.kernel.tables import Rows, check_output, keep_sources, parse_rows, read_rows
from ragstone.kernel.tables.columns import PASSAGE
from ragstone.kernel.tables.formats import READERS, ending_of, reader_of
from ragstone.kernel.tables.interchange.recognise import is_trace
from ragstone.kernel.tables.names import accepted_names
from ragstone.kernel.tables.proposals import could_hold
from ragstone.kernel.tables.reading import columns_in
from ragstone.kernel.tables.storage import Place, is_shards, local_path, url_of

if TYPE_CHECKING:
    from ragstone.kernel.llm.forecast import Forecast

# What may be missed of a sheet: the field of the longest texts first.
FIELDS = ("contexts", "reference", "question")
LOOKED_AT = 100  # rows
DOCUMENT_IDS = accepted_names(Question, "document_ids")  # are no texts


def judge_sheet(
    sheet: AnswerSheet,
    output: Place,
    judges: Sequence[Judge],
    settings: Settings,
    *,
    how: SessionOptions = PLAIN,
    force: bool = False,
    bounds: bool = False,
    kept: Sequence[Judgement] = (),
    log_in: Path | None = None,
) -> RunSummary:
    """Judge the answers of a sheet into a file, and return the numbers.

    The sheet is read before anything is paid for, so that a bad row stops nothing half-way. kept: judgements
    that stand before these, and count. log_in: a folder that keeps what was asked and told. bounds: every
    mean with failed rows is shown with its bounds. Raises DataError, ConfigError, ModelError.
    """
    len(sheet)  # reads it, where Ctrl-C ends the reading at once
    judged = functools.partial(
        judge_in_session,
        sheet=sheet,
        output=output,
        judges=judges,
        force=force,
        bounds=bounds,
        kept=kept,
        log_in=log_in,
    )
    return run_in_session(settings, how, judged)


async def judge_in_session(
    session: Session,
    sheet: AnswerSheet,
    output: Place,
    judges: Sequence[Judge],
    *,
    force: bool = False,
    bounds: bool = False,
    kept: Sequence[Judgement] = (),
    log_in: Path | None = None,
) -> RunSummary:
    """Judge as judge_sheet does, in a session that somebody else has opened."""
    check_output(output, force)
    keep_sources([output], sheet.sources)
    settings, n_answers = session.settings, len(sheet)
    digest = ""
    if is_shards(output):
        inputs = [list(map(digest_of, judges)), sheet.limit, *([TURN] if sheet.each_turn else [])]
        digest = made_from(settings, "judge", sheet.sources, *inputs)
    tally = JudgementTally()

    async def judged() -> AsyncIterator[Judgement]:
        for row in kept:
            yield row
        async for row in judge_rows(lambda: sheet, judges, session, n_answers):
            yield row

    with session.logging_calls(log_in) if log_in else contextlib.nullcontext():
        n_new = count_planned(judges, n_answers)
        await write_stream(
            judged(),
            output,
            Judgement,
            each=tally.add,
            n_planned=None if n_new is None else len(kept) + n_new,
            force=force,
            made_from=digest,
        )
    summary = tally.summary(str(output), session, judges, n_answers)
    notes = list(summary.notes)
    if any(judge.compares_two for judge in judges):
        from ragstone.kernel.judging.pairwise import unpaired_notes

        notes += unpaired_notes(judges, sheet)
    return msgspec.structs.replace(summary, notes=notes, bounds_from=0.0 if bounds else summary.bounds_from)


def forecast_judging(sheet: AnswerSheet, judges: Sequence[Judge], settings: Settings) -> "Forecast":
    """Return what judging a sheet would ask. Raises what judge_sheet raises before it makes a call."""
    return forecast_of(settings, functools.partial(hear_judging, lambda: sheet, judges))


def unread_notes(metrics: Sequence[MetricSummary], sheet: AnswerSheet) -> tuple[list[str], list[str]]:
    """Return what is to be told of judges that scored nothing, and the options that mend it.

    Empty where every judge scored something, or where the sheet has no column of text that was not read. What
    a reader made itself, of a trace, is no column. Options are given where name and values speak for one
    column alone; else all are listed, and the user says which.
    """
    scored = {metric.judge for metric in metrics if metric.statuses.get("scored")}
    blind = [
        metric
        for metric in metrics
        if metric.judge not in scored and metric.statuses.keys() == {"not_applicable"}
    ]
    lacking = [field for field in FIELDS if any(field in why for metric in blind for why in metric.reasons)]
    unused = _unused_columns(sheet) if lacking else {}
    if lacking == ["contexts"] and not any(
        len(str(value)) >= PASSAGE for values in unused.values() for value in values
    ):
        return [], []
    if not unused or not lacking:
        return [], []
    judges = ", ".join(dict.fromkeys(metric.judge for metric in blind))
    likely = {field: could_hold(field, unused) for field in lacking}
    clear = {field: next(iter(some.items())) for field, some in likely.items() if len(some) == 1}
    note = (
        f"Nothing was scored by {judges}: the sheet has no {' and no '.join(lacking)}. Unused columns: "
        f"{', '.join(map(repr, unused))}. "
    )
    if not clear:
        form = " ".join(f"--column {field}=NAME" for field in lacking)
        return [f"{note}To use one, run the same command with {form} --force."], []
    reasons = [f"{name!r} as the {field} ({why})" for field, (name, why) in clear.items()]
    options = [part for field, (name, _) in clear.items() for part in ("--column", f"{field}={name}")]
    return [f"{note}To use {' and '.join(reasons)}, run:"], [*options, "--force"]


def _unused_columns(sheet: AnswerSheet) -> dict[str, list[object]]:
    """Return the columns of text that are read as no field, with the values of the first rows."""
    columns: set[str] = set()
    for path in sheet.sources:
        if path.is_file() and ending_of(path) in READERS:
            _, first = next(iter(reader_of(path)(path)), (0, None))
            if not (isinstance(first, dict) and is_trace(first)):
                columns |= set(columns_in(path))
    unused: dict[str, list[object]] = {}
    for row in islice(sheet, LOOKED_AT):
        for name, value in (row.metadata or {}).items():
            if name in columns.difference(DOCUMENT_IDS) and isinstance(value, str | list):
                unused.setdefault(name, []).append(value)
    return unused


def run_folder_of(
    output: str | None, sheet: AnswerSheet, settings: Settings, *, force: bool, name: str | None = None
) -> Path | None:
    """Return the folder of the run that is written; None where `output` names a file of rows.

    Without an output it is `runs/NAME`, after the sheet, `runs/NAME-turns` of each turn; a path without an
    ending is a folder as it stands. name: in place of the sheet's. Raises DataError as check_run_folder does.
    """
    if output is not None and (is_shards(output) or url_of(output) or Path(output).suffix):
        return None
    name = re.sub(r"[^\w.-]+", "-", name or sheet.paths[0].stem).strip("-.") or "judged"
    name += "-turns" if sheet.each_turn else ""
    folder = settings.path("runs") / name if output is None else Path(output)
    check_run_folder(folder, force)
    return folder


def check_run_folder(folder: Path, force: bool) -> None:
    """Raise DataError where something else stands, before anything is paid for."""
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is a file. Give another name with -o, e.g. -o {folder}.jsonl.")
    manifest = folder / "manifest.json"
    if manifest.is_file() and not force:
        if not is_ours(manifest):
            raise DataError(f"{manifest}: Ragstone did not write this file. Give another folder with -o.")
        raise DataError(
            f"{folder} was written by `ragstone run` from its settings. To add a judge, name it in judges "
            "of [judge] in ragstone.toml and run again; otherwise give another folder or file with -o."
        )


def judges_again(output: str, answers: Iterable[Answer], judges: Sequence[Judge], settings: Settings) -> bool:
    """Return whether a file holds judgements that the same command made, so that it may be written anew.

    Everything of it comes from the ledger then, but for what has failed. Raises DataError, saying what else
    it holds, for a file of other judgements.
    """
    path = local_path(output)
    if is_shards(output) or url_of(output) or not path.is_file():
        return False
    answered = {(row.question_id, row.system) for row in answers}
    by_name = {judge.name: judge for judge in judges}
    try:
        rows = [*read_rows(path, Judgement)]
    except DataError:
        return False  # no judgements at all: it is not to be touched
    for row in rows:
        judge = by_name.get(row.judge.removesuffix(JOINT_SUFFIX))
        if judge is None:
            why = f"it holds judgements by {row.judge} too. Add --judge {row.judge}: nothing is asked twice"
        elif row.model not in (NO_MODEL, settings.judge.model) and judge.asks_default:
            why = f"its judgements by {row.judge} were made with {row.model}. Add --model {row.model}"
        elif (row.question_id, row.system) not in answered:
            why = f"it holds judgements of answers that are not in the sheet, such as {row.question_id!r}"
        else:
            continue
        raise DataError(
            f"{output} exists and was not touched: {why}; or give another name, or --force to replace it."
        )
    return True


@checks_arguments
def judge(
    answers: Iterable[Answer | dict[str, Any]],
    *,
    judges: Iterable[AnyJudge],
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    one_call: bool | None = None,
    each_turn: bool = False,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    batch: bool = False,
    progress: Progress = silent,
) -> Rows[Judgement]:
    """Return every judge's judgements of every answer: all answers by the first judge, then by the next.

    answers: rows, or dicts or a data frame with the column names of any tool that `read_rows` understands;
    questions will do where no judge reads an answer. columns: field -> column, where they are others. judges:
    names, paths of judge files, Judge values, or Python functions (see judge_function). model: asked by those
    judges that ask one, in place of the one in `settings` (default: ragstone.toml). one_call: judges whose
    replies fit into one are asked together; their judgements then carry `NAME@together`. each_turn: every
    reply of a conversation (`turns`) is judged, as `ID#PLACE` with its place among the turns, from 1. budget:
    e.g. `100calls` or `2usd`; deadline: e.g. `30m`; what they cut off has the status `over_budget` or
    `timeout`. batch: by the provider's batch API, cheaper, in hours. Raises DataError for a row that cannot
    be read or a second one with its question_id and system, ConfigError for an unknown judge, ModelError when
    no call can succeed.
    """
    chosen = choose(settings or load_settings(), "judge", model=model, one_call=one_call)
    loaded = load_judges(judges)
    if read_no_answer(loaded):
        held = list(answers) if isinstance(answers, Iterator) else answers  # it may be read twice
        rows = list(answers_or_questions(lambda kind: parse_rows(held, kind, columns=columns)))
    else:
        rows = parse_rows(answers, Answer, columns=columns)

    def unfolded() -> Iterable[Answer]:
        return every_reply(rows) if each_turn else rows

    n_rows = sum(1 for _ in unfolded())
    how = SessionOptions(parse_caps(budget, deadline), offline, batch, progress)

    async def work(session: Session) -> Rows[Judgement]:
        judged = judge_rows(unfolded, loaded, session, n_rows)
        return Rows([row async for row in judged], Judgement)

    return run_in_session(chosen, how, work)


def read_no_answer(judges: Iterable[JudgeFields]) -> bool:
    """Return whether no judge reads an answer: then rows without one can be judged."""
    return not any(leaf.reads_answer for judge in judges for leaf, _model in judge.leaves())
