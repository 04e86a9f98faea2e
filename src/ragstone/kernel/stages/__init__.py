"""Stages: rows -> rows, resumable, on any engine."""
