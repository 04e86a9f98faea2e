"""What other features take of this one; each name is imported when it is first used."""

from .comparing import read_judged as read_judged
from .comparing import read_people as read_people
from .matching import JudgedRun as JudgedRun
from .overlap import ErrorOverlap as ErrorOverlap
from .overlap import GivenDocument as GivenDocument
from .overlap import error_overlap as error_overlap
from .overlap import given_documents as given_documents
from .overlap_words import overlap_table as overlap_table
from .paired import compare_judged as compare_judged
from .values import Comparison as Comparison
