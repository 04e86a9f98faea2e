"""The answers of a run that a filter leaves, as a sheet to judge."""

from collections.abc import Collection
from pathlib import Path

from ragstone.features.judge._sheet import AnswerSheet
from ragstone.kernel.errors import DataError
from ragstone.kernel.stages.given import rows_in


def chosen_sheet(
    folder: Path, where: str, *, left: Collection[tuple[str, str]] | None = None, limit: int | None = None
) -> AnswerSheet:
    """Return the answers of a run that a filter leaves, with their questions.

    left: which these are, where that is known; else the run is read. Raises DataError for a folder without
    answers, and where nothing is left.
    """
    answers = rows_in(folder, "answers") if folder.is_dir() else None
    if answers is None:
        raise DataError(
            f"{folder}: a filter chooses answers of a run, and there is no run with answers here."
        )
    if left is None:
        from ragstone.kernel.runs.joined_rows import rows_where
        from ragstone.kernel.runs.run import read_run

        left = {(row["question_id"], row["system"]) for row in rows_where([read_run(folder)], where)[0][0]}
    sheet = AnswerSheet(answers, questions=rows_in(folder, "questions"), limit=limit, left=left)
    if not len(sheet):
        raise DataError(f"No answer of {folder} matches the filter {where!r}. Change the filter.")
    return sheet
