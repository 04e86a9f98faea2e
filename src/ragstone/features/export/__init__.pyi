"""What other features take of this one; each name is imported when it is first used."""

from .otlp import explanation_of as explanation_of
from .stream import EventCounts as EventCounts
from .stream import EventStream as EventStream
