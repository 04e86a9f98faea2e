"""A run as a value for scripts and notebooks: its numbers, its rows, one table of them, a row whole."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragstone.kernel.config import load_settings
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.records import Answer, Judgement, Question, Ranking
from ragstone.kernel.runs import run as folder_of_run
from ragstone.kernel.runs.joined_rows import joined, rows_where
from ragstone.kernel.runs.joining import OpenedRows, row_of
from ragstone.kernel.runs.notes import Note
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.runs.views import VIEWS, read_view, shown_rows
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.shown import Displayed

RowT = TypeVar("RowT", Ranking, Answer, Judgement)


class FinishedRun(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A run that has been read. The rows of a question stand together, in the order of the questions.

    folder: where it stands. content: everything in it, by question id.
    """

    folder: Path
    content: folder_of_run.Run

    @property
    def summary(self) -> RunSummary:
        """Every number of the run."""
        return self.content.summary

    @property
    def manifest(self) -> dict[str, Any]:
        """Settings, models and digests; empty where the run has none."""
        return self.content.manifest or {}

    @property
    def questions(self) -> Rows[Question]:
        """The questions; empty for a sheet that carries them inline."""
        return Rows(self.content.questions.values(), Question)

    @property
    def rankings(self) -> Rows[Ranking]:
        """What retrievers returned."""
        return Rows(_all(self.content.rankings.values()), Ranking)

    @property
    def answers(self) -> Rows[Answer]:
        """The answers."""
        return Rows(_all(self.content.answers.values()), Answer)

    @property
    def judgements(self) -> Rows[Judgement]:
        """What the judges said."""
        return Rows(_all(self.content.judgements.values()), Judgement)

    @property
    def notes(self) -> Rows[Note]:
        """What people have written down about its rows."""
        return Rows(self.content.notes, Note)

    def table(self) -> Rows[dict[str, Any]]:
        """Return a row for each question and system, with every judge's score beside the answer.

        docs/how-to/export.md lists the columns. `.table().to_polars()` is the run as a data frame.
        """
        return joined(self.content)

    def where(self, condition: str) -> Rows[dict[str, Any]]:
        """Return the rows of `table` that a filter leaves: `correctness < 50 and topic = "maize"`.

        docs/reference/filters.md has the words. Raises DataError that says where the filter ceases to make
        sense.
        """
        (rows,) = rows_where([self.content], condition)[0]
        return rows

    def view(self, name: Path | str) -> Rows[dict[str, Any]]:
        """Return the rows of `table` that a saved view leaves, in its order and its columns.

        name: of a view of the project, in the folder `views` beside ragstone.toml; or the path of its file.
        docs/reference/filters.md tells how views are saved. Raises DataError for a view that there is not,
        and for one whose filter, order or columns do not fit this run.
        """
        path = Path(name)
        folder = path.parent if path.suffix == ".json" else load_settings().path(VIEWS)
        view = read_view(folder, path.stem if path.suffix == ".json" else str(name))
        return shown_rows(self.where(view.where) if view.where.strip() else self.table(), view)

    def row(
        self,
        question_id: str,
        *,
        system: str | None = None,
        labels: Path | str | None = None,
        calls: bool = False,
    ) -> OpenedRows:
        """Return a question, whole: what each system answered, what judges and people say of it, and why.

        It is what the workbench's page of a row and `ragstone show` render. system: that the other answers
        are compared with word by word, default the first. labels: a file of people's labels; of these, those
        of this row's answers are there. calls: with the prompts and the raw replies. Raises
        DataError for a question or a system that the run does not have, and for labels that cannot be read.
        """
        files = {Path(labels).name: Path(labels)} if labels is not None else {}
        row, _ = row_of(self.content, question_id, files, system=system, must_read=True)
        return row.with_calls(self.folder) if calls else row

    def __fspath__(self) -> str:
        """Return its folder: it may stand wherever the path of a run may (compare, blame, write_report)."""
        return str(self.folder)

    def __repr__(self) -> str:
        return f"<run {self.summary.name!r} in {self.folder}>"


@checks_arguments
def read_run(folder: Path | str) -> FinishedRun:
    """Return the run in a folder, such as runs/starter.

    Raises DataError when the folder, summary.json or judgements.jsonl is missing, or a file cannot be read.
    """
    if not isinstance(folder, Path | str):
        raise DataError(f"read_run: expected the path of a run folder, got {type(folder).__name__}.")
    return FinishedRun(folder=Path(folder), content=folder_of_run.read_run(Path(folder)))


def _all(groups: Iterable[list[RowT]]) -> list[RowT]:
    return [row for group in groups for row in group]
