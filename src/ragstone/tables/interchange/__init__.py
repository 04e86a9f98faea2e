"""Results that other tools write -> rows of an answer sheet, without being told which tool it was."""

from ragstone.tables.interchange.recognise import answers_in, is_result, is_trace

__all__ = ["answers_in", "is_result", "is_trace"]
