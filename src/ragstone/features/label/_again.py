"""Answers of a queue that are labelled again: how many of them flipped."""

from ragstone.features.agree import labelled_again_lines
from ragstone.features.label._queues import OpenQueue, Queues
from ragstone.kernel.errors import DataError


def flips_shown(queues: Queues, opened: OpenQueue) -> list[str]:
    """Return how many flipped: of a queue that labels again, or of those that label this one's again."""
    if opened.queue.again_of:
        others = [opened]
    else:
        others = [other for other in queues.all()[0] if other.queue.again_of == opened.queue.name]
    return [f"{other.queue.name}: {line}" for other in others for line in _lines(queues, other)]


def _lines(queues: Queues, again: OpenQueue) -> list[str]:
    first = queues.open(again.queue.again_of or "")
    before = first.labels_under(again.queue.again_policy)
    try:
        return labelled_again_lines(before, again.marks.labels.rows(), again.queue.metric)
    except DataError:
        return ["no answer has been labelled again yet."]
