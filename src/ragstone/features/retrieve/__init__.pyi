"""What other features take of this one; each name is imported when it is first used."""

from .words import headline_blocks as headline_blocks
from .words import retrieval_blocks as retrieval_blocks
from .words import retrieval_dots as retrieval_dots
from .words import score_findings as score_findings
