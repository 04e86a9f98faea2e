"""Vectors that another process made: what is lacking is told, what is taken is not embedded again."""

from pathlib import Path

import numpy as np
import pytest

from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.model import EmbeddingModel
from ragstone.kernel.errors import ModelError


def embedder(store: Path | None) -> tuple[Embedder, list[str]]:
    asked: list[str] = []

    def embed(texts, role, keep):
        asked.extend(texts)
        keep(range(len(texts)), np.array([[len(text), 1.0] for text in texts], dtype=np.float32))

    return Embedder(EmbeddingModel(identity="by length", embed=embed), store), asked


@pytest.mark.parametrize("stored", [True, False])
def test_what_is_taken_is_found_and_not_embedded(stored, tmp_path):
    store = tmp_path / "embeddings.sqlite" if stored else None
    mine, asked = embedder(store)
    texts = ["lime", "soil", " ", "lime"]
    assert mine.lacking(texts, "passage") == ["lime", "soil"]
    theirs, _ = embedder(None)
    mine.take(["lime", "soil"], "passage", theirs(["lime", "soil"], "passage"))
    assert mine.lacking(texts, "passage") == ([] if stored else ["lime", "soil"])
    assert np.array_equal(mine(["soil"], "passage"), theirs(["soil"], "passage"))
    assert asked == []
    assert mine.lacking(["lime"], "query") == ["lime"]


def test_vectors_of_another_model_are_refused(tmp_path, says):
    mine, _ = embedder(tmp_path / "embeddings.sqlite")
    mine(["lime"], "passage")
    with pytest.raises(ModelError) as error:
        mine.take(["soil"], "passage", np.ones((1, 3), dtype=np.float32))
    says(error.value)
