"""Stages on the workers of a Ray cluster. Import what you need from its modules: Ray is an extra."""
