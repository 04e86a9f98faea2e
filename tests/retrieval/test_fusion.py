import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.config import HybridSettings
from ragstone.errors import ConfigError
from ragstone.records import Chunk, Question, Ranking, RankingItem
from ragstone.retrieval import SearchMeans, build_search
from ragstone.retrieval.fusion import fuse, reciprocal_rank_fusion, score_fusion

CHUNKS = [Chunk(id="d#0", document_id="d", text="maize", start=0, end=5)]

rankings = st.lists(
    st.lists(st.tuples(st.integers(0, 9), st.floats(-5, 5)), unique_by=lambda hit: hit[0], max_size=9),
    max_size=4,
)


def test_reciprocal_ranks_are_summed_and_ties_go_to_the_first():
    # 9: 1/61 + 1/62; 7: the same the other way round; 8: 1/63.
    ranked = [[(9, 0.3), (7, 0.2)], [(7, 5.0), (9, 4.0), (8, 3.0)]]
    fused = reciprocal_rank_fusion(ranked, [1, 1])
    assert [key for key, _ in fused] == [9, 7, 8]
    assert [score for _, score in fused] == pytest.approx([1 / 61 + 1 / 62, 1 / 61 + 1 / 62, 1 / 63])
    assert reciprocal_rank_fusion([], []) == []
    assert [key for key, _ in reciprocal_rank_fusion(ranked, [0.4, 0.6])] == [7, 9, 8]


def test_standard_scores_are_weighted_and_what_a_full_ranking_does_not_name_counts_as_its_last():
    # first: 3 and 1, mean 2, deviation 1: a +1, b -1, and c as b. second: c 8, b 4: c +1, b -1, a as b.
    # Weights 1 and 2: a 1 - 2, b -1 - 2, c -1 + 2.
    fused = score_fusion([[("a", 3.0), ("b", 1.0)], [("c", 8.0), ("b", 4.0)]], [1, 2], depth=2)
    assert fused == [("c", 1.0), ("a", -1.0), ("b", -3.0)]


def test_what_a_ranking_that_ends_early_does_not_name_counts_as_one_of_score_zero():
    # 5 and 0: mean 2.5, deviation 2.5: a +1, b -1; and the other way round: equal, the first named first.
    assert score_fusion([[("a", 5.0)], [("b", 7.0)]], [1, 1], depth=9) == [("a", 0.0), ("b", 0.0)]
    # Scores below 0, as logits are: -1, -3 and once more the last of them: mean -7/3, deviation
    # 2 sqrt(2) / 3.
    ((best, one), (last, other)) = score_fusion([[("a", -1.0), ("b", -3.0)]], [1], depth=9)
    assert (best, last) == ("a", "b")
    assert (one, other) == pytest.approx((2**0.5, -(0.5**0.5)))


def test_equal_scores_count_alike_and_more_than_what_is_not_named():
    assert score_fusion([[("a", 3.0), ("b", 3.0)], [("c", 1.0), ("a", 0.0)]], [1, 1], depth=2) == [
        ("c", 0.0),
        ("a", -1.0),
        ("b", -1.0),
    ]
    assert score_fusion([[("a", 3.0)], []], [1, 1]) == [("a", 1.0)]


@given(rankings)
def test_a_fusion_names_every_key_once_best_first_and_the_order_of_terms_does_not_matter(given_rankings):
    weights = [0.1 * n for n in range(len(given_rankings))]
    for fuse_them in (reciprocal_rank_fusion, score_fusion):
        fused = fuse_them(given_rankings, weights)
        assert {key for key, _ in fused} == {key for ranking in given_rankings for key, _ in ranking}
        assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
        assert dict(fused) == dict(fuse_them(given_rankings[::-1], weights[::-1]))


async def test_a_place_that_a_retriever_names_twice_counts_once_and_notes_are_kept():
    def found(*names, metadata=None):
        async def search(questions, k):
            items = [RankingItem(document_id=name, score=1.0) for name in names]
            return [Ranking(question_id="q", retriever="x", items=items, metadata=metadata)]

        return search

    search = fuse([found("b", "b", "a"), found("a", metadata={"error": "slow"})], [1, 1], "ranks")
    (ranking,) = await search([Question(id="q", question="?")], 5)
    # b: 1/61; a: 1/62 + 1/61, for the second b is no place.
    assert [(item.document_id, item.score) for item in ranking.items] == [
        ("a", pytest.approx(1 / 61 + 1 / 62)),
        ("b", pytest.approx(1 / 61)),
    ]
    assert ranking.metadata == {"error": "slow"}


async def test_how_retrievers_are_fused_and_what_each_weighs_is_declared():
    def found(*scored):
        async def search(questions, k):
            items = [RankingItem(document_id=name, score=score) for name, score in scored]
            return [Ranking(question_id="q", retriever="x", items=items)]

        return search

    # By ranks d stands before e, 1/61 + 1/62 each; by scores e is far ahead where it leads.
    built = {
        "x": found(("d", 1.0), ("e", 0.99), ("f", 0.0)),
        "y": found(("e", 9.0), ("d", 1.0), ("f", 0.9)),
    }
    for declared, first in (
        (HybridSettings(of=["x", "y"], fusion="ranks"), "d"),
        (HybridSettings(of=["x", "y"]), "e"),
        (HybridSettings(of=["x", "y"], weights=[1.0, 0.0]), "d"),
    ):
        search = await build_search("both", CHUNKS, SearchMeans(retrievers={"both": declared}, built=built))
        (ranking,) = await search([Question(id="q", question="?")], 3)
        assert ranking.items[0].document_id == first


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
