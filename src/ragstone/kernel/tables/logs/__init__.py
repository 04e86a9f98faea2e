"""Logs of what people asked -> questions with their counts, whatever wrote the log."""
