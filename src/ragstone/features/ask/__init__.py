"""One question to a system, with what it retrieved."""
