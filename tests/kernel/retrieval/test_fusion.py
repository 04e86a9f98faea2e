import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.config import HybridSettings
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Chunk, Question, Ranking, RankingItem
from ragstone.kernel.retrieval.deps import RetrieverDeps
from ragstone.kernel.retrieval.fusion import fuse, reciprocal_rank_fusion, score_fusion
from ragstone.kernel.retrieval.search import build_search

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
    fused = score_fusion([[("a", 3.0), ("b", 1.0)], [("c", 8.0), ("b", 4.0)]], [1, 2], [2, 2])
    assert fused == [("c", 1.0), ("a", -1.0), ("b", -3.0)]


def test_what_a_ranking_that_ends_early_does_not_name_counts_as_one_of_score_zero():
    # 5 and 0: mean 2.5, deviation 2.5: a +1, b -1; and the other way round: equal, the first named first.
    assert score_fusion([[("a", 5.0)], [("b", 7.0)]], [1, 1], [9, 9]) == [("a", 0.0), ("b", 0.0)]
    # Scores below 0, as logits are: -1, -3 and once more the last of them: mean -7/3, deviation
    # 2 sqrt(2) / 3.
    ((best, one), (last, other)) = score_fusion([[("a", -1.0), ("b", -3.0)]], [1], [9])
    assert (best, last) == ("a", "b")
    assert (one, other) == pytest.approx((2**0.5, -(0.5**0.5)))


def test_equal_scores_count_alike_and_more_than_what_is_not_named():
    assert score_fusion([[("a", 3.0), ("b", 3.0)], [("c", 1.0), ("a", 0.0)]], [1, 1], [2, 2]) == [
        ("c", 0.0),
        ("a", -1.0),
        ("b", -1.0),
    ]
    assert score_fusion([[("a", 3.0)], []], [1, 1], [9, 9]) == [("a", 1.0)]


@given(rankings)
def test_a_fusion_names_every_key_once_best_first_and_the_order_of_terms_does_not_matter(given_rankings):
    weights = [0.1 * n for n in range(len(given_rankings))]
    depths = [9] * len(given_rankings)
    for fuse_them in (reciprocal_rank_fusion, lambda rows, w: score_fusion(rows, w, depths)):
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
        search = await build_search("both", CHUNKS, RetrieverDeps(retrievers={"both": declared}, built=built))
        (ranking,) = await search([Question(id="q", question="?")], 3)
        assert ranking.items[0].document_id == first


def piece(document, start=None, end=None, score=1.0, **given):
    return RankingItem(document_id=document, start=start, end=end, score=score, **given)


def whole(document, score=1.0):
    return piece(document, 0, 30, score)


def finding(*items, metadata=None):
    async def search(questions, k):
        return [
            Ranking(question_id=one.id, retriever="x", items=list(items), metadata=metadata)
            for one in questions
        ]

    return search


# Documents of 30 characters in three chunks, but `e`, which is one.
CUT = [
    *(
        Chunk(id=f"{name}#{at}", document_id=name, text="x" * 10, start=at, end=at + 10)
        for name in "abcd"
        for at in (0, 10, 20)
    ),
    Chunk(id="e#0", document_id="e", text="x" * 30, start=0, end=30),
]


async def fused_of(*searches, by="ranks", k=9, chunks=CUT):
    (ranking,) = await fuse(searches, [1.0] * len(searches), by, chunks)([Question(id="q", question="?")], k)
    return ranking


def places(ranking):
    return [(item.document_id, item.start, item.end) for item in ranking.items]


async def test_chunks_and_whole_documents_are_fused_by_document_and_the_chunk_is_kept():
    by_chunks = finding(piece("a", 10, 20), piece("a", 0, 10), piece("b", 0, 10), whole("e"))
    by_documents = finding(whole("b"), whole("a"), whole("c"), whole("e"))
    ranking = await fused_of(by_chunks, by_documents)
    # a is first and second, b second and first, e third and fourth: not fourth twice and so the first of all.
    assert places(ranking) == [("a", 10, 20), ("b", 0, 10), ("e", 0, 30), ("c", 0, 30)]
    assert [item.score for item in ranking.items] == pytest.approx(
        [1 / 61 + 1 / 62, 1 / 62 + 1 / 61, 1 / 63 + 1 / 64, 1 / 63]
    )
    assert ranking.metadata == {"fused_by": "document"}
    assert places(await fused_of(by_chunks, by_documents, k=1)) == [("a", 10, 20)]


async def test_standard_scores_of_documents_are_those_of_their_first_pieces():
    by_chunks = finding(piece("a", 0, 10, 9.0), piece("a", 10, 20, 8.0), piece("b", 0, 10, 3.0))
    by_documents = finding(whole("b", 5.0), whole("a", 4.0))
    ranking = await fused_of(by_chunks, by_documents, by="scores")
    # 9, 3 and one more of 0, for it had no more to name: mean 4, deviation sqrt(14).
    # 5, 4 and 0: mean 3, deviation sqrt(14/3).
    a, b = 5 / 14**0.5 + 1 / (14 / 3) ** 0.5, -1 / 14**0.5 + 2 / (14 / 3) ** 0.5
    assert places(ranking) == [("a", 0, 10), ("b", 0, 10)]
    assert [item.score for item in ranking.items] == pytest.approx([a, b])
    # A ranking of 100 pieces had more to name, though they are of two documents: mean 6, deviation 3.
    full = finding(*[piece("a", 0, 10, 9.0)] * 99, piece("b", 0, 10, 3.0))
    ranking = await fused_of(full, finding(whole("c"), whole("a")), by="scores")
    lowest = next(item for item in ranking.items if item.document_id == "b")
    # Of c and a, 1 each and one of 0: mean 2/3, deviation sqrt(2)/3; what is not named is at -sqrt(2).
    assert lowest.score == pytest.approx(-1 - 2**0.5)


@pytest.mark.parametrize(
    ("items", "kept"),
    [
        ([piece("a")], ("a", 0, 10)),  # an id and nothing else is the whole document
        ([piece("a", text="words that a lacks")], ("a", 0, 10)),
        ([piece("a", 5, 25)], ("a", 0, 10)),  # cut in another way; none holds the other, and ours is first
        ([piece("b"), piece("a", 5, 25)], ("a", 0, 10)),
        ([piece("a", 2, 8)], ("a", 2, 8)),
        ([whole("a"), piece("a", 10, 20)], ("a", 0, 10)),  # both kinds, and the chunk is another one
    ],
)
async def test_the_narrowest_piece_is_kept_of_equal_ones_that_of_the_best_rank(items, kept):
    ranking = await fused_of(finding(piece("a", 0, 10)), finding(*items))
    assert ranking.metadata == {"fused_by": "document"}
    assert kept in places(ranking)
    assert len({item.document_id for item in ranking.items}) == len(ranking.items)
    other = await fused_of(finding(piece("c", 0, 10), piece("a", 0, 10)), finding(piece("a", 5, 25)))
    assert ("a", 5, 25) in places(other)


@pytest.mark.parametrize("by", ["ranks", "scores"])
@pytest.mark.parametrize(
    "items",
    [
        [],
        [whole("e"), piece("d", 0, 10)],  # the only document that it names whole is a single chunk
        [whole("b"), whole("c")],  # no document that the other names
        [whole("a"), piece("a", 0, 10)],  # whole and in chunks, and the chunks meet
        [piece("a", 10, 20)],
    ],
)
async def test_where_pieces_can_meet_they_are_fused_as_they_are(items, by):
    by_chunks = finding(piece("a", 0, 10, 3.0), piece("a", 20, 30, 2.0), whole("e", 1.0), metadata={"n": 1})
    ranking = await fused_of(by_chunks, finding(*items), by=by)
    assert ranking == await fused_of(by_chunks, finding(*items), by=by, chunks=None)
    assert ranking.metadata == {"n": 1}


async def test_two_retrievers_elsewhere_that_name_the_same_chunks_are_fused_by_these():
    one, other = piece("a", chunk_id="x1"), piece("a", chunk_id="x2")
    ranking = await fused_of(finding(one), finding(other, one))
    assert [item.chunk_id for item in ranking.items] == ["x1", "x2"]
    assert ranking.metadata is None


@given(st.lists(st.lists(st.integers(0, 19), unique=True), min_size=2, max_size=3))
async def test_chunks_of_one_cut_are_fused_by_chunk_though_they_overlap(numbers):
    cut = [
        Chunk(id=f"{n}", document_id=f"d{n // 5}", text="x" * 8, start=n % 5 * 5, end=n % 5 * 5 + 8)
        for n in range(20)
    ]
    searches = [
        finding(*(piece(cut[n].document_id, cut[n].start, cut[n].end, 1 / (n + 1)) for n in some))
        for some in numbers
    ]
    for by in ("ranks", "scores"):
        assert await fused_of(*searches, by=by, k=99, chunks=cut) == await fused_of(
            *searches, by=by, k=99, chunks=None
        )


LENGTHS = {f"d{n}": 30 if n % 4 else 10 for n in range(40)}  # every fourth document is a single chunk of 10
ABOUT = [(Question(id=f"q{n}", question="?"), f"d{n % 40}") for n in range(120)]


def cut_by(width):
    return [
        Chunk(
            id="",
            document_id=name,
            text="x" * (min(at + width, length) - at),
            start=at,
            end=min(at + width, length),
        )
        for name, length in LENGTHS.items()
        for at in range(0, length, width)
    ]


def guessing(chunks, noise):
    """A search whose scores are 1 for pieces of the right document, else 0, and noise."""
    rng = np.random.default_rng(len(chunks))
    found = []
    for question, right in ABOUT:
        scores = rng.normal(0, noise, len(chunks)) + [one.document_id == right for one in chunks]
        items = [
            piece(chunks[at].document_id, chunks[at].start, chunks[at].end, float(scores[at]))
            for at in np.argsort(-scores)[:100]
        ]
        found.append(Ranking(question_id=question.id, retriever="x", items=items))

    async def search(questions, k):
        return found

    return search


async def hit_at_1(search):
    rankings = await search([question for question, _ in ABOUT], 5)
    return np.mean(
        [one.items[0].document_id == right for one, (_, right) in zip(rankings, ABOUT, strict=True)]
    )


@pytest.mark.parametrize("by", ["ranks", "scores"])
@pytest.mark.parametrize("width", [30, 17])  # whole documents, and pieces cut in another way
async def test_chunks_fused_with_other_pieces_find_more_than_the_worse_of_both(width, by):
    ours, theirs = guessing(cut_by(10), 0.3), guessing(cut_by(width), 0.35)
    alone = [await hit_at_1(ours), await hit_at_1(theirs)]
    fused = await hit_at_1(fuse([ours, theirs], [1.0, 1.0], by, cut_by(10)))
    assert fused >= min(alone)
    assert fused > await hit_at_1(fuse([ours, theirs], [1.0, 1.0], by))


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
        await build_search("both", CHUNKS, RetrieverDeps(retrievers={"both": declared}))
