"""What other features take of this one; each name is imported when it is first used."""

from ._files import mode_name as mode_name
from ._files import signs_file as signs_file
from ._proposing import fisher_p as fisher_p
from ._proposing import propose_signs as propose_signs
