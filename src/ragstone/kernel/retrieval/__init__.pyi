"""The names of this room that others take from it; each is imported when it is first used."""

from .summary import RetrievalSummary

__all__ = ["RetrievalSummary"]
