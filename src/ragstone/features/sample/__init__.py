"""Logs -> questions that stand for them."""
