"""What is wrong with a judge's file."""

from ragstone.judging.checking.problems import problem_of

__all__ = ["problem_of"]
