"""Judges made of judges: juries, cascades, and how a cascade is fitted to labels."""
