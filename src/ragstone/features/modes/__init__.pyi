"""What other features take of this one; each name is imported when it is first used."""

from .files import signs_file as signs_file
from .proposing import fisher_p as fisher_p
from .proposing import propose_signs as propose_signs
