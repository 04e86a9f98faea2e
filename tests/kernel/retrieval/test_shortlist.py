import numpy as np
import pytest

from ragstone.kernel.config import (
    Bm25Settings,
    HttpSettings,
    RetrieveSection,
    ShortlistSettings,
    load_settings,
)
from ragstone.kernel.embedding.model import NotEmbedded, TextRefused
from ragstone.kernel.errors import ConfigError, DataError, ModelError
from ragstone.kernel.records import Chunk, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.deps import RetrieverDeps
from ragstone.kernel.retrieval.search import build_search, named_embedders
from ragstone.kernel.stages.retrieve import embedders_of, ranking_notes

TEXTS = ["maize and wheat", "maize with rain", "maize with rain and sun", "cats sleep", "wheat"]


class Embeds:
    """Two dimensions: how much of a text is rain, and the rest; it notes what it was asked."""

    def __init__(self, fails=None):
        self.asked = {"passage": [], "query": []}
        self.fails = fails

    def __call__(self, texts, role):
        self.asked[role] += texts
        if self.fails:
            raise self.fails
        rows = np.array([[text.count("rain"), 0.5] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def chunks_of(*texts, lang=None):
    metadata = {"lang": lang} if lang else None
    return [
        Chunk(id=f"d{n}#0", document_id=f"d{n}", text=text, start=0, end=len(text), metadata=metadata)
        for n, text in enumerate(texts)
    ]


async def shortlisted(
    *asked, embed=None, k=5, chunks=None, built=None, retrievers=None, lang=None, **declared
):
    deps = RetrieverDeps(
        open_embedder=lambda _name: embed or Embeds(),
        retrievers={"quick": ShortlistSettings(**declared), **(retrievers or {})},
        built=built or {},
    )
    search = await build_search("quick", chunks_of(*TEXTS) if chunks is None else chunks, deps)
    return await search([Question(id=text, question=text, lang=lang) for text in asked], k)


def documents(ranking):
    return [item.document_id for item in ranking.items]


async def test_what_words_propose_is_ordered_by_meaning_too_and_nothing_else_is_embedded():
    embed = Embeds()
    [ranking] = await shortlisted("maize, any rain?", embed=embed)
    assert documents(ranking)[:2] == ["d1", "d2"]
    assert set(documents(ranking)) == {"d0", "d1", "d2"}  # of d3 and d4 no word is asked for
    assert sorted(embed.asked["passage"]) == sorted(TEXTS[:3])


async def test_meaning_can_turn_the_order_of_words_round():
    # By words the shorter text leads; by meaning it is the one that is far from the question.
    def embed(texts, role):
        far = [role == "passage" and text == "maize" for text in texts]
        return np.array([[0, 1] if each else [1, 0] for each in far], dtype=np.float32)

    [ranking] = await shortlisted("maize", embed=embed, chunks=chunks_of("maize", "maize with words", "cats"))
    assert documents(ranking) == ["d1", "d0"]


async def test_places_behind_the_candidates_are_not_embedded_and_count_as_the_least_similar():
    embed = Embeds()
    chunks = chunks_of("maize", "maize so", "maize so on", "maize rain and so on and on")
    [ranking] = await shortlisted("maize", embed=embed, chunks=chunks, candidates=2)
    assert embed.asked["passage"] == ["maize", "maize so"]
    assert documents(ranking) == ["d0", "d1", "d2", "d3"]


async def test_a_text_that_several_questions_share_is_embedded_once():
    embed = Embeds()
    await shortlisted("maize", "maize?", "maize", embed=embed)
    assert len(embed.asked["passage"]) == len(set(embed.asked["passage"])) == 3
    assert embed.asked["query"] == ["maize", "maize?"]


async def test_where_words_find_nothing_nothing_is_embedded():
    embed = Embeds()
    rankings = await shortlisted("zebra", "", embed=embed)
    assert [ranking.items for ranking in rankings] == [[], []]
    assert embed.asked["passage"] == []


async def test_a_forecast_hears_of_both_roles_and_keeps_the_order_of_words():
    embed = Embeds(NotEmbedded("a forecast"))
    [ranking] = await shortlisted("maize rain", embed=embed)
    [by_words] = await (await build_search("bm25", chunks_of(*TEXTS)))(
        [Question(id="q", question="maize rain")], 5
    )
    assert documents(ranking) == documents(by_words)
    assert len(embed.asked["passage"]) == 3
    assert embed.asked["query"] == ["maize rain"]


async def test_a_text_that_is_refused_is_named_with_its_document():
    embed = Embeds(TextRefused("maize with rain", "too long"))
    with pytest.raises(ModelError, match="document 'd1', chunk 'd1#0'"):
        await shortlisted("maize", embed=embed)


async def test_a_question_in_a_language_of_no_chunk_is_noted(says):
    chunks = chunks_of("maize", "wheat", lang="en")
    [foreign] = await shortlisted("maize", chunks=chunks, lang="es")
    assert foreign.metadata == {"lang_of_no_chunk": "es"}
    both = chunks_of("maize", lang=["en", "es"])
    unknown = chunks_of("maize")
    norwegian = chunks_of("mais", lang="nb")
    for lang, known in (
        ("en", chunks), ("en-GB", chunks), (None, chunks), ("es", both), ("es", unknown), ("no", norwegian),
    ):  # fmt: skip
        [ranking] = await shortlisted("maize", chunks=known, lang=lang)
        assert ranking.metadata is None
    says(*ranking_notes([foreign], [], RetrieveSection()))


def proposing(*items):
    async def search(questions, k):
        return [Ranking(question_id=each.id, retriever="", items=list(items)) for each in questions]

    return {"mine": search}


@pytest.mark.parametrize("chunks", [[], chunks_of("maize", lang="en")])
async def test_of_a_retriever_elsewhere_nobody_knows_in_which_languages_it_finds(chunks):
    elsewhere = {"mine": HttpSettings(url="http://localhost:1/search")}
    items = [RankingItem(document_id="x", chunk_id="x", text="sun", score=2.0)]
    [ranking] = await shortlisted(
        "rain", of="mine", built=proposing(*items), retrievers=elsewhere, chunks=chunks, lang="es"
    )
    assert documents(ranking) == ["x"]
    assert ranking.metadata is None


async def test_what_a_retriever_elsewhere_proposes_is_compared_by_its_text(says):
    items = [
        RankingItem(document_id="x", chunk_id="x", text="sun", score=2.0),
        RankingItem(document_id="y", chunk_id="y", text="rain", score=1.9),
        RankingItem(document_id="z", chunk_id="z", text="sun too", score=0.1),
    ]
    [ranking] = await shortlisted("rain", of="mine", built=proposing(*items), candidates=3)
    assert documents(ranking)[0] == "y"
    with pytest.raises(DataError) as raised:
        await shortlisted("rain", of="mine", built=proposing(RankingItem(document_id="x", score=1.0)))
    says(raised.value)


async def test_a_shortlist_of_what_embeds_by_itself_is_refused(says):
    with pytest.raises(ConfigError) as raised:
        await shortlisted("maize", of="hybrid")
    says(raised.value)


def test_its_embedder_is_among_those_of_a_retriever():
    known = {
        "bm25": Bm25Settings(),
        "quick": ShortlistSettings(),
        "far": ShortlistSettings(embedder="openai/m"),
    }
    assert [named_embedders(name, known) for name in known] == [[], [None], ["openai/m"]]


def test_nothing_is_embedded_before_the_workers_of_a_cluster_are_asked():
    assert embedders_of(RetrieveSection(retriever="hybrid"), {}) == ["packaged"]
    assert embedders_of(RetrieveSection(retriever="shortlist"), {}) == []


@pytest.mark.parametrize("candidates", [0, 1, 1001])
def test_a_number_of_candidates_that_makes_no_sense_is_refused(candidates, tmp_path):
    (tmp_path / "ragstone.toml").write_text(
        f'[retrievers]\nquick = {{ kind = "shortlist", candidates = {candidates} }}'
    )
    with pytest.raises(ConfigError, match="candidates"):
        load_settings(tmp_path / "ragstone.toml")
