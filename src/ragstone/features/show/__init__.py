"""A run, a question -> everything that the run, its judges and people say of it."""
