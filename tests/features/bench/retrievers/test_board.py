import random

import msgspec
import pytest

from ragstone.features.bench.retrievers._board import MeasuredConfiguration, make_leaderboard
from ragstone.features.bench.retrievers._planning import chunker_label, plan_grid
from ragstone.features.bench.retrievers._values import Configuration, FailedConfiguration, Timing
from ragstone.kernel.config import (
    BenchSection,
    ChunkSection,
    DenseSettings,
    HttpSettings,
    HybridSettings,
    RetrieversBench,
    Settings,
)
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Question, Ranking, RankingItem
from ragstone.kernel.retrieval.query_measures import measure_queries

QUESTIONS = [
    Question(id=f"q{n}", question=f"What is {n}?", document_ids=[f"d{n}"], lang="en" if n % 2 else "de")
    for n in range(200)
]
TIMING = Timing(
    index_s=0.1, n_embedded=0, n_cached=0, p50_s=0.01, p95_s=0.02, n_timed=20, questions_per_s=100.0
)


def grid(**keys):
    retrievers = keys.pop("retrievers_declared", {})
    return plan_grid(Settings(bench=BenchSection(retrievers=RetrieversBench(**keys)), retrievers=retrievers))


def names(**keys):
    return [one.name for one in grid(**keys)]


def cell(name, found, ks=(1,)):
    """Return a configuration that puts the right document first for the questions that `found` names."""
    rankings = [
        Ranking(
            question_id=q.id,
            retriever=name,
            items=[
                RankingItem(document_id=f"d{n}" if n in found else "wrong", score=2.0),
                RankingItem(document_id="other" if n in found else f"d{n}", score=1.0),
            ],
        )
        for n, q in enumerate(QUESTIONS)
    ]
    by_k = {
        k: measure_queries(
            [msgspec.structs.replace(row, items=row.items[:k]) for row in rankings],
            QUESTIONS,
            ks=(k,),
            rank_score_k=k,
            depth=k,
        )
        for k in ks
    }
    return MeasuredConfiguration(
        configuration=Configuration(name=name, chunker=ChunkSection(), retriever=name),
        by_k=by_k,
        rankings=rankings,
        timing=TIMING,
        file=f"{name}.jsonl",
    )


def board(*cells, failed=(), measure="recall"):
    return make_leaderboard(cells, failed, QUESTIONS, measure, why="of the test")


def verdicts(made):
    return {row.configuration.name: row.verdict for row in made.standings}


def test_retriever_that_embeds_nothing_is_there_once_for_all_embedders():
    assert names(embedders=["packaged", "openai/e"], retrievers=["bm25", "dense"]) == [
        "bm25",
        "dense · packaged",
        "dense · openai/e",
    ]


def test_hybrid_is_multiplied_by_embedders_if_a_part_of_it_embeds_by_the_default():
    own = {
        "fixed": DenseSettings(embedder="openai/e"),
        "of_fixed": HybridSettings(of=["bm25", "fixed"]),
    }
    made = grid(embedders=["a", "b"], retrievers=["hybrid", "of_fixed"], retrievers_declared=own)
    assert [(one.retriever, one.embedder) for one in made] == [
        ("hybrid", "a"),
        ("hybrid", "b"),
        ("of_fixed", None),
    ]


def test_retriever_elsewhere_is_there_once_for_all_chunkers():
    chunkers = [ChunkSection(method="whole"), ChunkSection(size=600)]
    made = names(
        chunkers=chunkers,
        retrievers=["bm25", "mine"],
        retrievers_declared={"mine": HttpSettings(url="http://localhost/search")},
    )
    assert made == ["whole · bm25", "whole · mine", "recursive 600 · bm25"]


def test_rerankers_are_applied_to_every_retriever_and_none_is_no_reranker():
    made = grid(retrievers=["bm25"], rerankers=["none", "openai/m"])
    assert [(one.name, one.reranker) for one in made] == [("bm25", None), ("bm25 · openai/m", "openai/m")]


def test_what_is_named_twice_is_measured_once():
    assert names(retrievers=["bm25", "bm25"]) == ["bm25"]


def test_chunk_and_embedder_of_the_file_are_the_default():
    settings = Settings(chunk=ChunkSection(size=77), bench=BenchSection())
    made = plan_grid(settings)
    assert {one.chunker.size for one in made} == {77}
    assert {one.embedder for one in made} == {None, "packaged"}


def test_chunker_is_told_by_what_is_not_the_default():
    assert chunker_label(ChunkSection(method="whole")) == "whole"
    assert chunker_label(ChunkSection(size=600, overlap=50)) == "recursive 600 overlap 50"


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"retrievers": []}, "retrievers is empty: name at least one"),
        ({"k": []}, "k is empty"),
        ({"chunkers": []}, "chunkers is empty"),
        ({"retrievers": ["bm52"]}, "unknown retriever 'bm52'. Did you mean 'bm25'"),
        ({"measure": "ndgc"}, "measure = 'ndgc'. Did you mean 'ndcg'"),
    ],
)
def test_grid_that_cannot_be_is_refused(keys, says):
    with pytest.raises(ConfigError, match=says):
        grid(**keys)


def test_retriever_made_from_itself_is_refused(says):
    with pytest.raises(ConfigError) as error:
        grid(
            retrievers=["a"],
            retrievers_declared={"a": HybridSettings(of=["b"]), "b": HybridSettings(of=["a"])},
        )
    says(error.value)


def test_two_identical_configurations_cannot_be_told_apart():
    made = board(cell("a", range(100)), cell("b", range(100)))
    assert verdicts(made) == {"a": "best", "b": "not distinguishable"}
    assert made.standings[1].comparison.difference.value == 0
    assert made.differing == []


def test_much_better_configuration_is_found():
    made = board(cell("poor", range(100)), cell("good", range(180)), cell("also good", range(1, 181)))
    assert verdicts(made) == {"good": "best", "also good": "not distinguishable", "poor": "worse"}


def test_holm_is_applied_over_every_pair_of_configurations():
    # b misses 7 questions that a finds and no other: McNemar's p is 2 / 2**7 = 0.0156, which two
    # configurations alone survive. Beside four that are like b, the family has 15 pairs, of which 5 have
    # this p: the smallest is multiplied by 15 (0.23), so nothing can be told.
    a, b = cell("a", range(107)), cell("b", range(100))
    assert verdicts(board(a, b))["b"] == "worse"
    crowd = [cell(f"b{n}", range(100)) for n in range(4)]
    made = board(a, b, *crowd)
    assert made.family == 15
    assert made.standings[1].comparison.p == pytest.approx(2 / 2**7)
    assert made.standings[1].comparison.p_holm == pytest.approx(15 * 2 / 2**7)
    assert set(verdicts(made).values()) == {"best", "not distinguishable"}


@pytest.mark.long
def test_configurations_that_differ_by_chance_are_seldom_told_apart():
    # Eight configurations that find each question with the same probability, twenty times: with Holm a
    # family in which any is called worse comes up in at most 5 % of the trials, one of 20 on average.
    draw = random.Random(7)
    wrong = 0
    for _ in range(20):
        cells = [cell(f"c{n}", {at for at in range(len(QUESTIONS)) if draw.random() < 0.7}) for n in range(8)]
        wrong += "worse" in verdicts(board(*cells)).values()
    assert wrong <= 2


def test_leaderboard_is_ordered_at_the_first_k_and_shows_every_k():
    # Everything is found at k = 2; at k = 1 only 150 and 120 of 200.
    made = board(cell("a", range(120), ks=(1, 2)), cell("b", range(150), ks=(1, 2)))
    assert made.measure == "recall@1"
    assert [row.configuration.name for row in made.standings] == ["b", "a"]
    assert made.standings[0].measures["1"]["recall@1"].value == 0.75
    assert made.standings[1].measures["2"]["recall@2"].value == 1.0
    assert made.ks == [1, 2]


def test_questions_that_differ_most_come_first_with_what_came_first_instead():
    made = board(cell("a", {0, 1}), cell("b", {0}), cell("c", {0}))
    [one] = made.differing
    assert one.question_id == "q1"
    assert [(found.name, found.value, found.first) for found in one.found] == [
        ("a", 1.0, "d1"),
        ("b", 0.0, "wrong"),
        ("c", 0.0, "wrong"),
    ]
    assert one.spread == pytest.approx((2 / 9) ** 0.5)  # of 1, 0, 0


def test_groups_by_language_are_of_the_leading_measure():
    made = board(cell("a", range(0, 200, 2)))
    assert made.standings[0].by_lang["de"].value == 1.0
    assert made.standings[0].by_lang["en"].value == 0.0


def test_configuration_that_failed_is_shown_with_its_reason_and_loses_no_other(says):
    down = FailedConfiguration(
        configuration=Configuration(name="down", chunker=ChunkSection(), retriever="dense"),
        reason="nobody answers",
    )
    made = board(cell("a", range(5)), failed=[down])
    assert [row.configuration.name for row in made.standings] == ["a"]
    assert made.failed == [down]
    with pytest.raises(DataError) as error:
        board(failed=[down])
    says(error.value)


def test_configuration_without_the_measure_is_not_ranked(says):
    made = board(cell("a", range(5)), measure="recall")
    assert made.failed == []
    with pytest.raises(DataError) as error:
        board(cell("a", range(5)), measure="span_recall")
    says(error.value)
