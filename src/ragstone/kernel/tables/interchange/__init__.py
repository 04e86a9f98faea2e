"""Results that other tools write -> rows of an answer sheet, without being told which tool it was."""
