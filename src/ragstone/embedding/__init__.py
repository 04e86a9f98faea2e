"""Texts -> vectors: a packaged model by default, each text embedded once."""

from ragstone.embedding.embedder import Embedder
from ragstone.embedding.gathering import EmbedSoon, Gathered
from ragstone.embedding.model import Embed, EmbeddingModel, NotEmbedded, Role, TextRefused, Vectors
from ragstone.embedding.opening import EMBEDDERS, open_embedder

__all__ = [
    "EMBEDDERS",
    "Embed",
    "EmbedSoon",
    "Embedder",
    "EmbeddingModel",
    "Gathered",
    "NotEmbedded",
    "Role",
    "TextRefused",
    "Vectors",
    "open_embedder",
]
