"""A judge or a prompt -> a better one: tried on rows, developed by hand, learnt, or fitted as a cascade."""
