"""What other features take of this one; each name is imported when it is first used."""

from .page import write_markdown as write_markdown
from .page import write_report as write_report
from .words import run_document as run_document
