"""What other features take of this one; each name is imported when it is first used."""

from .stream import EventCounts as EventCounts
from .stream import EventStream as EventStream
