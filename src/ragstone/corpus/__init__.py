"""Files -> documents -> chunks; and the language of a text."""
