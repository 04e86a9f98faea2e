"""Files -> documents -> chunks."""
