"""Judges in Python: a function, or a metric of another tool, that is given a row and returns a score."""
