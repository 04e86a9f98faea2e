import numpy as np
import pytest

import ragstone
from ragstone.kernel.config import ChunkSection
from ragstone.kernel.records import Document
from ragstone.kernel.stages.chunk import cut_documents

DOCUMENT = Document(id="d", text="Rain falls. Rain is wet. A loan is due. The loan is paid.")


def embed(texts, role):
    vectors = np.array([[text.lower().count("rain"), text.count("loan")] for text in texts], dtype=np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)


def test_a_semantic_chunker_takes_the_embedder_that_it_names_and_its_percentile(says):
    asked = []

    def embedder(name):
        asked.append(name)
        return embed

    chunker = ChunkSection(method="semantic", embedder="mine", percentile=30)
    found = list(cut_documents([DOCUMENT], chunker, ragstone.Settings(), embedder))
    assert asked == ["mine"]
    says([chunk.text for chunk in found])


@pytest.mark.parametrize("method", ["whole", "fixed", "recursive", "sentence", "heading"])
def test_no_other_method_opens_an_embedder(method):
    chunker = ChunkSection(method=method, embedder="nope", size=20, overlap=5)
    assert list(cut_documents([DOCUMENT], chunker, ragstone.Settings()))
