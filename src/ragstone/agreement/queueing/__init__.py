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

__all__ = ["EQUAL", "SPREAD_EVENLY", "WAYS", "Choice", "Chosen", "Way", "choose", "way_of"]
