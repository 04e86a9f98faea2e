import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document, Evidence, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.query_measures import measure_queries
from ragstone.kernel.retrieval.relevance import copies_of, missing_documents, same_documents

DOCUMENTS = [
    Document(id=f"{lang}:{name}", text="x", metadata={"parallel_id": name})
    for lang in ("en", "es")
    for name in ("a", "b")
]


def ranking(*documents: str) -> Ranking:
    items = [RankingItem(document_id=name, score=-at, start=0, end=9) for at, name in enumerate(documents)]
    return Ranking(question_id="q", retriever="r", items=items)


def test_documents_that_share_a_value_are_the_first_of_them():
    single = Document(id="single", text="x", metadata={"parallel_id": None})
    plain = Document(id="plain", text="x")
    assert copies_of([*DOCUMENTS, single, plain], "parallel_id") == {
        "en:a": "en:a",
        "en:b": "en:b",
        "es:a": "en:a",
        "es:b": "en:b",
    }


def test_a_key_that_no_document_has_is_an_error(says):
    with pytest.raises(DataError) as error:
        copies_of(DOCUMENTS, "copy")
    says(error.value)
    with pytest.raises(DataError) as error:
        copies_of([Document(id="x", text="x", metadata={"copy": [1]})], "copy")
    says(error.value)


def test_a_copy_is_as_good_as_the_document_and_takes_no_second_place():
    question = Question(id="q", question="?", document_ids=["es:b"])
    rankings = [ranking("es:a", "en:a", "en:b")]
    apart = measure_queries(rankings, [question], ks=(1, 2, 3))
    same = measure_queries(rankings, [question], ks=(1, 2, 3), same=copies_of(DOCUMENTS, "parallel_id"))
    assert (apart.first_ranks, same.first_ranks) == ({"q": None}, {"q": 2})
    assert same.documents == {"q": "en:b"}


def test_a_question_that_names_both_copies_needs_one():
    question = Question(id="q", question="?", document_ids=["en:b", "es:b"])
    measured = measure_queries(
        [ranking("es:b")], [question], ks=(1,), same=copies_of(DOCUMENTS, "parallel_id")
    )
    assert measured.values["recall@1"] == {"q": 1.0}


def test_copies_with_several_grades_have_the_highest():
    question, qrels = Question(id="q", question="?"), {"q": {"en:a": 1, "es:a": 3, "en:b": 2}}
    measured = measure_queries(
        [ranking("en:b", "en:a")], [question], ks=(1,), qrels=qrels, same=copies_of(DOCUMENTS, "parallel_id")
    )
    assert measured.values["ndcg@1"] == {"q": 2 / 3}


def test_characters_of_a_copy_are_not_those_of_the_document():
    question = Question(
        id="q", question="?", evidence=[Evidence(document_id="es:b", start=0, end=9)], document_ids=["es:b"]
    )
    measured = measure_queries(
        [ranking("en:b")], [question], ks=(1,), same=copies_of(DOCUMENTS, "parallel_id")
    )
    assert (measured.values["recall@1"], measured.values["span_recall@1"]) == ({"q": 1.0}, {"q": 0.0})


def test_a_dropped_duplicate_is_the_document_that_was_kept_and_not_missing():
    kept = Document(id="en:a", text="x", metadata={"parallel_id": "a", "duplicates": ["old"]})
    copy = Document(id="es:a", text="x", metadata={"parallel_id": "a", "duplicates": ["viejo"]})
    assert same_documents([kept, copy], "parallel_id") == {
        "en:a": "en:a",
        "es:a": "en:a",
        "old": "en:a",
        "viejo": "en:a",
    }
    assert same_documents([kept]) == {"old": "en:a"}
    question = Question(id="q", question="?", document_ids=["old"])
    assert missing_documents([question], [kept]) == {}
    assert measure_queries([ranking("en:a")], [question], ks=(1,), same=same_documents([kept])).values[
        "recall@1"
    ] == {"q": 1.0}


def test_metadata_that_only_looks_like_duplicates_is_left_alone():
    assert same_documents([Document(id="a", text="x", metadata={"duplicates": 3})]) == {}
    assert same_documents([]) == {}
