"""What other features take of this one; each name is imported when it is first used."""

from .cascade_words import savings_line as savings_line
from .words import asked_lines as asked_lines
from .words import brief_blocks as brief_blocks
