"""Queues that another feature draws, and whom what they are drawn by must be hidden from."""

from collections.abc import Sequence

from ragstone.features.label._choosing import AnswerDraw
from ragstone.features.label._queues import queues_of
from ragstone.features.label.labelling import ToLabel
from ragstone.features.label.pages import LABEL, is_blind, keep_queue
from ragstone.features.label.queue import Queue, QueueItem
from ragstone.kernel.records import Answer
from ragstone.kernel.serve.frame import Person
from ragstone.kernel.serve.state import AppState


def keep_drawn(
    app: AppState, source: str, question: str, drawn: Sequence[ToLabel], texts: Sequence[Answer]
) -> str:
    """Make a queue of answers that were drawn for one question, yes or no; return the address of its page.

    source: the run. drawn: with the same `queue` and `metric`, and the chance of each; texts: their answers,
    in the same order. A draw that has a queue already gets no second one.
    """
    first = drawn[0]
    queue = Queue(
        name=str(first.queue),
        source=source,
        judge=str(first.metric),
        metric=str(first.metric),
        scale=(0.0, 1.0),
        choice=AnswerDraw(by="mode", n=len(drawn), metric=first.metric, judge=first.metric),
        instructions=question,
        items=[QueueItem(row.question_id, row.system, row.inclusion) for row in drawn],
    )
    folder = app.part(queues_of).folder
    if not (folder / f"{queue.name}.json").exists():
        keep_queue(app, queue, [*texts])
    return f"{LABEL}/{queue.name}/progress"


def hides_from(app: AppState, person: Person, source: str) -> bool:
    """Whether somebody still labels answers of a run, and must not see what its judges say of them."""
    return any(
        opened.queue.source == source and is_blind(person, opened) for opened in app.part(queues_of).all()[0]
    )
