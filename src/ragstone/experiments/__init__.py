"""Judged answers -> where the lost points went; retrievers on the same questions -> which is better."""
