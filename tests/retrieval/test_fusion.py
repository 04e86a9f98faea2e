import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.config import HybridSettings
from ragstone.errors import ConfigError
from ragstone.records import Chunk, Question, Ranking, RankingItem
from ragstone.retrieval import SearchMeans, build_search
from ragstone.retrieval.fusion import fuse, reciprocal_rank_fusion, weighted_fusion

CHUNKS = [Chunk(id="d#0", document_id="d", text="maize", start=0, end=5)]

rankings = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), unique_by=lambda hit: hit[0], max_size=9),
    max_size=4,
)


def test_reciprocal_ranks_are_summed_and_ties_go_to_the_first():
    # 9: 1/61 + 1/62; 7: the same the other way round; 8: 1/63.
    fused = reciprocal_rank_fusion([[(9, 0.3), (7, 0.2)], [(7, 5.0), (9, 4.0), (8, 3.0)]])
    assert [key for key, _ in fused] == [9, 7, 8]
    assert [score for _, score in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 61 + 1 / 62, 1 / 63])
    assert reciprocal_rank_fusion([]) == []


def test_scaled_scores_are_weighted_and_absent_ones_are_nothing():
    # first: a (10-4)/(10-4) = 1, b (7-4)/6 = .5, c 0; second: c 1, b 0. Weights 1 and 2:
    # a 1, b .5 + 0 = .5, c 0 + 2 = 2.
    fused = weighted_fusion([[("a", 10.0), ("b", 7.0), ("c", 4.0)], [("c", 0.9), ("b", 0.1)]], [1, 2])
    assert fused == [("c", 2.0), ("a", 1.0), ("b", 0.5)]


def test_equal_scores_of_a_ranking_all_count_as_its_best():
    assert weighted_fusion([[("a", 3.0), ("b", 3.0)], []], [0.5, 0.5]) == [("a", 0.5), ("b", 0.5)]


@given(rankings)
def test_a_fusion_names_every_key_once_best_first_and_the_order_of_terms_does_not_matter(given_rankings):
    for fused in (
        reciprocal_rank_fusion(given_rankings),
        weighted_fusion(given_rankings, [0.1 * n for n in range(len(given_rankings))]),
    ):
        assert {key for key, _ in fused} == {key for ranking in given_rankings for key, _ in ranking}
        assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    forwards, backwards = (
        dict(reciprocal_rank_fusion(each)) for each in (given_rankings, given_rankings[::-1])
    )
    assert forwards == backwards


async def test_a_place_that_a_retriever_names_twice_counts_once_and_notes_are_kept():
    def found(*names, metadata=None):
        async def search(questions, k):
            items = [RankingItem(document_id=name, score=1.0) for name in names]
            return [Ranking(question_id="q", retriever="x", items=items, metadata=metadata)]

        return search

    search = fuse([found("b", "b", "a"), found("a", metadata={"error": "slow"})])
    (ranking,) = await search([Question(id="q", question="?")], 5)
    # b: 1/61; a: 1/62 + 1/61, for the second b is no place.
    assert [(item.document_id, item.score) for item in ranking.items] == [
        ("a", pytest.approx(1 / 61 + 1 / 62)),
        ("b", pytest.approx(1 / 61)),
    ]
    assert ranking.metadata == {"error": "slow"}


@pytest.mark.parametrize(
    ("declared", "says"),
    [
        (HybridSettings(weights=[1.0]), r"both: 1 weights for 2 retrievers \(bm25, dense\)"),
        (HybridSettings(weights=[0.0, 0.0]), "both: all weights are 0"),
        (HybridSettings(of=[]), r"both: `of` must name retrievers, each once; it is \[\]"),
        (HybridSettings(of=["bm25", "bm25"]), "each once"),
    ],
)
async def test_a_fusion_that_cannot_be_meant_is_named(declared, says):
    with pytest.raises(ConfigError, match=says):
        await build_search("both", CHUNKS, SearchMeans(retrievers={"both": declared}))
