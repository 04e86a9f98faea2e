"""A run folder -> a value for scripts and notebooks: its numbers, its rows, and all of them joined."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragstone.errors import DataError
from ragstone.records import Answer, Judgement, Question, Ranking
from ragstone.report import run as folder_of_run
from ragstone.report.joined import joined
from ragstone.report.summary import RunSummary
from ragstone.tables import Rows
from ragstone.tables.shown import Displayed

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

    def table(self) -> Rows[dict[str, Any]]:
        """Return a row for each question and system, with every judge's score beside the answer.

        docs/export.md lists the columns. `.table().to_polars()` is the run as a data frame.
        """
        return joined(self.content)

    def __repr__(self) -> str:
        return f"<run {self.summary.name!r} in {self.folder}>"


def read_run(folder: Path | str) -> FinishedRun:
    """Return the run in a folder, such as runs/starter.

    Raises DataError when the folder, summary.json or judgements.jsonl is missing, or a file cannot be read.
    """
    if not isinstance(folder, Path | str):
        raise DataError(f"read_run: expected the path of a run folder, got {type(folder).__name__}.")
    return FinishedRun(folder=Path(folder), content=folder_of_run.read_run(Path(folder)))


def _all(groups: Iterable[list[RowT]]) -> list[RowT]:
    return [row for group in groups for row in group]
