"""The run that `ragstone judge` writes, and what becomes of it when it is judged again."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Unpack

import msgspec

from ragstone.features.judge.judging import JudgingOptions, check_run_folder, judge_sheet
from ragstone.kernel.config import Settings
from ragstone.kernel.engine.output import make_folder
from ragstone.kernel.engine.progress_file import told_on_disk
from ragstone.kernel.engine.session import PLAIN
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.fields import JOINT_SUFFIX
from ragstone.kernel.judging.leaves import read_no_answer
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.stages.given import paths_of, sheet_rows
from ragstone.kernel.tables import held, read_rows, write_rows
from ragstone.kernel.tables.columns import CHOICE

ANSWERS, JUDGEMENTS, SUMMARY = "answers.jsonl", "judgements.jsonl", "summary.json"
PIECE = 1 << 20  # bytes


def put_answers(folder: Path, sheet: Path | Sequence[Path], answers: Iterable[Answer], force: bool) -> None:
    """Write the answers into the folder.

    Judgements there must be of these answers, or of the first of them. Raises DataError where they are of
    others, unless `force`; nothing is changed then.
    """
    place, coming = folder / ANSWERS, folder / "answers.coming.jsonl"
    if any(path.resolve() == place.resolve() for path in paths_of(sheet)):
        return
    try:
        write_rows(coming, answers, Answer, force=True)
        judged = (folder / JUDGEMENTS).is_file() and place.is_file()
        if judged and not force and not _begins_with(coming, place):
            raise DataError(
                f"{folder} holds judgements of other answers than {', '.join(map(str, paths_of(sheet)))} has "
                "now, or of more of them. Give another folder or file with -o, or --force to replace them."
            )
        coming.replace(place)
    finally:
        coming.unlink(missing_ok=True)


def _begins_with(path: Path, beginning: Path) -> bool:
    with path.open("rb") as whole, beginning.open("rb") as part:
        while piece := part.read(PIECE):
            if whole.read(len(piece)) != piece:
                return False
    return True


def of_other_judges(folder: Path, judges: Sequence[Judge], force: bool) -> Iterator[Judgement]:
    """Yield the judgements of the folder by judges that are not asked now: they stay."""
    path = folder / JUDGEMENTS
    if force or not path.is_file():
        return
    named = {judge.name for judge in judges}
    for row in read_rows(path, Judgement):
        if row.judge.removesuffix(JOINT_SUFFIX) not in named:
            yield row


def with_before(folder: Path, summary: RunSummary) -> RunSummary:
    """Return the numbers of a run, with the columns of its sheet; if it was judged before, with those and
    the models of that time.
    """
    chosen = dict(CHOICE.get().columns)
    try:
        before = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=RunSummary)
    except (OSError, msgspec.DecodeError):
        return msgspec.structs.replace(summary, columns=chosen)
    return msgspec.structs.replace(
        summary, models={**before.models, **summary.models}, columns={**before.columns, **chosen}
    )


def judge_to_run(
    sheet: Path | Sequence[Path],
    folder: Path,
    judges: Sequence[Judge],
    settings: Settings,
    **options: Unpack[JudgingOptions],
) -> RunSummary:
    """Judge the answers of files into a run of their own, and return its numbers. options: of judge_sheet.

    The folder holds the answers, their judgements and summary.json: what `report`, `serve`, `compare`,
    `agree` and `label` open. Judged again, judgements by other judges stay, what has failed is asked again,
    and the rest comes from the ledger. Raises DataError where it holds judgements of other answers, unless
    `force`; else as judge_sheet does.
    """
    force, how = options.get("force", False), options.get("how", PLAIN)
    check_run_folder(folder, force)
    make_folder(folder)
    with held(folder), told_on_disk(folder, how.progress) as telling:
        rows = sheet_rows(
            sheet,
            options.get("questions"),
            options.get("limit"),
            bare=read_no_answer(judges),
            each_turn=options.get("each_turn", False),
        )
        put_answers(folder, sheet, rows(), force)
        again: JudgingOptions = {**options, "force": True, "how": how._replace(progress=telling)}
        summary = judge_sheet(
            sheet,
            folder / JUDGEMENTS,
            judges,
            settings,
            **again,
            kept=list(of_other_judges(folder, judges, force)),
            log_in=folder,
        )
        summary = with_before(folder, msgspec.structs.replace(summary, name=folder.name))
        (folder / SUMMARY).write_bytes(msgspec.json.format(msgspec.json.encode(summary), indent=2))
    return summary
