"""Texts -> vectors: a packaged model by default, each text embedded once."""
