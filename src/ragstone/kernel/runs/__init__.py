"""A run folder as a value: its rows joined, its summary, its settings, and the words of its numbers."""
