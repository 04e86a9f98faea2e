"""The functions of `import ragstone`: lists come back as Rows, and what is no list of rows is refused."""

import pytest

import ragstone
from ragstone.errors import DataError
from ragstone.judging.combined import JuryJudge
from ragstone.judging.fields import Member
from ragstone.judging.lexical import LexicalJudge
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


def test_a_judge_that_is_made_in_python_judges_and_its_members_are_loaded():
    same = {
        "name": "both",
        "version": 1,
        "inputs": ["reference", "answer"],
        "scale": (0, 1),
        "source": "ours",
    }
    words = LexicalJudge(**same | {"name": "words"}, measure="token_f1")
    both = JuryJudge(**same, members=[Member(judge="containment"), Member(judge="token_f1")])
    assert all(isinstance(one, ragstone.Judge) for one in (words, both))
    rows = [{"question": "When?", "reference": "in October", "answer": "in late October"}]
    # shared words: in, October; 2 of 3 and 2 of 2 make an F1 of 0.8; they do not stand side by side
    assert [row.score for row in ragstone.judge(rows, judges=[words, both])] == [pytest.approx(0.8), 0.4]
