"""Judged answers -> where the lost points went; retrievers on the same questions -> which is better."""

from ragstone.experiments.blame import FoundAndRight, found_and_right
from ragstone.experiments.paired import (
    Leaders,
    PairedComparison,
    best_and_indistinguishable,
    compare_rankings,
)

__all__ = [
    "FoundAndRight",
    "Leaders",
    "PairedComparison",
    "best_and_indistinguishable",
    "compare_rankings",
    "found_and_right",
]
