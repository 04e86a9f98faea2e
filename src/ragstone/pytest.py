"""A test that fails when an application answers worse than it should: a plugin of pytest."""
