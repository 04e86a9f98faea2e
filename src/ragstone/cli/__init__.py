"""The command `ragstone`: which feature answers to which name."""
