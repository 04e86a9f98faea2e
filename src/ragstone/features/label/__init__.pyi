"""What other features take of this one; each name is imported when it is first used."""

from ._policies import keep_policy as keep_policy
from .labelling import ToLabel as ToLabel
from .queue import queue_names as queue_names
from .queue import read_queue as read_queue
from .queue import read_texts as read_texts
