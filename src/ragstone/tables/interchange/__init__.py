"""Results that other tools write -> rows of an answer sheet, without being told which tool it was."""

from ragstone.tables.interchange.recognise import answers_in, is_result

__all__ = ["answers_in", "is_result"]
