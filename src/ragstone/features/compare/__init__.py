"""Two runs, or several -> better, worse or cannot tell."""
