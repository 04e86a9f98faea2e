"""Where judgements go: a run of their own, or a file; and whether a file is what the command makes."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ragstone.config import Settings
from ragstone.errors import DataError
from ragstone.judging import Judge
from ragstone.judging.fields import JOINT_SUFFIX
from ragstone.judging.leaves import asks_default
from ragstone.records import NO_MODEL, Answer, Judgement
from ragstone.tables import read_rows
from ragstone.tables.storage import is_shards, local_path, url_of


def run_folder_of(
    output: str | None, sheet: Sequence[Path], settings: Settings, *, force: bool
) -> Path | None:
    """Return the folder of the run that is written; None where `output` names a file of rows.

    Without an output it is `runs/NAME`, after the sheet; a path without an ending is a folder as it stands.
    Raises DataError as check_run_folder does.
    """
    if output is not None and (is_shards(output) or url_of(output) or Path(output).suffix):
        return None
    name = re.sub(r"[^\w.-]+", "-", sheet[0].stem).strip("-.") or "judged"
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
