"""A grid of judges on one labelled sheet: its cells, the paired tests between them, a recommendation."""
