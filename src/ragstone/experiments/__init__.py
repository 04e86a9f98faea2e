"""Judged answers -> where the lost points went."""

from ragstone.experiments.blame import FoundAndRight, found_and_right

__all__ = ["FoundAndRight", "found_and_right"]
