"""Texts -> the same in another language: by a model or a service, and what is wrong with a translation."""
