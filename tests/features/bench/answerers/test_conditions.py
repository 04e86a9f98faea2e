import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.bench.answerers._conditions import (
    Passages,
    contexts_under,
    missing_under,
    search_depth,
)
from ragstone.kernel.records import Chunk, Context, Document, Evidence, Question, Ranking, RankingItem
from ragstone.kernel.systems.rag import gold_contexts

TEXT = "First part. Second part."


def chunk(name, document, start=0, text="First part."):
    return Chunk(id=name, document_id=document, text=text, start=start, end=start + len(text))


def ranking(question, *chunks):
    return Ranking(
        question_id=question,
        retriever="bm25",
        items=[
            RankingItem(document_id=one.document_id, chunk_id=one.id, score=9.0 - at)
            for at, one in enumerate(chunks)
        ],
    )


CHUNKS = [
    chunk("a0", "a"),
    chunk("a1", "a", 12, "Second part."),
    chunk("b0", "b"),
    chunk("c0", "c"),
    chunk("copy0", "copy"),
]
DOCUMENTS = {name: Document(id=name, text=TEXT) for name in ("a", "b", "c", "copy")}


def passages(**keys):
    return Passages(
        documents=DOCUMENTS,
        chunks={one.id: one for one in CHUNKS},
        chunks_of={name: [one for one in CHUNKS if one.document_id == name] for name in DOCUMENTS},
        retrieved={"q": ranking("q", *CHUNKS[2:], *CHUNKS[:2])},
        lexical={"q": ranking("q", CHUNKS[0], CHUNKS[4], CHUNKS[2], CHUNKS[1], CHUNKS[3])},
        same={"copy": "a"},
        **keys,
    )


def ask(**keys):
    return Question(id="q", question="?", **keys)


def ids(found):
    return [context.id or context.document_id for context in found]


def test_gold_is_the_chunk_of_the_evidence_else_the_whole_document():
    evidence = [Evidence(document_id="a", start=13, end=15)]
    assert ids(contexts_under("gold", ask(evidence=evidence), passages())) == ["a1"]
    whole = contexts_under("gold", ask(document_ids=["a"]), passages())
    assert [context.text for context in whole] == [TEXT]


def test_distractors_are_of_no_document_of_the_question_nor_of_a_copy():
    named = ask(document_ids=["a"])
    # By BM25: a0, copy0, b0, a1, c0. Without a and its copy: b0, c0.
    assert ids(contexts_under("distractors", named, passages())) == ["b0", "c0"]
    assert ids(contexts_under("distractors", named, passages(n_distractors=1))) == ["b0"]
    assert ids(contexts_under("gold+distractors", named, passages())) == ["a", "b0", "c0"]
    # A question about the copy: the original is none either.
    assert ids(contexts_under("distractors", ask(document_ids=["copy"]), passages())) == ["b0", "c0"]


def test_search_is_deep_enough_for_every_question():
    # Of document a there are two chunks, and one of its copy: 3 + 3 by BM25 leave 3 of others.
    questions = [ask(document_ids=["a"]), ask(document_ids=["b"])]
    assert search_depth(questions, CHUNKS, {"copy": "a"}, 3) == 6
    assert search_depth([ask()], CHUNKS, {}, 3) == 3


def test_none_gives_nothing_and_retrieved_what_the_ranking_says():
    assert contexts_under("none", ask(), passages()) == []
    assert ids(contexts_under("retrieved", ask(), passages())) == ["b0", "c0", "copy0", "a0", "a1"]


def test_shuffled_is_another_order_of_the_same_and_the_same_for_a_seed():
    first = contexts_under("shuffled", ask(), passages(seed=1))
    retrieved = contexts_under("retrieved", ask(), passages())
    assert first != retrieved
    assert sorted(ids(first)) == sorted(ids(retrieved))
    assert contexts_under("shuffled", ask(), passages(seed=1)) == first
    assert any(contexts_under("shuffled", ask(), passages(seed=seed)) != first for seed in range(2, 6))


@given(st.integers(0, 50), st.integers(2, 6))
def test_shuffled_always_differs_where_two_passages_do(seed, n):
    chunks = [chunk(f"x{at}", f"d{at}") for at in range(n)]
    given_ = Passages(
        documents={},
        chunks={one.id: one for one in chunks},
        chunks_of={},
        retrieved={"q": ranking("q", *chunks)},
        seed=seed,
    )
    shuffled = contexts_under("shuffled", ask(), given_)
    assert ids(shuffled) != [one.id for one in chunks]
    assert sorted(ids(shuffled)) == sorted(one.id for one in chunks)


@pytest.mark.parametrize(
    ("condition", "question", "reason"),
    [
        ("gold", ask(answerable=False, document_ids=["a"]), "unanswerable"),
        ("gold+distractors", ask(answerable=False), "unanswerable"),
        ("gold", ask(), "without a document named"),
        ("gold+distractors", ask(document_ids=["gone"]), "whose documents the corpus lacks"),
        ("distractors", ask(), "without a document named"),
        (
            "distractors",
            Question(id="other", question="?", document_ids=["a"]),
            "for which BM25 finds no other document",
        ),
        ("shuffled", Question(id="other", question="?"), "with fewer than two passages retrieved"),
    ],
)
def test_condition_that_does_not_exist_says_why(condition, question, reason):
    assert contexts_under(condition, question, passages()) == reason
    assert missing_under(condition, [question, question], passages()) == {reason: 2}


def test_gold_with_distractors_needs_a_distractor():
    alone = Passages(documents=DOCUMENTS, chunks={}, chunks_of={}, lexical={"q": ranking("q")})
    reason = "for which BM25 finds no other document"
    assert contexts_under("gold+distractors", ask(document_ids=["a"]), alone) == reason


def test_document_that_an_unanswerable_question_names_may_distract():
    question = ask(answerable=False, document_ids=["a"])
    assert ids(contexts_under("distractors", question, passages())) == ["a0", "copy0", "b0"]


def test_dropped_duplicate_is_given_as_the_one_that_was_kept():
    found = gold_contexts(ask(document_ids=["dropped"]), DOCUMENTS, {}, {"dropped": "b"})
    assert found == [Context(document_id="b", text=TEXT)]
