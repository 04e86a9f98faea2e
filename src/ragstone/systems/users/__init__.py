"""Simulated users: what they want and know, what they say next, and whether they got it."""
