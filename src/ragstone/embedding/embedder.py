"""The embedder by name, over its cache."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from ragstone.embedding.cache import load_vectors, store_vectors
from ragstone.embedding.model import EmbeddingModel, Role, Vectors
from ragstone.embedding.packaged import packaged_model
from ragstone.errors import ModelError, nearest

BATCH = 64  # texts between two writes: what a kill can lose
STORE = "embeddings.sqlite"

EMBEDDERS: dict[str, Callable[[], EmbeddingModel]] = {"packaged": packaged_model}


class Embedder:
    """An Embed that asks its cache first and counts: a class, since the counts outlive a call.

    n_embedded: texts that the model embedded. n_cached: texts that it had not to, because the cache, or the
    same call, held the same text in the same role.
    """

    def __init__(self, model: EmbeddingModel, store: Path | None) -> None:
        self.n_embedded = 0
        self.n_cached = 0
        self._model = model
        self._store = store

    def __call__(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return (n, d) vectors of length 1, one a text; zeros stay zeros. No text: (0, 0).

        Raises ModelError if the model gives another shape or numbers that are not finite.
        """
        keys = [_key(self._model.identity, role, text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        vectors = load_vectors(self._store, list(by_key)) if self._store and by_key else {}
        absent = [key for key in by_key if key not in vectors]
        for start in range(0, len(absent), BATCH):
            batch = absent[start : start + BATCH]
            fresh = dict(zip(batch, self._embed([by_key[key] for key in batch], role), strict=True))
            if self._store:
                store_vectors(self._store, fresh)
            vectors |= fresh
        self.n_embedded += len(absent)
        self.n_cached += len(keys) - len(absent)
        return np.stack([vectors[key] for key in keys]) if keys else np.zeros((0, 0), dtype=np.float32)

    def _embed(self, texts: Sequence[str], role: Role) -> Vectors:
        vectors = np.asarray(self._model.embed(texts, role), dtype=np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise ModelError(
                f"embedder {self._model.identity!r} gave an array of shape {vectors.shape} for {len(texts)} "
                "texts, or numbers that are not finite. Use another embedder."
            )
        lengths: Vectors = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        return vectors / lengths


def open_embedder(name: str, cache: Path | None = None) -> Embedder:
    """Return the embedder of that name (a key of EMBEDDERS), with its store in the folder `cache`, if any.

    The store is `embeddings.sqlite`; several processes and several embedders may share it. Nothing is
    loaded before the first text that the store lacks. Raises ModelError for an unknown name, MissingExtra
    where the embedder's package is not installed.
    """
    if name not in EMBEDDERS:
        raise ModelError(f"unknown embedder {name!r}. {nearest(name, EMBEDDERS)}")
    return Embedder(EMBEDDERS[name](), cache / STORE if cache else None)


def _key(identity: str, role: Role, text: str) -> bytes:
    content = f"{identity}\0{role}\0{text}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(content, digest_size=16).digest()
