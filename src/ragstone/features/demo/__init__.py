"""The whole pipeline on shipped data."""
