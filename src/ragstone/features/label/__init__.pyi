"""What other features take of this one; each name is imported when it is first used."""

from .drawn import hides_from as hides_from
from .drawn import keep_drawn as keep_drawn
from .labelling import ToLabel as ToLabel
from .labelling import keep_instructions as keep_instructions
from .labelling import policy_digest as policy_digest
from .queue import queue_names as queue_names
from .queue import read_queued as read_queued
