"""Labels of a queue in and out: rows of any tool that name answers, and files for any tool."""

from collections.abc import Iterable, Sequence

import msgspec

from ragstone.agreement.pairing import UNNAMED
from ragstone.agreement.queueing.marking import carried, on_scale
from ragstone.agreement.queueing.queue import Queue
from ragstone.errors import DataError
from ragstone.records import Answer, Label

SHOWN = 10


def fitted(queue: Queue, texts: Sequence[Answer], labels: Iterable[Label], annotator: str) -> list[Label]:
    """Return labels from elsewhere as labels of this queue: with its metric, and with what its own carry.

    annotator: the name for labels without one. A label that names no system is of the queue's answer to that
    question, if there is one only. Raises DataError naming the first ten that do not fit: answers that the
    queue does not hold, scores off its scale, another metric, one answer twice by one annotator. None is
    taken then.
    """
    places = {(item.question_id, item.system): at for at, item in enumerate(queue.items)}
    systems: dict[str, list[str]] = {}
    for question_id, system in places:
        systems.setdefault(question_id, []).append(system)
    found: dict[tuple[str, str, str], Label] = {}
    problems: list[str] = []
    for number, label in enumerate(labels, 1):
        try:
            key = _answer(label, systems)
            at = _place(queue, label, places.get(key))
            named = (*key, label.annotator or annotator)
            if named in found:
                raise DataError(f"a second label of this answer by {named[2]!r}")
            found[named] = msgspec.structs.replace(
                label,
                system=key[1],
                metric=queue.metric,
                annotator=named[2],
                score=on_scale(queue, label.score),
                metadata=carried(queue, texts[at], queue.items[at].inclusion),
            )
        except DataError as mistake:
            problems.append(f"label {number}, question {label.question_id!r}: {mistake}")
    if problems:
        more = f"\n(and {len(problems) - SHOWN} more)" if len(problems) > SHOWN else ""
        raise DataError("\n".join(["No label was taken in:", *problems[:SHOWN]]) + more)
    return list(found.values())


def _answer(label: Label, systems: dict[str, list[str]]) -> tuple[str, str]:
    named = systems.get(label.question_id, [])
    if label.system == UNNAMED and UNNAMED not in named and len(named) == 1:
        return (label.question_id, named[0])
    return (label.question_id, label.system)


def _place(queue: Queue, label: Label, at: int | None) -> int:
    if at is None:
        raise DataError(f"the queue holds no answer of system {label.system!r} to it")
    if label.metric not in (None, queue.metric):
        raise DataError(f"it is of {label.metric!r}, and the queue is of {queue.metric!r}")
    return at
