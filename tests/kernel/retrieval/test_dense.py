"""Dense retrievers: the same rankings by every index, and what each declaration means."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernel.retrieval.vectors import random_vectors, same_hits, subsets, tagged_chunks, tied_vectors

from ragstone.kernel.config import DenseSettings
from ragstone.kernel.embedding.model import NotEmbedded, TextRefused
from ragstone.kernel.errors import ConfigError, ModelError
from ragstone.kernel.records import Chunk, Question
from ragstone.kernel.retrieval._dense import search_by_faiss
from ragstone.kernel.retrieval.deps import ChunkFilter, RetrieverDeps
from ragstone.kernel.retrieval.ranks import search_exactly
from ragstone.kernel.retrieval.search import build_search

TEXTS = ["maize needs water", "wheat needs sun", "cats sleep", "maize and wheat", "cats sleep"]
QUESTIONS = [
    Question(id=f"q{n}", question=text) for n, text in enumerate(["cats", "maize wheat", "sun water"])
]


def chunks_of(texts=TEXTS):
    return [
        Chunk(
            id=f"d{n}#0",
            document_id=f"d{n}",
            text=text,
            start=0,
            end=len(text),
            metadata={"tags": {"pet": "yes" if "cats" in text else "no"}},
        )
        for n, text in enumerate(texts)
    ]


def embed(texts, role):
    """A dimension a letter."""
    counts = np.array([[text.count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float32)
    return counts / np.linalg.norm(counts, axis=1, keepdims=True)


def means(declared, embed=embed, **given):
    return RetrieverDeps(retrievers={"mine": declared}, open_embedder=lambda _name: embed, **given)


async def rankings(declared, k=3, chunks=None, **given):
    search = await build_search("mine", chunks or chunks_of(), means(declared, **given))
    return await search(QUESTIONS, k)


@pytest.mark.server
@pytest.mark.parametrize("index", ["faiss", "qdrant"])
@pytest.mark.parametrize("among", [ChunkFilter(), ChunkFilter(where={"pet": "yes"})])
async def test_every_index_gives_the_rankings_of_exact_search(index, among, tmp_path):
    for k in (1, 3, 100):
        exact = await rankings(DenseSettings(), k, filter=among)
        # A store of its own for each: the embedded Qdrant lets go of a folder when it is collected.
        store = tmp_path / str(k)
        found = await rankings(DenseSettings(index=index), k, filter=among, store=store)
        assert [[item.document_id for item in one.items] for one in found] == [
            [item.document_id for item in one.items] for one in exact
        ]
    assert len(found[0].items) == (5 if among == ChunkFilter() else 2)
    assert (store / "qdrant").exists() == (index == "qdrant")


def counted(texts, role):
    """A dimension a letter, as many as there are: longer texts have longer vectors."""
    return np.array([[text.count(chr(97 + n)) for n in range(26)] for text in texts], dtype=np.float32)


async def by_similarity(similarity, **declared):
    given = {"open_as_given": lambda _name: counted}
    return await rankings(DenseSettings(similarity=similarity, **declared), 5, **given)


async def test_similarity_decides_where_vectors_are_of_different_lengths():
    # "cats" is 1 c, 1 a, 1 t, 1 s. "maize needs water" has 2 a, 1 t, 1 s, "maize and wheat" 3 a, 1 t: 4 each.
    # "wheat needs sun" has 1 a, 1 t, 2 s: 4; "cats sleep" all four and an s more: 5, as nearest by distance.
    first = {one: [item.document_id for item in (await by_similarity(one))[0].items] for one in ("dot", "l2")}
    assert first["dot"] == ["d2", "d4", "d0", "d1", "d3"]
    assert first["l2"][:2] == ["d2", "d4"]
    scores = [item.score for item in (await by_similarity("l2"))[0].items]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == -7  # "cats sleep" has e twice, and l, p, s once more: 4 + 1 + 1 + 1


@pytest.mark.server
@pytest.mark.parametrize("index", ["faiss", "qdrant"])
@pytest.mark.parametrize("similarity", ["dot", "l2"])
async def test_every_index_knows_every_similarity(index, similarity):
    assert [one.items for one in await by_similarity(similarity, index=index)] == [
        one.items for one in await by_similarity(similarity)
    ]


async def test_texts_that_are_equal_stand_in_order_of_position():
    (cats, _, _) = await rankings(DenseSettings(), 2)
    assert [item.document_id for item in cats.items] == ["d2", "d4"]
    assert cats.items[0].score == cats.items[1].score


async def test_its_own_embedder_goes_before_that_of_the_others():
    asked = []

    def open_embedder(name):
        asked.append(name)
        return embed

    for declared in (DenseSettings(), DenseSettings(embedder="openai/mini")):
        given = means(declared)
        given = msgspec.structs.replace(given, open_embedder=open_embedder, embedder="of the others")
        await build_search("mine", chunks_of(), given)
    assert asked == ["of the others", "openai/mini"]


@pytest.mark.parametrize("key", ["url", "collection", "api_key_env"])
async def test_what_belongs_to_qdrant_is_refused_elsewhere(key, says):
    with pytest.raises(ConfigError) as error:
        await rankings(DenseSettings(index="faiss", **{key: "x"}))
    says(error.value)


async def test_a_key_that_is_not_set_is_told_before_anything_is_embedded(says):
    declared = DenseSettings(index="qdrant", url="http://127.0.0.1:1", api_key_env="NO_SUCH_KEY")
    with pytest.raises(ConfigError) as error:
        await rankings(declared, embed=None)
    says(error.value)


async def test_offline_no_server_is_asked(says):
    declared = DenseSettings(index="qdrant", url="http://127.0.0.1:1")
    with pytest.raises(ModelError) as error:
        await rankings(declared, embed=None, offline=True)
    says(error.value)


async def test_a_text_that_cannot_be_embedded_is_told_by_its_document(says):
    def refuse(texts, role):
        raise TextRefused("passage: " + texts[3], "too long")

    with pytest.raises(ModelError) as error:
        await rankings(DenseSettings(), embed=refuse)
    says(error.value)


@pytest.mark.parametrize("refused", [("query", "passage"), ("query",)])
async def test_in_a_forecast_bm25_stands_in_and_everything_is_heard(refused):
    heard = []

    def listen(texts, role):
        heard.append((role, len(texts)))
        if role in refused:
            raise NotEmbedded("a forecast")
        return embed(texts, role)

    found = await rankings(DenseSettings(), embed=listen)
    by_words = await (await build_search("bm25", chunks_of()))(QUESTIONS, 3)
    assert [one.items for one in found] == [one.items for one in by_words]
    assert heard == [("passage", 5), ("query", 3)]


pytestmark = pytest.mark.simulation


@given(
    seed=st.integers(0, 2**31), n=st.integers(1, 200), k=st.sampled_from([1, 3, 10, 1000]), tied=st.booleans()
)
@settings(max_examples=30)
def test_it_finds_what_exact_search_finds(seed, n, k, tied):
    make = tied_vectors if tied else random_vectors
    passages, queries = make(n, 6, seed), make(25, 6, seed + 1)
    search = search_by_faiss(passages)
    for among in subsets(tagged_chunks(n)):
        assert same_hits(search(queries, k, among), search_exactly(passages, queries, k, among))


def test_copies_stand_in_order_of_position_however_many_there_are():
    passages = np.repeat(random_vectors(2, 8, 0), 500, axis=0)
    (hits,) = search_by_faiss(passages)(passages[:1], 7, None)
    assert [at for at, _ in hits] == [0, 1, 2, 3, 4, 5, 6]


def test_a_question_finds_the_same_whoever_asks_beside_it():
    passages, queries = random_vectors(3000, 32, 1), random_vectors(64, 32, 2)
    search = search_by_faiss(passages)
    assert search(queries, 5, None)[7] == search(queries[7:8], 5, None)[0]
