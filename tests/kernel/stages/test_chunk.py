import numpy as np
import pytest

import ragstone
from ragstone.features.answer.answering import forecast_answering
from ragstone.kernel.config import ChunkSection, choose
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


def test_a_forecast_embeds_nothing_and_counts_what_it_would(tmp_path, monkeypatch, fake_openai):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragstone.toml").write_text(fake_openai.toml())
    (tmp_path / "d.txt").write_text(DOCUMENT.text)
    (tmp_path / "q.jsonl").write_text('{"id": "q", "question": "What falls?"}\n')
    settings = choose(ragstone.load_settings(), "documents", paths=["d.txt"])
    settings = choose(settings, "questions", path="q.jsonl")
    settings = choose(settings, "answer", model="openai/fake")
    settings = choose(settings, "chunk", method="semantic", embedder="openai/fake")
    forecast = forecast_answering(settings)
    assert forecast.calls >= 1
    assert fake_openai.n_requests == 0
