"""A forecast of answers counts what endpoints' embedders would be asked."""

import msgspec
import pytest
from tests.kernel.engine.test_session import QUESTIONS, settings_of

from ragstone.features.answer.answering import forecast_answering
from ragstone.kernel.config import (
    AnswerSection,
    ChunkSection,
    DocumentsSection,
    QuestionsSection,
    RetrieveSection,
)
from ragstone.kernel.records import Question
from ragstone.kernel.tables import write_rows


def test_a_forecast_counts_what_is_to_be_embedded(fake_openai, tmp_path, says):
    write_rows(tmp_path / "questions.jsonl", QUESTIONS, Question)
    (tmp_path / "wheat.md").write_text("# Wheat\n\nWheat is sown in October.\n")
    settings = msgspec.structs.replace(
        settings_of(fake_openai, tmp_path),
        documents=DocumentsSection(paths=["wheat.md"]),
        questions=QuestionsSection(path="questions.jsonl"),
        answer=AnswerSection(model="openai/fake"),
    )
    forecast = forecast_answering(settings)
    embedding = [model for model in forecast.models if model.output == 0]
    assert [(model.model.partition("@")[0], model.calls) for model in embedding] == [("openai/fake", 2)]
    assert embedding[0].cost_usd == pytest.approx(embedding[0].input * 2e-6)
    assert forecast.calls == 2 + len(QUESTIONS)
    says("\n".join(forecast.assumptions))
    assert fake_openai.n_requests == 0


def test_a_forecast_counts_the_sentences_that_a_semantic_chunker_compares(fake_openai, tmp_path):
    write_rows(tmp_path / "questions.jsonl", QUESTIONS, Question)
    (tmp_path / "wheat.md").write_text("Wheat is sown in October. " * 100)
    settings = msgspec.structs.replace(
        settings_of(fake_openai, tmp_path),
        retrieve=RetrieveSection(),
        documents=DocumentsSection(paths=["wheat.md"]),
        chunk=ChunkSection(method="semantic", embedder="openai/fake"),
        questions=QuestionsSection(path="questions.jsonl"),
        answer=AnswerSection(model="openai/fake"),
    )
    (embedding,) = [model for model in forecast_answering(settings).models if model.output == 0]
    assert embedding.calls >= 1
    assert fake_openai.n_requests == 0
