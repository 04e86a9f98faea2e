"""The board of a bench of answerers, from judgements that are written down here."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.answer_rows import board_of, cell, grid_of, judged, questions_of

from ragstone.features.bench._board import LeftOutCell, turned
from ragstone.features.bench.answerers._board import compare_cells
from ragstone.features.bench.answerers._measuring import choose_roles, mean_of, means_of
from ragstone.kernel.errors import DataError


def test_measures_of_one_cell_are_those_worked_out_by_hand():
    # Answerable: q0 answered, faithful 1, relevant; q1 answered, faithful 0.5, not relevant; q2 refused;
    # q3 answered, faithfulness unparsable. Unanswerable: q4 refused, q5 answered.
    rows = judged(
        "one",
        correct=[100, 50, 0, 80, None, None],
        answered=[1, 1, 0, 1, 0, 1],
        faithful=[1, 0.5, None, None, None, 1],
        relevant=[1, 0, 0, 1, 0, 1],
    )
    board = board_of({"one": rows}, questions=questions_of(4, unanswerable=2))
    [row] = board.standings
    means = {name: (estimate.value, estimate.n) for name, estimate in row.measures.items()}
    # answered 3 of 4; faithful (1 + 0.5) / 2, of what was answered and judged; relevant (1 + 0 + 1) / 3.
    assert means["answered"] == (0.75, 4)
    assert means["unanswered"] == (0.25, 4)
    assert means["faithful"] == (0.75, 2)
    assert means["relevant"] == (pytest.approx(2 / 3), 3)
    # answered x faithful: q0 1, q1 0.5, q2 0 (no answer), q3 unknown: 1.5 / 3, never 1.5 / 4.
    assert means["answered × faithful"] == (0.5, 3)
    # answered x relevant: 1, 0, 0, 1: the product of 0.75 and 2 / 3.
    assert means["answered × relevant"] == (0.5, 4)
    assert means["refused"] == (0.5, 2)
    # 0 50 80 100: p50 between 50 and 80; p90 at 0.9 x 3 = 2.7: 80 + 0.7 x 20; p95 at 2.85: 80 + 0.85 x 20.
    score = row.score
    assert (score.n, score.least, score.most, score.mean.value) == (4, 0, 100, 57.5)
    assert (score.p50, score.p90, score.p95) == (65, pytest.approx(94), pytest.approx(97))
    assert row.statuses["correct"] == {"scored": 4, "not_applicable": 2}
    assert row.statuses["faithful"] == {"scored": 3, "not_applicable": 3}
    assert (board.measure, tuple(board.scale)) == ("correctness", (0, 100))
    assert row.verdict == "alone"


def test_without_a_judge_of_correctness_cells_are_ordered_by_answered_and_faithful():
    board = board_of(
        {
            "low": judged("low", answered=[1, 1, 0, 0], faithful=[1, 0, None, None]),
            "high": judged("high", answered=[1, 1, 1, 0], faithful=[1, 1, 0, None]),
        }
    )
    assert board.measure == "answered × faithful"
    # (1 + 1 + 0 + 0) / 4 and (1 + 0 + 0 + 0) / 4
    assert [(row.cell.name, row.score.mean.value) for row in board.standings] == [
        ("high", 0.5),
        ("low", 0.25),
    ]


def test_nothing_is_faithful_or_unfaithful_where_nothing_was_shown():
    rows = judged("none", answered=[1, 0], faithful=[1, 1], condition="none")
    [row] = board_of({"none": rows}, condition="none").standings
    assert not {"faithful", "answered × faithful"} & set(row.measures)


def test_cells_of_different_conditions_are_never_ranked_against_each_other():
    rows = {
        "good · gold": judged("good · gold", correct=[100] * 8),
        "poor · gold": judged("poor · gold", correct=[0] * 8),
        "good · none": judged("good · none", correct=[0] * 8),
    }
    grid = grid_of(
        cell("good · gold"), cell("poor · gold", model="poor"), cell("good · none", condition="none")
    )
    board = board_of(rows, grid=grid, questions=questions_of(8))
    assert [(row.cell.name, row.verdict) for row in board.standings] == [
        ("good · gold", "best"),
        ("poor · gold", "worse"),
        ("good · none", "alone"),
    ]
    # 8 questions, all one way: sign-flip p = 2 / 2**8.
    [test] = board.comparisons
    assert (test.p, test.family, test.difference.value) == (pytest.approx(2 / 2**8), 1, 100)
    [contrast] = board.contrasts
    assert (contrast.kind, contrast.test.first, contrast.test.second) == (
        "passages",
        "good · gold",
        "good · none",
    )


def test_cell_without_most_scores_stands_last_and_takes_no_question_from_others():
    rows = {
        "a": judged("a", correct=[50] * 8),
        "b": judged("b", correct=[100, 100, None, None, None, None, None, None]),
    }
    board = board_of(rows, questions=questions_of(8))
    assert [(row.cell.name, row.verdict) for row in board.standings] == [
        ("a", "best"),
        ("b", "too few scores"),
    ]
    assert board.standings[0].score.n == 8


def test_judge_that_asks_a_model_goes_before_one_that_asks_none_and_without_scores_after_it():
    rows = judged("one", correct=[100, 0], contained=[1, 0]).judgements
    assert [role.judge for role in choose_roles(rows)] == ["correctness"]
    silent = [msgspec.structs.replace(row, status="error", score=None) for row in rows if row.model == "m"]
    others = [row for row in rows if row.model != "m"]
    [role] = choose_roles([*silent, *others])
    assert (role.judge, role.model) == ("containment", "none")


def test_no_cell_that_answers_is_told_with_the_reasons():
    failed = [LeftOutCell(name="gone", reason="nobody there")]
    with pytest.raises(DataError, match="gone: nobody there"):
        board_of({}, failed=failed)


def test_small_groups_stand_together_and_are_counted():
    tags = ["wheat"] * 6 + ["rice", "rice", "oats"]
    questions = questions_of(9, tags=[{"crop": crop} for crop in tags])
    rows = judged("one", correct=[100] * 6 + [0, 0, 0])
    [table] = board_of({"one": rows}, questions=questions).by_tag
    assert [(group.value, group.n_values, group.n_questions) for group in table.groups] == [
        ("wheat", 1, 6),
        (None, 2, 3),
    ]
    assert [group.cells["one"]["score"].value for group in table.groups] == [100, 0]


def test_tag_none_of_whose_groups_stands_by_itself_is_no_grouping():
    questions = questions_of(6, tags=[{"crop": f"{at}"} for at in range(6)])
    rows = {"one": judged("one", correct=[100] * 6)}
    assert board_of(rows, questions=questions).by_tag == []
    [table] = board_of(rows, questions=questions, tags=["crop"]).by_tag
    assert [(group.value, group.n_values) for group in table.groups] == [(None, 6)]


def test_tag_that_puts_all_questions_into_one_group_is_no_grouping():
    questions = questions_of(6, tags=[{"crop": "wheat"}] * 6)
    assert board_of({"one": judged("one", correct=[100] * 6)}, questions=questions).by_tag == []
    [table] = board_of({"one": judged("one", correct=[100] * 6)}, questions=questions, tags=["crop"]).by_tag
    assert table.groups[0].value == "wheat"


scores = st.lists(st.sampled_from([0, 50, 100]), min_size=4, max_size=4)


@given(scores, scores)
def test_order_of_cells_does_not_matter(first, second):
    rows = {"a": judged("a", correct=first), "b": judged("b", correct=second)}
    turned_round = dict(reversed(rows.items()))
    one, other = board_of(rows), board_of(turned_round)
    assert {row.cell.name: row.score for row in one.standings} == {
        row.cell.name: row.score for row in other.standings
    }
    means = sorted((row.score.mean.value for row in one.standings), reverse=True)
    assert [row.score.mean.value for row in one.standings] == means


@given(scores, scores)
def test_turning_a_test_round_changes_its_sign_alone(first, second):
    values = {
        "a": {str(at): float(score) for at, score in enumerate(first)},
        "b": {str(at): float(score) for at, score in enumerate(second)},
    }
    [test] = compare_cells(values, [("a", "b")], {})
    assert turned(turned(test)) == test
    assert turned(test).difference.value == -test.difference.value
    assert test.means == (pytest.approx(sum(first) / 4), pytest.approx(sum(second) / 4))


def test_pairs_are_compared_on_the_questions_that_both_have():
    values = {"a": {"1": 1.0, "2": 1.0, "3": 0.0}, "b": {"2": 0.0, "3": 0.0, "4": 1.0}, "c": {"9": 1.0}}
    [test] = compare_cells(values, [("a", "b"), ("a", "c")], {})
    assert (test.n, test.n_left_out, test.means) == (2, 2, (0.5, 0.0))
    assert test.family == 1


def test_each_of_many_columns_has_its_own_mean_whichever_questions_it_is_of():
    clusters = {f"q{at}": f"d{at // 2}" for at in range(20)}
    columns = {
        "a": {f"q{at}": at % 3 / 2 for at in range(20)},
        "b": {f"q{at}": at / 20 for at in reversed(range(20))},  # the same questions in another order
        "c": {f"q{at}": at / 20 for at in range(12)},
        "none": {},
    }
    found = means_of(columns, clusters, seed=3)
    assert list(found) == ["a", "b", "c"]
    for name, mean in found.items():
        alone = mean_of(columns[name], clusters, seed=3)
        assert (mean.value, mean.n, mean.method) == (alone.value, alone.n, "bootstrap")
        # Resamples of 10,000: their quantiles differ by chance, by far less than the interval is wide.
        assert abs(mean.low - alone.low) + abs(mean.high - alone.high) < 0.1 * (alone.high - alone.low)
