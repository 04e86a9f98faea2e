"""The run that `ragstone judge` writes, and what becomes of it when it is judged again."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import check_run_folder, judge_in_session, judge_sheet
from ragstone.kernel.config import Settings
from ragstone.kernel.engine.output import made_and_held
from ragstone.kernel.engine.progress_file import progress_on_disk
from ragstone.kernel.engine.session import PLAIN, Session, SessionOptions
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import JOINT_SUFFIX, NO_MODEL, Answer, Judgement
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.runs.summary import ChosenAnswers, RunSummary
from ragstone.kernel.tables import partial_path, read_rows, write_rows
from ragstone.kernel.tables.columns import CHOICE

ANSWERS, JUDGEMENTS, SUMMARY = "answers.jsonl", "judgements.jsonl", "summary.json"
UNREAD = (
    f"The {SUMMARY} of the earlier judgements could not be read. It is replaced, without the models and "
    "columns of that time."
)
PIECE = 1 << 20  # bytes


class _Earlier(msgspec.Struct):
    """What stays of the summary of a run that is judged again."""

    models: dict[str, str]
    columns: dict[str, str] = {}


def _put_answers(folder: Path, sheet: AnswerSheet, force: bool) -> None:
    """Write the answers into the folder.

    Judgements there must be of these answers, or of the first of them. Raises DataError where they are of
    others, unless `force`; nothing is changed then.
    """
    path, coming = folder / ANSWERS, folder / "answers.coming.jsonl"
    if any(source.resolve() == path.resolve() for source in sheet.paths):
        return
    try:
        write_rows(coming, sheet, Answer, force=True)
        judged = (folder / JUDGEMENTS).is_file() and path.is_file()
        if judged and not force and not _begins_with(coming, path):
            raise DataError(
                f"{folder} holds judgements of other answers than {', '.join(map(str, sheet.paths))} has "
                "now, or of more answers. Give another folder or file with -o, or --force to replace "
                "them."
            )
        coming.replace(path)
    finally:
        for left in (coming, partial_path(coming)):
            left.unlink(missing_ok=True)


def _begins_with(path: Path, beginning: Path) -> bool:
    with path.open("rb") as whole, beginning.open("rb") as part:
        while piece := part.read(PIECE):
            if whole.read(len(piece)) != piece:
                return False
    return True


def judge_to_run(
    sheet: AnswerSheet,
    folder: Path,
    judges: Sequence[Judge],
    settings: Settings,
    *,
    how: SessionOptions = PLAIN,
    force: bool = False,
    bounds: bool = False,
    chosen: ChosenAnswers | None = None,
) -> RunSummary:
    """Judge the answers of a sheet into a run of their own, and return its numbers.

    The folder holds the answers, their judgements and summary.json: what `report`, `serve`, `compare`,
    `agree` and `label` open. Judged again, judgements by other judges, or by other models, stay, what has
    failed is asked again, and the rest comes from the ledger; the summary keeps columns and models of that
    time. chosen: how the answers of the sheet were chosen from others. Raises DataError where it holds
    judgements of other answers, unless `force`; else as judge_sheet does.
    """
    check_run_folder(folder, force)
    with made_and_held(folder, ANSWERS), progress_on_disk(folder, how.progress) as progress:
        _put_answers(folder, sheet, force)
        judgements, earlier_rows = folder / JUDGEMENTS, []
        if judgements.is_file() and not force:
            model = settings.judge.model or NO_MODEL
            again = {(judge.name, judge.model_name(model)) for judge in judges}
            rows = read_rows(judgements, Judgement)
            earlier_rows = [
                row for row in rows if (row.judge.removesuffix(JOINT_SUFFIX), row.model) not in again
            ]
        summary = judge_sheet(
            sheet,
            judgements,
            judges,
            settings,
            how=how._replace(progress=progress),
            force=True,
            bounds=bounds,
            kept=earlier_rows,
            log_in=folder,
        )
        models, columns = summary.models, dict(CHOICE.get().columns)
        try:
            before = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=_Earlier)
            judged_by = {row.model for row in earlier_rows}
            for (
                role,
                name,
            ) in models.items():  # all that judged are named, as the ledger knows them: NAME@HOST
                earlier = before.models.get(role, "").split(", ")
                known = [model for model in earlier if model != name and model.partition("@")[0] in judged_by]
                models = {**models, role: ", ".join([*known, name])}
            models, columns = {**before.models, **models}, {**before.columns, **columns}
        except FileNotFoundError:  # nothing was judged before
            pass
        except (OSError, *NOT_JSON):
            lost = [UNREAD] if earlier_rows else []
            summary = msgspec.structs.replace(summary, notes=[*summary.notes, *lost])
        summary = msgspec.structs.replace(summary, models=models, columns=columns)
        return _put_summary(folder, summary, chosen)


async def judge_to_new_run(
    session: Session,
    sheet: AnswerSheet,
    folder: Path,
    judges: Sequence[Judge],
    *,
    chosen: ChosenAnswers | None = None,
) -> RunSummary:
    """Judge the answers of a sheet into a new run, in a session that somebody else has opened.

    Raises DataError where the folder is there already; else as judge_sheet does.
    """
    if folder.exists():  # noqa: ASYNC240 - a run alone in its loop
        raise DataError(f"{folder} exists: give the new run another name.")
    with made_and_held(folder, ANSWERS), progress_on_disk(folder, session.progress) as progress:
        session.progress = progress
        write_rows(folder / ANSWERS, sheet, Answer)
        summary = await judge_in_session(session, sheet, folder / JUDGEMENTS, judges, log_in=folder)
        return _put_summary(folder, summary, chosen)


def _put_summary(folder: Path, summary: RunSummary, chosen: ChosenAnswers | None) -> RunSummary:
    summary = chosen.beside(summary) if chosen else summary
    summary = msgspec.structs.replace(summary, name=folder.name)
    (folder / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))
    return summary
