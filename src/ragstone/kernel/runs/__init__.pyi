"""The names of this room that others take from it; each is imported when it is first used."""

from .breakdown import Distribution, FoundAndRight, GroupedMeans, SystemsBoard

__all__ = ["Distribution", "FoundAndRight", "GroupedMeans", "SystemsBoard"]
