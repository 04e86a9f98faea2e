"""What other features take of this one; each name is imported when it is first used."""

from .queue import queue_names as queue_names
from .queue import read_queue as read_queue
from .queue import read_texts as read_texts
