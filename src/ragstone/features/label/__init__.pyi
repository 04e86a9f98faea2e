"""What other features take of this one; each name is imported when it is first used."""

from ._drawn import hides_from as hides_from
from ._drawn import keep_drawn as keep_drawn
from ._policies import keep_policy as keep_policy
from .labelling import ToLabel as ToLabel
from .queue import queue_names as queue_names
from .queue import read_queue as read_queue
from .queue import read_texts as read_texts
