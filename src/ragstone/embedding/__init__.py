"""Texts -> vectors: a packaged model by default, each text embedded once."""

from ragstone.embedding.opening import open_embedder

__all__ = ["open_embedder"]
