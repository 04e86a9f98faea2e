"""Rows -> rows with tags."""
