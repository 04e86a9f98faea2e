"""HotpotQA's form: evidence in several documents."""

import json

import pytest

from ragstone.features.import_.importing import import_set

CONTEXT = [
    ["Oslo", ["Oslo is the capital.", " It lies in Norway."]],
    ["Norway", ["Norway is a kingdom.", " "]],
]
ROW = {
    "_id": "5a",
    "question": "What is the form of government of the country of Oslo?",
    "answer": "a kingdom",
    "type": "bridge",
    "level": "hard",
    "supporting_facts": [["Oslo", 1], ["Norway", 0]],
    "context": CONTEXT,
}


@pytest.fixture
def imported(tmp_path):
    def made(*rows):
        (tmp_path / "h.json").write_text(json.dumps(rows))
        return import_set(tmp_path / "h.json")

    return made


def test_supporting_facts_are_evidence_in_several_documents(imported):
    found = imported(ROW)
    (question,) = found.questions
    texts = {document.id: document.text for document in found.documents}
    assert texts == {"Oslo": "Oslo is the capital. It lies in Norway.", "Norway": "Norway is a kingdom. "}
    assert question.document_ids == ["Oslo", "Norway"]
    said = [texts[e.document_id][e.start : e.end] for e in question.evidence]
    assert said == ["It lies in Norway.", "Norway is a kingdom."]
    assert (question.id, question.reference, question.tags) == (
        "5a",
        "a kingdom",
        {"type": "bridge", "level": "hard"},
    )
    assert found.summary.formats.popitem()[1] == "hotpotqa"


def test_the_two_lists_of_hugging_face_are_the_same(imported):
    flat = {
        **ROW,
        "context": {"title": ["Oslo", "Norway"], "sentences": [sentences for _, sentences in CONTEXT]},
        "supporting_facts": {"title": ["Oslo", "Norway"], "sent_id": [1, 0]},
    }
    assert imported(flat).questions == imported(ROW).questions


def test_a_fact_that_is_not_there_is_told(imported):
    found = imported({**ROW, "supporting_facts": [["Oslo", 9], ["Rome", 0], ["Norway", 0]]})
    assert found.questions[0].document_ids == ["Norway"]
    assert [(one.kind, one.n) for one in found.summary.remarks] == [("changed", 2)]


def test_another_text_with_the_same_title_is_another_document(imported):
    other = {**ROW, "_id": "5b", "context": [["Oslo", ["Another Oslo."]]], "supporting_facts": [["Oslo", 0]]}
    found = imported(ROW, other, {**other, "_id": "5c"})
    assert [document.id for document in found.documents] == ["Oslo", "Norway", "Oslo#2"]
    assert [question.document_ids for question in found.questions[1:]] == [["Oslo#2"], ["Oslo#2"]]


def test_a_row_without_a_question_is_skipped(imported):
    assert imported(ROW, {**ROW, "question": ""}).summary.n_skipped == 1
