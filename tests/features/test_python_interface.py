"""The functions of `import ragstone`: lists come back as Rows, and what is no list of rows is refused."""

import numpy as np
import pytest

import ragstone
from ragstone.kernel.errors import ColumnsError, ConfigError, DataError
from ragstone.kernel.judging.combined import JuryJudge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.lexical import LexicalJudge
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.names import question_key

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


def test_a_generator_is_refused_before_it_is_read(says):
    chunks = ragstone.chunk_documents(DOCUMENTS)
    with pytest.raises(DataError) as error:
        ragstone.retrieve(QUESTIONS, chunks)
    says(error.value)
    assert len(list(chunks)) == 2
    with pytest.raises(DataError) as error:
        ragstone.answer(iter(QUESTIONS), [], [])
    says(error.value)


def test_rows_of_another_kind_are_refused_with_the_kind_that_is_expected(says):
    with pytest.raises(DataError) as error:
        ragstone.retrieve(QUESTIONS, ["documents.jsonl"])
    says(error.value)
    with pytest.raises(DataError) as error:
        ragstone.retrieve(QUESTIONS, DOCUMENTS)
    says(error.value)
    with pytest.raises(DataError) as error:
        ragstone.answer(DOCUMENTS, [], [])
    says(error.value)
    with pytest.raises(DataError) as error:
        ragstone.answer(iter(QUESTIONS), [], [])
    says(error.value)


def test_questions_and_answers_are_dicts_and_frames_in_anybodys_columns(says):
    asked = [{"Frage": "When is wheat sown?"}]
    (made,) = ragstone.answer(asked, columns={"question": "Frage"}, system=lambda question: "In October.")
    assert (made.question_id, made.answer) == (question_key("When is wheat sown?"), "In October.")
    with pytest.raises(ConfigError) as error:
        ragstone.answer(asked, columns={"anser": "Frage"}, system=lambda question: "x")
    says(error.value)
    with pytest.raises(ColumnsError) as error:
        ragstone.answer(asked, columns={"question": "Fragen"}, system=lambda question: "x")
    says(error.value)


def test_a_data_frame_with_arrays_and_absent_values_is_judged(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = {
        "question": ["Who?", "When?"],
        "response": ["Ann did it.", None],
        "contexts": [np.array(["Ann did it."], dtype=object), np.array([], dtype=object)],
        "ground_truth": ["Ann", float("nan")],
        "row": np.array([1, 2]),
    }
    for frame in (pandas.DataFrame(table), pandas.DataFrame(table).convert_dtypes()):
        found = ragstone.judge(frame, judges=["containment", "grounding"])
        assert [(one.judge, one.status) for one in found] == [
            *(("containment", "scored"), ("containment", "app_error")),
            *(("grounding", "scored"), ("grounding", "app_error")),
        ]


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


def test_a_run_is_made_of_settings_or_of_the_path_of_their_file(folder):
    (folder / "sheet.jsonl").write_text(
        '{"question_id": "q", "question": "Who?", "answer": "Ann", "reference": "Ann", "system": "s"}\n'
    )
    (folder / "rag.toml").write_text(
        '[questions]\npath = "sheet.jsonl"\n[answer]\nsystem = "s"\n[judge]\njudges = ["containment"]\n'
        '[systems]\ns = { kind = "sheet", path = "sheet.jsonl" }\n'
    )
    for given in ("rag.toml", folder / "rag.toml", ragstone.load_settings("rag.toml")):
        assert ragstone.run(given, force=True).metrics[0].estimate.value == 1.0


def test_texts_are_questions():
    rows = ragstone.answer(["When is maize sown?", "What is urea?"], system=str.upper)
    assert [row.answer for row in rows] == ["WHEN IS MAIZE SOWN?", "WHAT IS UREA?"]
    (asked, _) = ragstone.answer([{"question": "When is maize sown?"}, "What is urea?"], system=str.upper)
    assert asked.question_id == rows[0].question_id


def test_documents_alone_are_cut_and_searched_by_the_system_that_quotes():
    documents = [
        Document(id="maize", text="Maize is planted in May."),
        Document(id="rice", text="Rice is planted in flooded fields."),
    ]
    [row] = ragstone.answer(["When is maize planted?"], documents=documents, system="extractive")
    assert row.contexts[0].document_id == "maize"
    assert "May" in row.answer
