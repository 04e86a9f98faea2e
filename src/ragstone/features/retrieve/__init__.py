"""Questions and documents -> rankings and rank measures."""
