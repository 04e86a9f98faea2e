"""Answers -> people's labels: which to label, the queue, the marks."""
