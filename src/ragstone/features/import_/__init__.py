"""Evaluation sets of others -> questions, documents, labels."""
