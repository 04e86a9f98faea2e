"""Decisions of people on the questions of an evaluation set -> the reviewed set."""
