"""The names of this room that others take from it; each is imported when it is first used."""

from .card import ReportCard
from .corrected import (
    corrected_means,
)  # the documentation gave it from here; all public names are `ragstone.NAME`
from .corrected_mean import CorrectedMean

__all__ = ["CorrectedMean", "ReportCard", "corrected_means"]
