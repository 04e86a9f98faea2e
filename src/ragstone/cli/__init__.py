"""The command `ragstone`: which flow answers to which name."""
