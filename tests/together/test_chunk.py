"""A forecast of answers does not cut documents by meaning: it counts what would be embedded."""

from tests.kernel.stages.test_chunk import DOCUMENT

import ragstone
from ragstone.features.answer.answering import forecast_answering
from ragstone.kernel.config import choose


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
