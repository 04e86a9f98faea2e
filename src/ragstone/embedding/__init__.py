"""Texts -> vectors: a packaged model by default, each text embedded once."""

from ragstone.embedding.embedder import EMBEDDERS, Embedder, open_embedder
from ragstone.embedding.model import Embed, EmbeddingModel, Role, Vectors

__all__ = ["EMBEDDERS", "Embed", "Embedder", "EmbeddingModel", "Role", "Vectors", "open_embedder"]
