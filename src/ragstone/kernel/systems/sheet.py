"""Answer sheets made elsewhere, as the answers of a system."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.config import SheetSystem
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.records import Answer, Question, name_repeat, split_repeat
from ragstone.kernel.systems.rows import join_questions, unanswered
from ragstone.kernel.tables import read_rows


def answers_of_sheet(
    name: str, declared: SheetSystem, path: Path, questions: Sequence[Question]
) -> Iterator[Answer]:
    """Yield the sheet's answers to every question, in the order of the questions, as the system `name`.

    Repeated answers of its system stay repeats. A question that the sheet does not answer has an `error`.
    Raises DataError where the sheet holds answers of several systems and none is named, lacks the one that
    is, or answers not one of the questions.
    """
    where = f"[systems.{name}] {path}"
    rows = list(read_rows(path, Answer))
    systems = sorted({split_repeat(row.system)[0] for row in rows})
    if declared.system is None and len(systems) > 1:
        raise DataError(f"{where} holds the answers of {', '.join(systems)}: name one of them as `system`.")
    if declared.system is not None and declared.system not in systems:
        raise DataError(f"{where} has no answers of {declared.system!r}. {nearest(declared.system, systems)}")
    by_id: dict[str, dict[int, Answer]] = {}
    for row in rows:
        system, number = split_repeat(row.system)
        if declared.system in (None, system):
            by_id.setdefault(row.question_id, {})[number] = row
    if questions and by_id.keys().isdisjoint(question.id for question in questions):
        raise DataError(
            f"{where} answers none of the questions: its ids, e.g. {next(iter(by_id))!r}, are not theirs, "
            f"e.g. {questions[0].id!r}."
        )
    for question in questions:
        repeats = by_id.get(question.id)
        if repeats is None:
            lost = unanswered(question, name)
            yield msgspec.structs.replace(lost, error=f"error: {where} has no answer to it")
            continue
        for number, row in sorted(repeats.items()):
            (joined,) = join_questions([row], {question.id: question})
            yield msgspec.structs.replace(joined, system=name_repeat(name, number))
