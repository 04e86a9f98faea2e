"""Queues of answers that people label, and the files that the labels go to."""

from ragstone.agreement.queueing.choosing import (
    EQUAL,
    SPREAD_EVENLY,
    WAYS,
    Choice,
    Chosen,
    Way,
    choose,
    way_of,
)
from ragstone.agreement.queueing.exchanging import fitted
from ragstone.agreement.queueing.making import EVIDENCE, Material, Plan, judges_in, make_queue, rubric_of
from ragstone.agreement.queueing.marking import Marks, Skip
from ragstone.agreement.queueing.progress import Progress, Reach, Share, progress_of, reach_of
from ragstone.agreement.queueing.queue import (
    Example,
    Item,
    Queue,
    Reference,
    Rubric,
    deal,
    queue_names,
    queue_path,
    read_queue,
    read_texts,
    write_queue,
)
from ragstone.agreement.queueing.rowfile import RowFile

__all__ = [
    "EQUAL",
    "EVIDENCE",
    "SPREAD_EVENLY",
    "WAYS",
    "Choice",
    "Chosen",
    "Example",
    "Item",
    "Marks",
    "Material",
    "Plan",
    "Progress",
    "Queue",
    "Reach",
    "Reference",
    "RowFile",
    "Rubric",
    "Share",
    "Skip",
    "Way",
    "choose",
    "deal",
    "fitted",
    "judges_in",
    "make_queue",
    "progress_of",
    "queue_names",
    "queue_path",
    "reach_of",
    "read_queue",
    "read_texts",
    "rubric_of",
    "way_of",
    "write_queue",
]
