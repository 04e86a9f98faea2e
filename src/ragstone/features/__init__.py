"""Flows: one folder for each thing that a user does, with its command."""
