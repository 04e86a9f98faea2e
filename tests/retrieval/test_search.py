import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ConfigError, DataError
from ragstone.records import Chunk, Question
from ragstone.retrieval import RETRIEVERS, build_search
from ragstone.retrieval.fusion import reciprocal_rank_fusion
from ragstone.retrieval.ranks import top_hits
from ragstone.retrieval.search import indexed_text

TEXTS = ["maize needs water", "wheat needs sun", "cats sleep", "maize and wheat and maize"]


def chunks_of(*texts: str, title: str | None = None) -> list[Chunk]:
    metadata = {"title": title} if title else None
    return [
        Chunk(id=f"d{n}#0", document_id=f"d{n}", text=text, start=0, end=len(text), metadata=metadata)
        for n, text in enumerate(texts)
    ]


def questions_of(*texts: str) -> list[Question]:
    return [Question(id=f"q{n}", question=text) for n, text in enumerate(texts)]


def embed(texts, role):
    """Two dimensions: how much of a text is maize, and how much wheat; the rest is a third."""
    counts = np.array([[text.count("maize"), text.count("wheat"), 0.1] for text in texts], dtype=np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def found(name: str, question: str, k: int = 10, texts=TEXTS) -> list[str]:
    (ranking,) = build_search(name, chunks_of(*texts), embed)(questions_of(question), k)
    return [item.document_id for item in ranking.items]


def test_bm25_finds_the_chunks_that_share_words_and_no_others():
    assert found("bm25", "maize water") == ["d0", "d3"]
    assert found("bm25", "zebra") == []


def test_bm25_agrees_with_its_formula():
    # N = 2, one document holds "rain": idf = ln(1 + 1.5/1.5) = ln 2. Its length is 1, the mean 1.5, so the
    # weight is 1 / (1 + 1.2 (0.25 + 0.75 / 1.5)) = 1 / 1.9. Lucene leaves out the constant factor k1 + 1.
    (ranking,) = build_search("bm25", chunks_of("rain", "sun sun"))(questions_of("rain"), 5)
    assert [item.score for item in ranking.items] == pytest.approx([np.log(2) / 1.9], abs=1e-6)


def test_dense_ranks_everything_by_cosine():
    # Cosines with (1, 0, .1): d0 the same 1.0, d3 (2, 1, .1) .89, d2 (0, 0, .1) .10, d1 (0, 1, .1) .01
    assert found("dense", "maize") == ["d0", "d3", "d2", "d1"]
    assert found("dense", "maize", k=2) == ["d0", "d3"]


def test_hybrid_fuses_the_two():
    assert found("hybrid", "maize")[:2] == ["d0", "d3"]
    assert sorted(found("hybrid", "maize")) == ["d0", "d1", "d2", "d3"]


def test_reciprocal_ranks_are_summed_and_ties_go_to_the_first():
    # 7: 1/61 + 1/62; 9: the same the other way round; 8: 1/63.
    assert reciprocal_rank_fusion([[9, 7], [7, 9, 8]]) == [
        (7, 1 / 61 + 1 / 62),
        (9, 1 / 61 + 1 / 62),
        (8, 1 / 63),
    ]
    assert reciprocal_rank_fusion([]) == []


@pytest.mark.parametrize("name", sorted(RETRIEVERS))
def test_equal_chunks_stay_in_their_order(name):
    assert found(name, "maize", texts=["maize", "wheat", *["maize"] * 30], k=20)[:3] == ["d0", "d2", "d3"]


@pytest.mark.parametrize("name", sorted(RETRIEVERS))
def test_a_blank_question_gets_an_empty_ranking(name):
    rankings = build_search(name, chunks_of(*TEXTS), embed)(questions_of(" ", "maize", ""), 3)
    assert [ranking.question_id for ranking in rankings] == ["q0", "q1", "q2"]
    assert [bool(ranking.items) for ranking in rankings] == [False, True, False]
    assert {ranking.retriever for ranking in rankings} == {name}


def test_items_say_where_their_chunk_stands():
    chunk = Chunk(id="d#3", document_id="d", text="maize", start=40, end=45)
    (ranking,) = build_search("bm25", [chunk])(questions_of("maize"), 1)
    (item,) = ranking.items
    assert (item.document_id, item.chunk_id, item.start, item.end) == ("d", "d#3", 40, 45)


def test_a_chunk_is_found_by_its_document_s_title():
    (plain,) = build_search("bm25", chunks_of("it blooms"))(questions_of("maize"), 1)
    (titled,) = build_search("bm25", chunks_of("it blooms", title="Maize"))(questions_of("maize"), 1)
    assert (len(plain.items), len(titled.items)) == (0, 1)


def test_a_title_that_begins_the_text_counts_once():
    (chunk,) = chunks_of("Maize blooms", title="Maize")
    assert indexed_text(chunk) == "Maize blooms"


def test_questions_with_the_same_text_are_embedded_once():
    seen = []

    def watching(texts, role):
        seen.append((role, list(texts)))
        return embed(texts, role)

    rankings = build_search("dense", chunks_of(*TEXTS), watching)(questions_of("maize", "maize"), 1)
    assert seen[1:] == [("query", ["maize"])]
    assert rankings[0].items == rankings[1].items


def test_a_corpus_without_words_answers_nothing():
    assert found("bm25", "maize", texts=["!!!", "..."]) == []


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1), st.integers(1, 12))
@settings(deadline=None)
def test_top_hits_are_a_stable_sort_cut_at_k(scores, k):
    expected = sorted(enumerate(scores), key=lambda hit: -hit[1])[:k]
    assert top_hits(np.array(scores, dtype=np.float32), k) == expected


def test_an_unknown_retriever_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown retriever 'bm52'\. Did you mean 'bm25'"):
        build_search("bm52", chunks_of("x"))


def test_dense_without_an_embedder_says_so():
    for name in ("dense", "hybrid"):
        with pytest.raises(ConfigError, match="need an embedder"):
            build_search(name, chunks_of("x"))


def test_nothing_to_search_and_no_results_asked_are_errors():
    with pytest.raises(DataError, match="no chunks to search"):
        build_search("bm25", [])
    with pytest.raises(ConfigError, match="k is 0"):
        build_search("bm25", chunks_of("x"))(questions_of("x"), 0)
