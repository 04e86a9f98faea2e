"""Queues of answers that people label, and the files that the labels go to."""
