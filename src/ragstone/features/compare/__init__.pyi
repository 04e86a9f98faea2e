"""What other features take of this one; each name is imported when it is first used."""

from .comparing import RunBaseline as RunBaseline
from .comparing import compare_with_baseline as compare_with_baseline
from .comparing import read_baseline as read_baseline
from .overlap import ErrorOverlap as ErrorOverlap
from .overlap import GivenDocument as GivenDocument
from .overlap import error_overlap as error_overlap
from .overlap import given_documents as given_documents
from .overlap_words import overlap_table as overlap_table
from .values import Comparison as Comparison
from .words import gate_text as gate_text
from .words import outcome as outcome
