"""Documents -> questions that can be trusted: written, checked, criticised, certified."""

from ragstone.dataset.built import Built, CriticMeasured
from ragstone.dataset.candidate import REASONS, Candidate, Loss, Passage

__all__ = ["REASONS", "Built", "Candidate", "CriticMeasured", "Loss", "Passage"]
