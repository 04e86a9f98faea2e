"""Evaluation sets of other people and tools -> questions and documents."""

from ragstone.dataset.importing.found import ImportOptions
from ragstone.dataset.importing.importing import Imported, import_set, import_to_folder
from ragstone.dataset.importing.mapping import parse_columns
from ragstone.dataset.importing.recognise import FORMATS
from ragstone.dataset.importing.repeating import RepeatedQuestion
from ragstone.dataset.importing.tally import ImportSummary, Remarked, told

__all__ = [
    "FORMATS",
    "ImportOptions",
    "ImportSummary",
    "Imported",
    "Remarked",
    "RepeatedQuestion",
    "import_set",
    "import_to_folder",
    "parse_columns",
    "told",
]
