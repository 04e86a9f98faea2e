"""Exactly N questions of a log, the same whatever the order of its rows."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.sample._gathering import LoggedQuestion, RowsOfCell
from ragstone.features.sample.drawing import NO_TOPIC, WAYS, SamplingMethod, draw, equal_shares, rarities
from ragstone.kernel.errors import ConfigError, DataError

CROPS = [f"How is maize sown in {place} rows?" for place in ("wide", "narrow", "long", "short", "wet", "dry")]
BANKS = [f"What does a bank loan cost a {who} here?" for who in ("farmer", "student", "widow")]


def asked(texts, n=1, quality=None):
    return [
        LoggedQuestion(
            f"q-{text}",
            text,
            at,
            n,
            None,
            *((quality[at], 1) if quality else (0.0, 0)),
            cells={(text[:3],): RowsOfCell(at, n)},
        )
        for at, text in enumerate(texts)
    ]


def texts_of(sampled):
    return [one.question.text for one in sampled.drawn]


@pytest.mark.parametrize(
    ("sizes", "count", "shares"),
    [
        ([5, 3, 1], 6, [3, 2, 1]),  # 2 each; the last has one, and its other place goes to the largest
        ([5, 5, 5], 7, [3, 2, 2]),  # 2 each, one left over for the first
        ([9, 1, 1], 9, [7, 1, 1]),
        ([2, 2], 10, [2, 2]),
        ([4], 0, [0]),
        ([5, 5, 5], 2, [1, 1, 0]),
    ],
)
def test_shares_are_equal_and_what_is_left_over_goes_to_the_largest(sizes, count, shares):
    assert equal_shares(sizes, count) == shares


@given(st.lists(st.integers(1, 50), min_size=1), st.integers(0, 300))
def test_shares_add_up_and_no_topic_gives_more_than_it_has(sizes, count):
    shares = equal_shares(sorted(sizes, reverse=True), count)
    assert sum(shares) == min(count, sum(sizes))
    assert all(share <= size for share, size in zip(shares, sorted(sizes, reverse=True), strict=True))


@pytest.mark.parametrize("by", WAYS)
@pytest.mark.parametrize("count", [1, 4, 9, 50])
def test_there_are_exactly_as_many_as_were_asked_for_or_all_there_are(by, count):
    some = asked(CROPS + BANKS, quality=[0.5] * 9)
    drawn = texts_of(draw(some, count, SamplingMethod(by=by, topics=2, tags=["word"])))
    assert len(drawn) == len(set(drawn)) == min(count, 9)


@pytest.mark.parametrize("by", WAYS)
def test_the_order_of_the_log_decides_nothing_and_the_seed_decides_ties(by):
    some = asked(CROPS + BANKS, quality=[0.5] * 9)
    way = SamplingMethod(by=by, topics=2, tags=["word"], seed=3)
    first = texts_of(draw(some, 4, way))
    assert texts_of(draw(some[::-1], 4, way)) == first
    if by != "rarity":
        assert any(
            texts_of(draw(some, 4, msgspec.structs.replace(way, seed=n))) != first for n in range(4, 9)
        )


def test_topics_have_equal_shares_and_weights_that_add_up_to_the_log():
    sampled = draw(asked(CROPS + BANKS, n=10), 4, SamplingMethod(topics=2))
    assert [(one.n_questions, one.n_rows, one.taken) for one in sampled.topics] == [(6, 60, 2), (3, 30, 2)]
    # 6 crop questions of 10 rows each, 2 taken: each stands for 30 rows; 3 of the bank, 2 taken: for 15
    assert sorted(one.weight for one in sampled.drawn) == [15, 15, 30, 30]
    assert sum(one.weight for one in sampled.drawn) == 90


def test_cells_have_equal_shares_and_weights_that_give_their_rows_back():
    sampled = draw(asked(CROPS + BANKS, n=10), 4, SamplingMethod(by="tag", tags=["word"]))
    assert [(one.name, one.n_questions, one.n_rows, one.taken) for one in sampled.cells] == [
        ("word=How", 6, 60, 2),
        ("word=Wha", 3, 30, 2),
    ]
    # 6 questions of 10 rows, 2 taken: each stands for 30 rows; 3 of 10 rows, 2 taken: for 15
    assert sorted(one.weight for one in sampled.drawn) == [15, 15, 30, 30]
    assert all(one.topic is None for one in sampled.drawn)


def test_a_question_of_several_cells_is_in_that_of_most_rows_with_its_answer_from_there():
    cells = {("b",): RowsOfCell(0, 1, 0), ("a",): RowsOfCell(1, 2, 5), ("",): RowsOfCell(2, 2)}
    one = LoggedQuestion("q", "text", 0, 5, 0, cells=cells)
    sampled = draw([one], 1, SamplingMethod(by="tag", tags=["crop"]))
    assert [cell.name for cell in sampled.cells] == ["no crop"]  # 2 rows as "a" has: the first by name
    assert (sampled.drawn[0].question.at, sampled.drawn[0].question.answered_at) == (2, 0)
    cells["a",].n = 3
    assert draw([one], 1, SamplingMethod(by="tag", tags=["crop"])).drawn[0].question.answered_at == 5


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9)), min_size=1), st.integers(3, 40))
def test_weights_add_up_to_the_log_where_every_cell_is_spoken_of(rows, count):
    some = [
        LoggedQuestion(f"q{at}", f"t{at}", at, 1, cells={(value, str(n)): RowsOfCell(at, 1)})
        for at, (value, n) in enumerate(rows)
    ]
    sampled = draw(some, count, SamplingMethod(by="tag", tags=["crop", "month"]))
    spoken = sum(cell.n_rows for cell in sampled.cells if cell.taken)
    assert sum(one.weight for one in sampled.drawn) == pytest.approx(spoken, abs=0.01)
    assert sum(cell.n_rows for cell in sampled.cells) == len(rows)


def test_a_question_that_shares_no_term_is_in_a_topic_of_its_own():
    sampled = draw(asked([*CROPS, *BANKS, "zzz"]), 10, SamplingMethod(topics=2))
    assert next(one.topic for one in sampled.drawn if one.question.text == "zzz") == NO_TOPIC


def test_without_a_number_the_topics_are_chosen():
    assert len(draw(asked(CROPS + BANKS), 9, SamplingMethod()).topics) >= 2


def test_random_weights_are_rows_by_the_share_that_was_taken():
    sampled = draw(asked(CROPS, n=5), 3, SamplingMethod(by="random"))
    assert [one.weight for one in sampled.drawn] == [10, 10, 10]  # 5 rows x 6 questions / 3 taken


def test_the_most_asked_come_first():
    some = [LoggedQuestion(f"q{n}", f"t{n}", n, n) for n in range(5)]
    assert texts_of(draw(some, 3, SamplingMethod(by="frequency"))) == ["t4", "t3", "t2"]
    assert all(one.weight is None for one in draw(some, 3, SamplingMethod(by="frequency")).drawn)


def test_the_worst_come_first_and_those_that_nobody_judged_are_not_taken():
    some = [
        LoggedQuestion("a", "a", 0, 2, None, 1.0, 2),
        LoggedQuestion("b", "b", 1, 1, None, 0.2, 1),
        LoggedQuestion("c", "c", 2, 1),
    ]
    sampled = draw(some, 3, SamplingMethod(by="quality"))
    assert texts_of(sampled) == ["b", "a"]  # 0.2 / 1 before 1.0 / 2
    assert sampled.without_quality == 1


def test_the_least_like_the_others_come_first():
    odd = "Which tractor tyres fit?"
    sampled = draw(asked([*CROPS[:3], *BANKS, odd]), 2, SamplingMethod(by="rarity"))
    assert texts_of(sampled)[0] == odd
    assert sampled.drawn[0].rarity == 1.0
    assert sampled.drawn[1].rarity < 0.9


def test_rarity_is_the_mean_distance_to_the_nearest():
    import numpy as np

    def embed(texts, role):
        return np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)

    # Each is compared with both others. First: cosines 1 and 0, mean distance (0 + 1) / 2; last: 0 and 0.
    assert rarities(["a", "b", "c"], embed=embed).tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("texts", [[], ["a"], ["a", "b"], ["", "", ""]])
def test_texts_without_anything_in_common_are_as_rare_as_can_be(texts):
    assert rarities(texts).tolist() == [1.0] * len(texts)


def test_neighbours_of_many_texts_are_looked_for_among_some(monkeypatch):
    monkeypatch.setattr("ragstone.features.sample.drawing.MOST_COMPARED", 5)
    some = [*CROPS[:3], *BANKS, "zzz"]
    found = rarities(some)
    assert found[6] == 1.0
    assert found.tolist() == rarities(some).tolist()
    assert found.tolist() != rarities(some, seed=1).tolist()


def test_of_many_questions_some_are_grouped_and_weights_stand_for_all(monkeypatch):
    monkeypatch.setattr("ragstone.features.sample.drawing.MOST_GROUPED", 6)
    monkeypatch.setattr("ragstone.features.sample.drawing.MOST_CHOOSING", 4)
    sampled = draw(asked(CROPS + BANKS, n=2), 6, SamplingMethod())
    assert sampled.ungrouped == 3
    assert sum(one.weight for one in sampled.drawn) == 18


def test_what_cannot_be_is_said():
    with pytest.raises(DataError, match="no question"):
        draw([], 1, SamplingMethod())
    with pytest.raises(DataError, match="--quality"):
        draw(asked(CROPS), 1, SamplingMethod(by="quality"))
    with pytest.raises(ConfigError, match="Known: random, topic"):
        draw(asked(CROPS), 1, SamplingMethod(by="best"))
    with pytest.raises(ConfigError, match="1 or more"):
        draw(asked(CROPS), 0, SamplingMethod())
    with pytest.raises(ConfigError, match="--tag"):
        draw(asked(CROPS), 1, SamplingMethod(by="tag"))
    with pytest.raises(ConfigError, match="topics"):
        draw(asked(CROPS), 1, SamplingMethod(topics=99))
