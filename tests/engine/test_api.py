"""The functions of `import ragstone`: lists come back as Rows, and what is no list of rows is refused."""

import pytest

import ragstone
from ragstone.errors import DataError
from ragstone.records import Document, Question
from ragstone.tables import Rows

DOCUMENTS = [
    Document(id="wheat", text="Wheat is sown in October."),
    Document(id="soil", text="Test the soil."),
]
QUESTIONS = [Question(id="q1", question="When is wheat sown?")]


def test_rankings_come_back_as_rows_of_their_kind():
    rankings = ragstone.retrieve(QUESTIONS, list(ragstone.chunk_documents(DOCUMENTS)), k=1)
    assert type(rankings) is Rows
    assert rankings[0].items[0].document_id == "wheat"
    assert rankings.to_polars().columns == ["question_id", "retriever", "items", "metadata"]
    nothing = ragstone.retrieve([], list(ragstone.chunk_documents(DOCUMENTS)))
    assert nothing.to_polars().columns == rankings.to_polars().columns


def test_a_generator_is_refused_before_it_is_read():
    chunks = ragstone.chunk_documents(DOCUMENTS)
    with pytest.raises(DataError, match=r"chunks: .* got generator, .* Give list\(chunks\)"):
        ragstone.retrieve(QUESTIONS, chunks)
    assert len(list(chunks)) == 2
    with pytest.raises(DataError, match=r"questions: .* Give list\(questions\)"):
        ragstone.answer(iter(QUESTIONS), [], [])


def test_rows_of_another_kind_are_refused_with_the_kind_that_is_expected():
    with pytest.raises(
        DataError, match=r"chunks: .* type Chunk, got str\. ragstone\.read_rows\(path, ragstone\.Chunk\)"
    ):
        ragstone.retrieve(QUESTIONS, ["documents.jsonl"])
    with pytest.raises(DataError, match=r"chunks: expected rows of type Chunk, got Document"):
        ragstone.retrieve(QUESTIONS, DOCUMENTS)
    with pytest.raises(DataError, match=r"questions: .* type Question, got dict"):
        ragstone.answer([{"question": "When is wheat sown?"}], [], [])
