"""A test asks an application, judges its answers, holds them against a run: the plugin of pytest uses it."""
