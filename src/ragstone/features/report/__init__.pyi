"""What other features take of this one; each name is imported when it is first used."""

from .page import write_reports as write_reports
from .words import run_document as run_document
