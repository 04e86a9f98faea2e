import msgspec
import numpy as np
import pytest

from ragstone.kernel.config import HybridSettings
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Chunk, Question
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps
from ragstone.kernel.retrieval.search import RETRIEVERS, build_search, indexed_text

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


def means(embed=embed, **given) -> RetrieverDeps:
    return RetrieverDeps(open_embedder=lambda _name: embed, **given)


async def rankings_of(name, chunks, questions, k, given=None):
    search = await build_search(name, chunks, given or means())
    return await search(questions, k)


async def found(name: str, question: str, k: int = 10, texts=TEXTS) -> list[str]:
    (ranking,) = await rankings_of(name, chunks_of(*texts), questions_of(question), k)
    return [item.document_id for item in ranking.items]


async def test_bm25_finds_the_chunks_that_share_words_and_no_others():
    assert await found("bm25", "maize water") == ["d0", "d3"]
    assert await found("bm25", "zebra") == []


async def test_bm25_agrees_with_its_formula():
    # N = 2, one document holds "rain": idf = ln(1 + 1.5/1.5) = ln 2. Its length is 1, the mean 1.5, so the
    # weight is 1 / (1 + 1.2 (0.25 + 0.75 / 1.5)) = 1 / 1.9. Lucene leaves out the constant factor k1 + 1.
    (ranking,) = await rankings_of("bm25", chunks_of("rain", "sun sun"), questions_of("rain"), 5)
    assert [item.score for item in ranking.items] == pytest.approx([np.log(2) / 1.9], abs=1e-6)


async def test_dense_ranks_everything_by_cosine():
    # Cosines with (1, 0, .1): d0 the same 1.0, d3 (2, 1, .1) .89, d2 (0, 0, .1) .10, d1 (0, 1, .1) .01
    assert await found("dense", "maize") == ["d0", "d3", "d2", "d1"]
    assert await found("dense", "maize", k=2) == ["d0", "d3"]


async def test_hybrid_fuses_the_two():
    assert sorted((await found("hybrid", "maize"))[:2]) == ["d0", "d3"]
    assert sorted(await found("hybrid", "maize")) == ["d0", "d1", "d2", "d3"]


@pytest.mark.parametrize("name", sorted(RETRIEVERS))
async def test_equal_chunks_stay_in_their_order(name):
    assert (await found(name, "maize", texts=["maize", "wheat", *["maize"] * 30], k=20))[:3] == [
        "d0",
        "d2",
        "d3",
    ]


@pytest.mark.parametrize("name", sorted(RETRIEVERS))
async def test_a_blank_question_gets_an_empty_ranking(name):
    rankings = await rankings_of(name, chunks_of(*TEXTS), questions_of(" ", "maize", ""), 3)
    assert [ranking.question_id for ranking in rankings] == ["q0", "q1", "q2"]
    assert [bool(ranking.items) for ranking in rankings] == [False, True, False]
    assert {ranking.retriever for ranking in rankings} == {name}


async def test_items_say_where_their_chunk_stands():
    chunk = Chunk(id="d#3", document_id="d", text="maize", start=40, end=45)
    (ranking,) = await rankings_of("bm25", [chunk], questions_of("maize"), 1)
    (item,) = ranking.items
    assert (item.document_id, item.chunk_id, item.start, item.end) == ("d", "d#3", 40, 45)


async def test_a_chunk_is_found_by_its_document_s_title():
    (plain,) = await rankings_of("bm25", chunks_of("it blooms"), questions_of("maize"), 1)
    (titled,) = await rankings_of("bm25", chunks_of("it blooms", title="Maize"), questions_of("maize"), 1)
    assert (len(plain.items), len(titled.items)) == (0, 1)


def test_a_title_that_begins_the_text_counts_once():
    (chunk,) = chunks_of("Maize blooms", title="Maize")
    assert indexed_text(chunk) == "Maize blooms"


async def test_questions_with_the_same_text_are_embedded_once():
    seen = []

    def watching(texts, role):
        seen.append((role, list(texts)))
        return embed(texts, role)

    rankings = await rankings_of(
        "dense", chunks_of(*TEXTS), questions_of("maize", "maize"), 1, means(watching)
    )
    assert seen[1:] == [("query", ["maize"])]
    assert rankings[0].items == rankings[1].items


async def test_a_corpus_without_words_answers_nothing():
    assert await found("bm25", "maize", texts=["!!!", "..."]) == []


async def test_an_unknown_retriever_names_the_nearest(says):
    with pytest.raises(ConfigError) as error:
        await build_search("bm52", chunks_of("x"))
    says(error.value)


async def test_dense_without_an_embedder_says_so(says):
    for name in ("dense", "hybrid"):
        with pytest.raises(ConfigError) as error:
            await build_search(name, chunks_of("x"))
        says(error.value)


async def test_nothing_to_search_and_no_results_asked_are_errors(says):
    with pytest.raises(DataError) as error:
        await build_search("bm25", [])
    says(error.value)
    with pytest.raises(ConfigError, match="k is 0"):
        await rankings_of("bm25", chunks_of("x"), questions_of("x"), 0)


@pytest.mark.parametrize("name", sorted(RETRIEVERS))
async def test_only_chunks_with_the_tags_are_found(name):
    chunks = [
        msgspec.structs.replace(chunk, metadata={"tags": {"crop": crop}})
        for chunk, crop in zip(chunks_of("maize", "maize", "maize"), ["maize", "wheat", "maize"], strict=True)
    ]
    among = ChunkFilter(where={"crop": "maize"})
    (ranking,) = await rankings_of(name, chunks, questions_of("maize"), 4, means(filter=among))
    assert [item.document_id for item in ranking.items] == ["d0", "d2"]


async def test_chunk_ids_that_stand_for_several_chunks_are_named(says):
    with pytest.raises(DataError) as error:
        await build_search("bm25", chunks_of("a") + chunks_of("b"))
    says(error.value)


async def test_a_declared_retriever_has_its_own_name_and_weights():
    declared = {
        "lexical": HybridSettings(weights=[1.0, 0.0]),
        "nested": HybridSettings(of=["lexical", "dense"]),
    }
    (ranking,) = await rankings_of(
        "lexical", chunks_of(*TEXTS), questions_of("maize water"), 1, means(retrievers=declared)
    )
    assert (ranking.retriever, ranking.items[0].document_id) == ("lexical", "d0")
    (ranking,) = await rankings_of(
        "nested", chunks_of(*TEXTS), questions_of("maize"), 9, means(retrievers=declared)
    )
    assert (ranking.retriever, len(ranking.items)) == ("nested", 4)


async def test_a_retriever_cannot_be_made_from_itself_nor_replace_one_that_ships():
    for declared, message in (
        ({"a": HybridSettings(of=["b"]), "b": HybridSettings(of=["a"])}, "a > b > a: a retriever cannot"),
        ({"bm25": HybridSettings()}, "a retriever of that name ships"),
        ({"a": HybridSettings(of=["bm52"])}, "unknown retriever 'bm52'"),
    ):
        with pytest.raises(ConfigError, match=message):
            await build_search(next(iter(declared)), chunks_of("x"), means(retrievers=declared))
