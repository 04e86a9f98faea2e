"""What other features take of this one; each name is imported when it is first used."""

from .feedback_words import kept_lines as kept_lines
from .sampling import Sample as Sample
from .sampling import answers_beside as answers_beside
from .sampling import sample_log as sample_log
