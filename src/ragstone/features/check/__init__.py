"""Checks: of an evaluation set, by `ragstone check`; of an application, by a test (the plugin of pytest)."""
