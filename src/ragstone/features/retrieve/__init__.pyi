"""What other features take of this one; each name is imported when it is first used."""

from .words import headline_measures as headline_measures
from .words import measures_table as measures_table
from .words import retrieval_blocks as retrieval_blocks
from .words import retrieval_dots as retrieval_dots
from .words import score_blocks as score_blocks
from .words import scores_told as scores_told
