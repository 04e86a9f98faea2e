"""The questions of a set, with those that its build had lost, in one list."""

from collections.abc import Iterable
from pathlib import Path

from ragstone.dataset.reviewing.applying import unreviewed
from ragstone.errors import DataError
from ragstone.records import Question
from ragstone.tables import read_rows


def all_path(questions: Path) -> Path:
    """Return where a build puts every candidate: `questions.jsonl` -> `questions.all.jsonl`."""
    return questions.with_name(f"{questions.stem}.all{questions.suffix}")


def read_whole(questions: Path) -> list[Question]:
    """Return the questions of a file, and the lost ones of the file beside it whose name ends in `.all`.

    Raises DataError as read_rows does.
    """
    every = all_path(questions)
    return whole(read_rows(questions, Question), read_rows(every, Question) if every.exists() else ())


def whole(accepted: Iterable[Question], every: Iterable[Question]) -> list[Question]:
    """Return the lost among `every` and the accepted, in the order of `every`; what it lacks comes last.

    A question of `every` that is neither lost nor accepted was taken out of the set by somebody, and stays
    out. Raises DataError for an id that is both accepted and lost.
    """
    left = {row.id: row for row in accepted}
    found: list[Question] = []
    for row in every:
        _, lost = unreviewed(row)
        rejected = (row.metadata or {}).get("lost") is not None
        if row.id in left:
            if rejected and not _rescued(left[row.id]):
                raise DataError(
                    f"question {row.id!r} is accepted in one file and lost in the other: are they of one "
                    "build?"
                )
            found.append(left.pop(row.id))
        elif rejected or lost is not None:
            found.append(row)
    return [*found, *left.values()]


def _rescued(question: Question) -> bool:
    return unreviewed(question)[1] is not None
