"""Personas -> conversations with an application, and whether they reached their goals."""
