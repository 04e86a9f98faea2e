import numpy as np
import pytest

from ragstone.kernel.retrieval._candidates import candidates_of, terms_of
from ragstone.kernel.retrieval._fitted import probabilities, reader_weights
from ragstone.kernel.retrieval._signals import SIGNALS, signals_of

PUMPS = "A pump lifts water. Its filter is cleaned once a month."


def signals(question, passages, titles=()):
    candidates = candidates_of(passages, titles)
    rows = signals_of(question, candidates, [set(terms_of(passage)) for passage in passages])
    return [dict(zip(SIGNALS, row, strict=True)) for row in rows]


def test_share_of_the_question_that_a_sentence_holds_by_the_weight_of_its_words():
    # Of the two sentences one holds `filter`, one `cleaned`, none `often`: they weigh ln(1 + 3 / 2) = 0.916,
    # the same, and ln(1 + 3 / 1) = 1.386. The second sentence holds 1.833 of 3.219.
    _, second = signals("filter cleaned often", [PUMPS])
    assert second["held"] == pytest.approx(0.5693, abs=1e-4)
    assert second["unknown"] == pytest.approx(1.386 / 3.219, abs=1e-3)
    assert second["words"] == pytest.approx(2 / 3)


def test_words_that_only_ask_count_less():
    # Three sentences. One holds seeds and hole, ln(1 + 4 / 2) = 1.099 each. No sentence holds the other seven
    # words: 7 * 0.3 * ln(1 + 4) = 3.380. So 2.197 of 5.577 is held; at full weight it were 2.197 of 13.463.
    rows = signals("How many seeds should there be in each hole?", [PUMPS, "A hole holds two seeds."])
    assert rows[-1]["held"] == pytest.approx(0.394, abs=1e-3)


def test_a_number_is_shown_only_where_the_question_does_not_hold_it():
    (with_new,) = signals("How many seeds in 2 holes?", ["Put 3 seeds into 2 holes."])
    (without,) = signals("How many seeds in 2 holes?", ["Put seeds into 2 holes."])
    assert (with_new["number_asked"], with_new["number_shown"]) == (1, 1)
    assert (without["number_asked"], without["number_shown"]) == (1, 0)


def test_a_name_and_a_number_that_the_passage_lacks_are_seen():
    (row,) = signals("When did Ada Lovelace meet 7 engineers?", ["Ada Byron met 4 engineers in 1833."])
    assert (row["missing_name"], row["missing_number"]) == (1, 1)
    (row,) = signals("When did Ada Byron meet 4 engineers?", ["Ada Byron met 4 engineers in 1833."])
    assert (row["missing_name"], row["missing_number"], row["date_shown"]) == (0, 0, 1)


def test_weights_that_ship_are_for_the_signals_that_are_computed():
    assert tuple(reader_weights().signals) == SIGNALS
    assert 0 < reader_weights().threshold < 1


def test_trees_are_walked_as_they_are_written():
    weights = reader_weights()
    rows = np.random.default_rng(0).uniform(-1, 3, (50, len(SIGNALS)))

    def value(tree, row, at=0):
        node = tree[at]
        if len(node) == 1:
            return node[0]
        return value(tree, row, int(node[2] if row[int(node[0])] <= node[1] else node[3]))

    raw = np.array([weights.base + sum(value(tree, row) for tree in weights.trees) for row in rows])
    expected = 1 / (1 + np.exp(-(weights.slope * raw + weights.offset)))
    assert probabilities(rows) == pytest.approx(expected)
