import numpy as np
import pytest
from tests.support.judged_cells import board_of, cell, judged, spent

from ragstone.features.bench.judges._choice import choose, price_of
from ragstone.features.bench.judges.board import choose_basis, compare_cell
from ragstone.kernel.agreement.comparison import compare, worths
from ragstone.kernel.errors import DataError
from ragstone.kernel.statistics import spearman

A, B = cell("a"), cell("b")
FREE = cell("containment", model="none", added=True)


def names(board):
    return [row.cell.name for row in board.standings]


def row_of(board, name):
    return next(row for row in board.standings if row.cell.name == name)


def test_cells_stand_in_the_order_of_their_exact_agreement():
    human = [1, 1, 1, 0, 0, 0, 1, 1, 1, 0]
    flipped = [1 - human[0], *human[1:]]
    board = board_of(human, judged(B, flipped), judged(A, human))
    # 6 of 10 labels are 1: always answering so agrees on these.
    assert names(board) == ["a", "b", "always 'right'"]
    assert [row.value.value for row in board.standings] == [1.0, 0.9, 0.6]
    assert (board.measure, board.n, board.n_questions) == ("exact agreement", 10, 10)
    assert board.standings[0].verdict == "best"
    assert [(one.first, one.second) for one in board.comparisons] == [
        ("a", "b"),
        ("a", "always 'right'"),
        ("b", "always 'right'"),
    ]
    assert {one.family for one in board.comparisons} == {3}


def test_much_better_cell_is_found_and_a_coin_is_worse():
    human = [0, 1] * 40
    board = board_of(human, judged(A, human), judged(B, [0, 0, 1, 1] * 20))
    assert row_of(board, "b").verdict == "worse"
    assert row_of(board, "b").comparison.test == "McNemar"


def test_equally_good_cells_are_seldom_told_apart():
    """Two judges that err on a fifth of 60 answers by themselves: one is called better in few benches."""
    rng = np.random.default_rng(0)
    n_told = 0
    for _ in range(40):
        human = rng.integers(2, size=60)
        columns = [np.where(rng.random(60) < 0.2, 1 - human, human).tolist() for _ in range(2)]
        board = board_of(human.tolist(), judged(A, columns[0]), judged(B, columns[1]))
        one = next(each for each in board.comparisons if {each.first, each.second} == {"a", "b"})
        n_told += one.verdict != "cannot tell"
    assert n_told <= 4


def test_answers_of_one_question_are_flipped_together():
    human = [0, 1] * 20
    board = board_of(human, judged(A, human), judged(B, [0] * 40), text="the same question")
    assert board.n_questions == 1
    assert board.comparisons[0].test == "sign-flip"
    assert row_of(board, "b").verdict == "not distinguishable"  # one cluster can tell nothing


def test_values_on_one_scale_are_compared_by_their_difference():
    human = [float(value) for value in range(0, 100, 5)]
    near, far = [value + 1 for value in human], [value + 5 for value in human]
    percentage = {"scale": (0, 100)}
    board = board_of(human, judged(cell("far", **percentage), far), judged(cell("near", **percentage), near))
    # The median of 0, 5, ..., 95 is 47.5; the mean distance from it is 25.
    assert names(board) == ["near", "far", "always 47.5"]
    assert [row.value.value for row in board.standings] == [1.0, 5.0, 25.0]
    assert board.measure == "difference"
    assert row_of(board, "far").agreement["signed error"].value == 5.0
    assert row_of(board, "far").comparison.difference.value == pytest.approx(4.0)  # what near is nearer
    assert row_of(board, "far").verdict == "worse"


def test_judges_of_several_scales_are_compared_by_rank_until_a_mapping_is_given(says):
    human = [0, 1, 2, 3] * 10
    narrow, wide = cell("narrow", scale=(0, 3)), cell("wide", scale=(0, 9))
    cells = judged(narrow, human), judged(wide, [3 * value for value in human])
    board = board_of(human, *cells)
    assert board.measure == "Spearman"
    assert [row.value.value for row in board.standings] == pytest.approx([1.0, 1.0])
    says(board.notes[0])
    assert not any("exact agreement" in row.agreement for row in board.standings)
    mapped = board_of(human, *cells, mapping={"0": 0.0, "3": 1.0})
    assert mapped.measure == "difference"
    assert [row.value.value for row in mapped.standings[:2]] == [0.0, 0.0]
    assert mapped.notes == []


def test_rank_measure_is_spearmans_correlation(says):
    rng = np.random.default_rng(1)
    human, scores = rng.integers(4, size=50).tolist(), rng.integers(4, size=50).tolist()
    board = board_of(human, judged(cell("a", scale=(0, 3)), scores), measure="Spearman")
    assert board.measure == "Spearman"
    says(board.why)
    assert board.standings[0].value.value == pytest.approx(spearman(human, scores))
    assert names(board) == ["a"]  # there is no constant rival of an order


def test_measure_orders_the_cells():
    human = [0, 1, 2, 3] * 10
    near = [min(3, value + 1) for value in human]  # off by one, except for 3
    right_or_far = [0, 1, 0, 0] * 10  # right for 0 and 1, far off for 2 and 3
    cells = [
        judged(cell(name, scale=(0, 3)), scores) for name, scores in (("near", near), ("far", right_or_far))
    ]
    assert names(board_of(human, *cells))[0] == "far"  # exact agreement 0.5 against 0.25
    # mean difference: 3/4 of 1 is 0.75; (0 + 0 + 2 + 3) / 4 is 1.25
    board = board_of(human, *cells, measure="difference")
    assert names(board)[0] == "near"
    assert row_of(board, "near").value.value == 0.75


def test_measure_that_no_cell_has_is_refused(says):
    with pytest.raises(DataError) as error:
        board_of([0, 1] * 5, judged(cell("a", scale=(0, 100)), [10, 90] * 5), measure="exact agreement")
    says(error.value)


def test_threshold_cuts_scores_of_a_wider_scale():
    human = [0, 1] * 10
    wide = judged(cell("a", scale=(0, 100), threshold=50.0), [40, 60] * 10)
    board = board_of(human, wide)
    assert (board.measure, row_of(board, "a").value.value) == ("exact agreement", 1.0)
    bare = board_of(human, judged(cell("a", scale=(0, 100)), [40, 60] * 10))
    assert bare.measure == "Spearman"


def test_spread_of_worths_is_that_of_the_correlation_itself():
    rng = np.random.default_rng(5)
    human = rng.integers(0, 2, 200).astype(float)
    score = np.clip(human * 0.6 + rng.normal(0, 0.3, 200), 0, 1)
    comparison = compare(human, score, (0, 1), mapped=False, threshold=None)
    at = np.arange(200)
    # The jackknife needs no formula for the variance: it measures again without each answer.
    without = np.array([spearman(human[at != n], score[at != n]) for n in at])
    jackknife = np.sqrt(199 / 200 * ((without - without.mean()) ** 2).sum())
    worth = worths(comparison, "Spearman")
    assert worth.std() / 200**0.5 == pytest.approx(jackknife, rel=0.1)


def test_order_of_answers_is_that_of_the_scores_whatever_threshold_one_judge_has(says):
    human = [0, 0, 1, 1] * 5
    # Cut at 0.9 only half of the right ones are above, and the correlation would be 0.58, for 2/12 ** 0.5.
    cut = judged(cell("cut", scale=(0, 10), threshold=9.0), [1, 2, 8, 9] * 5)
    bare = judged(cell("bare", scale=(0, 10)), [1, 2, 8, 9] * 5)
    board = board_of(human, cut, bare)
    assert board.measure == "Spearman"
    values = [row_of(board, name).value.value for name in ("cut", "bare")]
    assert values[0] == pytest.approx(values[1])
    assert "kappa" in row_of(board, "cut").agreement
    assert {test.verdict for test in board.comparisons} == {"cannot tell"}
    says("\n".join(board.notes))


def test_baseline_without_a_threshold_stands_aside_and_changes_no_measure():
    human = [0, 1] * 10
    f1 = cell("token_f1", model="none", added=True)
    board = board_of(human, judged(A, human), judged(f1, [0.2, 0.7] * 10))
    assert board.measure == "exact agreement"
    [aside] = board.aside
    assert (aside.cell.name, "threshold" in aside.reason) == ("token_f1", True)
    assert aside.agreement["Spearman"].value == pytest.approx(1.0)


def test_mapping_places_labels_between_two_on_their_line():
    human = [1, 2, 3, 5] * 6
    # 1 -> 0, 5 -> 1: 2 is 0.25, 3 is 0.5. On 0 to 100 these are 0, 25, 50, 100.
    board = board_of(
        human, judged(cell("a", scale=(0, 100)), [0, 25, 50, 90] * 6), mapping={"1": 0.0, "5": 1.0}
    )
    assert row_of(board, "a").value.value == pytest.approx(0.1 / 4)


@pytest.mark.parametrize(
    ("mapping", "says"),
    [
        ({"0": 0.0, "1": 1.0}, "label 2 is not in the mapping"),
        ({"0": 0.0}, "at least the lowest and the highest"),
        ({"low": 0.0, "2": 1.0}, "labels are words or numbers"),
    ],
)
def test_mapping_that_does_not_hold_the_labels_is_refused(mapping, says):
    with pytest.raises(DataError, match=says):
        board_of([0, 1, 2], judged(A, [0, 1, 1]), mapping=mapping)


def test_all_are_compared_on_the_answers_that_all_have_scored():
    human = [0, 1] * 10
    board = board_of(human, judged(A, [None, *human[1:]]), judged(B, [*human[:-1], None]))
    assert (board.n, board.n_unscored) == (18, 2)
    assert all(row.value.n == 18 for row in board.standings)
    assert row_of(board, "a").statuses == {"scored": 19, "unparsable": 1}


def test_cell_without_half_of_the_scores_fails_with_its_statuses(says):
    human = [0, 1] * 10
    board = board_of(human, judged(A, human), judged(B, [None] * 11 + human[11:]))
    assert board.n == 20
    [failed] = board.failed
    says(failed.reason)


def test_rows_that_one_judge_was_tuned_on_are_left_out_for_all():
    human = [0, 1] * 10
    board = board_of(human, judged(A, human, tuned=[0, 5]), judged(B, human))
    assert (board.n, board.n_tuned) == (18, 2)


def test_nothing_that_could_be_measured_is_said(says):
    with pytest.raises(DataError) as error:
        board_of([0, 1], judged(A, [None, None]))
    says(error.value)
    with pytest.raises(DataError) as error:
        board_of([0, 1], judged(A, [1, None]), judged(B, [None, 1]))
    says(error.value)


def test_spread_is_of_the_measure_over_runs():
    human = [0, 1] * 10
    second = [1 - human[0], 1 - human[1], *human[2:]]
    row = row_of(board_of(human, judged(A, human, second)), "a")
    assert row.spread.values == [1.0, 0.9]
    assert row.spread.sd == pytest.approx(0.1 / 2**0.5)  # of two values: their distance over the root of 2
    assert row.spread.changed.value == 2 / 20
    assert row.value.value == 1.0  # that of the first run


def test_score_that_is_missing_in_one_run_has_changed():
    human = [0, 1] * 10
    row = row_of(board_of(human, judged(A, human, [None, *human[1:]])), "a")
    assert (row.spread.changed.value, row.spread.n) == (1 / 20, 19)


def shifted(human, n):
    return [1 - value if at < n else value for at, value in enumerate(human)]


def test_cheapest_of_those_not_distinguishable_is_named():
    human = [0, 1] * 40
    cells = [
        judged(cell("dear", model="openai/a"), shifted(human, 1), took=spent(10.0)),
        judged(cell("cheap", model="openai/b"), shifted(human, 2), took=spent(1.0)),
        judged(cell("poor", model="openai/c"), shifted(human, 40), took=spent(0.1)),
        judged(FREE, shifted(human, 30)),
    ]
    choice = choose(board_of(human, *cells))
    assert (choice.best, choice.alike, choice.cheapest, choice.price) == ("dear", ["cheap"], "cheap", "cost")
    assert (choice.judge, choice.baseline, choice.beats_baseline) == ("dear", "containment", "better")
    assert {fit.cell: fit.verdict for fit in choice.fits}["poor"] != "better"


def test_no_judge_better_than_containment_is_an_outcome():
    human = [0, 1] * 40
    choice = choose(board_of(human, judged(A, shifted(human, 6)), judged(FREE, shifted(human, 5))))
    assert (choice.best, choice.beats_baseline) == ("containment", "cannot tell")
    assert choice.cheapest == "containment"


@pytest.mark.parametrize(
    ("first", "second", "price"),
    [
        (spent(1.0, 1.0), spent(2.0, 1.0), "cost"),
        (spent(None, 1.0), spent(2.0, 2.0), "seconds"),
        (spent(0.0, 1.0), spent(0.0, 2.0), "seconds"),  # a model in this process costs nothing
        (spent(None, None), spent(2.0, 2.0, tokens=200), "tokens"),
        (spent(None, None, tokens=0), spent(), None),
        (spent(), spent(), "cost"),
    ],
)
def test_cheaper_is_by_the_first_price_that_tells(first, second, price):
    human = [0, 1] * 10
    board = board_of(human, judged(A, human, took=first), judged(B, human, took=second))
    assert price_of(board.standings[:2]) == price


def test_cells_that_differ_in_one_way_alone_are_contrasted():
    human = [0, 1] * 40
    small, big = {"base": "j", "model": "openai/small"}, {"base": "j", "model": "openai/big"}
    cells = [
        judged(cell("j · small", **small), shifted(human, 30)),
        judged(cell("j · big", **big), shifted(human, 2)),
        judged(cell("j@prompt=x · big", prompt="x", **big), shifted(human, 3)),
        judged(cell("k · big", model="openai/big"), shifted(human, 1)),
    ]
    found = {
        (one.axis, one.first, one.second): one.verdict for one in choose(board_of(human, *cells)).contrasts
    }
    assert found == {
        ("model", "j · big", "j · small"): "better",
        ("prompt", "j · big", "j@prompt=x · big"): "cannot tell",
    }


def test_cheaper_model_with_examples_is_set_against_the_dearer_one_without():
    human = [0, 1] * 40
    cells = [
        judged(cell("dear", base="j", model="openai/big"), shifted(human, 2), took=spent(8.0)),
        judged(cell("dear2", base="j", model="openai/big", shots=2), shifted(human, 2), took=spent(9.0)),
        judged(cell("cheap", base="j", model="openai/small"), shifted(human, 30), took=spent(1.0)),
        judged(cell("cheap2", base="j", model="openai/small", shots=2), shifted(human, 3), took=spent(2.0)),
    ]
    [one] = choose(board_of(human, *cells)).examples
    assert (one.cheaper, one.dearer, one.ratio, one.verdict) == ("cheap2", "dear", 4.0, "cannot tell")
    assert one.comparison.difference.value == pytest.approx(-1 / 80)
    assert one.comparison.difference.low < one.comparison.difference.high


def test_worse_one_is_said_from_the_side_of_the_cheaper():
    human = [0, 1] * 40
    cells = [
        judged(cell("dear", base="j", model="openai/big"), human, took=spent(8.0)),
        judged(cell("cheap2", base="j", model="openai/small", shots=2), shifted(human, 30), took=spent(2.0)),
    ]
    [one] = choose(board_of(human, *cells)).examples
    assert (one.verdict, one.comparison.first) == ("worse", "cheap2")


def test_few_percentages_that_reach_the_top_of_the_scale_are_of_it():
    human = [0.0, 50.0, 100.0] * 10
    board = board_of(human, judged(cell("a", scale=(0, 100)), [10.0, 50.0, 90.0] * 10))
    assert (board.measure, row_of(board, "a").value.value) == ("difference", pytest.approx(20 / 3))
    low = board_of([0.0, 20.0, 30.0] * 10, judged(cell("a", scale=(0, 100)), [10.0, 50.0, 90.0] * 10))
    assert low.measure == "Spearman"
    assert "give a mapping" in low.notes[0]
    assert "`mapping`" in low.notes[1]


def test_judge_of_one_score_stands_aside_where_the_order_is_compared(says):
    human = [0, 1, 2, 3] * 5
    cells = judged(cell("a", scale=(0, 3)), human), judged(cell("b", scale=(0, 3)), [1] * 20)
    [aside] = board_of(human, *cells, measure="Spearman").aside
    assert aside.cell.name == "b"
    says(aside.reason)


def test_differences_that_happen_to_be_0_or_1_are_no_proportion():
    human = [0, 1, 2, 3] * 10
    near = [min(3, value + 1) for value in human]
    board = board_of(human, judged(cell("near", scale=(0, 3)), near), measure="difference")
    assert row_of(board, "near").value.method == "bootstrap"
    assert row_of(board, "near").agreement["exact agreement"].method == "wilson"


def test_difference_may_be_asked_for_between_yes_and_no():
    human = [0, 1] * 20
    board = board_of(human, judged(cell("a"), [0] * 10 + human[10:]), measure="difference")
    assert row_of(board, "a").value.value == 5 / 40


def footing_of(human, *scales, mapped=False):
    cells = [cell(f"j{at}", scale=scale) for at, scale in enumerate(scales)]
    return choose_basis(cells, np.array(human, dtype=float), mapped=mapped)


@pytest.mark.parametrize(
    ("human", "scales", "mixed"),
    [
        ([0, 1, 2, 3], [(0, 3)], False),
        ([0, 1, 2, 3], [(0, 3), (0, 10)], True),  # the labels may be of either
        ([0, 50, 100], [(0, 100), (0, 1)], False),  # they can only be of the first
        ([0, 1, 1], [(0, 1), (0, 100)], False),  # yes and no: the wide one needs a threshold, and says so
        ([0.25, 0.5], [(0, 1), (0, 100)], True),
    ],
)
def test_scales_are_mixed_where_labels_fit_several(human, scales, mixed):
    assert footing_of(human, *scales).mixed is mixed
    assert footing_of(human, *scales, mapped=True).mixed is False


def test_mean_worth_is_the_measure():
    rng = np.random.default_rng(3)
    human, judge = rng.integers(4, size=200).astype(float), rng.integers(4, size=200).astype(float)
    one = cell("j", scale=(0, 3))
    row = compare_cell(one, judge, human, choose_basis([one], human, mapped=False))
    assert worths(row, "exact agreement").mean() == pytest.approx(np.mean(human == judge))
    assert worths(row, "difference").mean() == pytest.approx(-np.mean(abs(human - judge)))
    assert worths(row, "Spearman").mean() == pytest.approx(spearman(human, judge))


def test_judge_that_gives_one_score_throughout_has_no_order():
    human = np.array([0.0, 1.0, 2.0])
    one = cell("j", scale=(0, 3))
    row = compare_cell(one, np.ones(3), human, choose_basis([one], human, mapped=False))
    assert worths(row, "Spearman") is None


def test_mapped_scores_are_moved_to_their_place_on_the_scale():
    one = cell("j", scale=(-1, 1))
    human = np.array([0.0, 0.5, 1.0])
    row = compare_cell(one, np.array([-1.0, 0.0, 0.5]), human, choose_basis([one], human, mapped=True))
    assert row.judge.tolist() == [0.0, 0.5, 0.75]
    assert worths(row, "difference").tolist() == [0.0, 0.0, -0.25]
    assert worths(row, "exact agreement") is None  # that grades of two scales meet is chance
