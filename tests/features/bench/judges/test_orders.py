import msgspec
import numpy as np
import pytest
from tests.support.system_sheets import sheet_of

from ragstone.features.bench.judges._orders import (
    PEOPLE,
    JudgedSheet,
    compare_orders,
    order_systems,
    orders_elsewhere,
    question_scores,
)
from ragstone.kernel.judging.tuned import TUNED


def ordered(sheet):
    found = order_systems(sheet, resamples=500)
    assert found is not None
    return found


def compared(orders, first, second):
    return next(one for one in orders.comparisons if (one.first, one.second) == (first, second))


# People: a is right on all of 10 questions, b on 5, c on none. `wide` has the same order on 0 to 100,
# `turned` the opposite one, `coarse` gives all but c the same.
PEOPLE_SAY = [[1, at % 2, 0] for at in range(10)]
WIDE = [[100, 60, 20] for _ in range(10)]
TURNED = [[10, 50, 90] for _ in range(10)]
COARSE = [[1, 1, 0] for _ in range(10)]


def test_means_orders_and_what_becomes_of_conclusions_worked_by_hand():
    orders = ordered(sheet_of(PEOPLE_SAY, wide=WIDE, turned=TURNED, coarse=COARSE))
    assert [one.by for one in orders.orders] == [PEOPLE, "wide", "turned", "coarse"]
    assert {name: mean.value for name, mean in orders.orders[0].means.items()} == {
        "a": 1.0,
        "b": 0.5,
        "c": 0.0,
    }
    assert list(orders.orders[2].means) == ["c", "b", "a"]
    assert orders.pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    # People: a over c on 10 questions of 10, exact McNemar p = 2 / 2^10 = 0.002. a over b on 5 of 5:
    # 2 / 2^5 = 0.0625, which does not tell; b over c the same.
    people = orders.orders[0].tests
    assert [test.p for test in people] == pytest.approx([0.0625, 2 / 1024, 0.0625])
    assert [test.verdict for test in people] == ["cannot tell", "better", "cannot tell"]
    # `wide` differs on each question by the same: of 2^10 ways to flip, 2 reach it.
    assert [test.p for test in orders.orders[1].tests] == pytest.approx([2 / 1024] * 3)
    wide = compared(orders, PEOPLE, "wide")
    assert (wide.same, wide.reversed, wide.alone) == ([("a", "c")], [], [("a", "b"), ("b", "c")])
    assert (wide.tau.value, wide.verdict) == (1.0, "cannot tell")
    turned = compared(orders, PEOPLE, "turned")
    assert (turned.reversed, turned.tau.value, turned.verdict) == ([("a", "c")], -1.0, "does not hold")
    both = compared(orders, "wide", "turned")
    assert (both.reversed, both.n_pairs) == ([("a", "b"), ("a", "c"), ("b", "c")], 3)
    # `coarse` ties one of three pairs: tau-b (2 - 0) / sqrt(3 * 2).
    coarse = compared(orders, "wide", "coarse")
    assert coarse.tau.value == pytest.approx(2 / 6**0.5)
    assert (coarse.same, coarse.alone) == ([("a", "c"), ("b", "c")], [("a", "b")])


def test_scale_does_not_matter_for_an_order_that_holds():
    rng = np.random.default_rng(0)
    narrow = np.array([[2, 1, 0]] * 40) + rng.integers(0, 2, (40, 3))
    one = compared(ordered(sheet_of(narrow, narrow=narrow, wide=narrow * 30.0)), "narrow", "wide")
    assert (one.verdict, len(one.same), one.tau.value) == ("holds", 3, 1.0)


def test_of_two_systems_the_pair_alone_decides():
    found = ordered(sheet_of([[1, 0]] * 10, same=[[9, 3]] * 10, turned=[[3, 9]] * 10, tied=[[5, 5]] * 10))
    said = {one.second: one for one in found.comparisons if one.first == PEOPLE}
    assert {name: one.tau for name, one in said.items()} == {"same": None, "turned": None, "tied": None}
    assert [said[name].verdict for name in ("same", "turned", "tied")] == [
        "holds",
        "does not hold",
        "cannot tell",
    ]
    assert said["same"].same == said["turned"].reversed == [("a", "b")]


def test_a_question_without_one_score_is_left_out_for_all_and_counted():
    lacking = [[None, 1, 0], *PEOPLE_SAY[1:]]
    found = ordered(sheet_of(PEOPLE_SAY, whole=PEOPLE_SAY, lacking=lacking))
    assert (found.n_questions, found.n_left_out) == (9, 1)
    assert {one.by: one.n_unscored for one in found.orders} == {PEOPLE: 0, "whole": 0, "lacking": 1}
    assert all(mean.n == 9 for one in found.orders for mean in one.means.values())


def test_a_judge_without_half_of_the_questions_takes_none_from_the_others(says):
    few = [[None, 1, 0]] * 6 + PEOPLE_SAY[6:]
    found = ordered(sheet_of(PEOPLE_SAY, whole=PEOPLE_SAY, few=few))
    assert found.left_out.keys() == {"few"}
    says(found.left_out["few"])
    assert (found.n_questions, [one.by for one in found.orders]) == (10, [PEOPLE, "whole"])


def test_a_system_that_answered_few_questions_is_left_out(says):
    sheet = sheet_of(PEOPLE_SAY, whole=PEOPLE_SAY)
    humans = {key: human for key, human in sheet.humans.items() if key[1] != "c" or key[0] in ("q0", "q1")}
    found = ordered(msgspec.structs.replace(sheet, humans=humans))
    assert found.systems == ["a", "b"]
    assert found.left_out.keys() == {"c"}
    says(found.left_out["c"])


def test_a_question_is_its_text_where_every_answer_has_an_id_of_its_own():
    plain, own = (sheet_of(PEOPLE_SAY, own_ids=own, wide=WIDE) for own in (False, True))
    assert order_systems(own, resamples=200) == order_systems(plain, resamples=200)


def test_a_question_asked_twice_counts_once_with_its_mean():
    sheet = sheet_of([[1, 0], [0, 0], [1, 1]], judge=[[1, 0], [0, 0], [1, 1]])
    humans = {
        key: msgspec.structs.replace(human, cluster="one" if key[0] != "q2" else "two")
        for key, human in sheet.humans.items()
    }
    table = question_scores(msgspec.structs.replace(sheet, humans=humans))
    assert table.questions == ["one", "two"]
    assert table.values["judge"].tolist() == [[0.5, 0.0], [1.0, 1.0]]


def test_what_a_judge_was_made_with_is_left_out_for_all():
    sheet = sheet_of(PEOPLE_SAY, wide=WIDE)
    rows = [
        msgspec.structs.replace(row, metadata=TUNED) if row.question_id == "q3" else row
        for row in sheet.judged["wide"]
    ]
    found = ordered(JudgedSheet(judged={"wide": rows}, humans=sheet.humans))
    assert found.n_questions == 9


def test_nothing_can_be_ordered_of_one_system_or_of_systems_that_were_asked_other_questions():
    assert order_systems(sheet_of([[1]] * 5, judge=[[1]] * 5)) is None
    sheet = sheet_of([[1, 0]] * 10, judge=[[1, 0]] * 10)
    apart = {key: human for key, human in sheet.humans.items() if (key[1] == "a") == (int(key[0][1:]) < 5)}
    assert order_systems(msgspec.structs.replace(sheet, humans=apart)) is None


@pytest.mark.parametrize(
    ("first", "second", "low", "says"),
    [
        ("BBB", "BBB", 0.5, "holds"),
        ("B??", "B??", 0.5, "holds"),  # neither finds anything else
        ("B??", "B??", -0.2, "cannot tell"),  # one shared conclusion, and orders that may be any
        ("BB?", "B??", 0.5, "cannot tell"),
        ("BBB", "BBW", 0.5, "does not hold"),
        ("???", "???", 0.5, "cannot tell"),
        ("BB?", "??B", 0.5, "cannot tell"),
    ],
)
def test_what_is_said_of_two_orders(first, second, low, says):
    words = {"B": "better", "W": "worse", "?": "cannot tell"}
    tau = ordered(sheet_of(PEOPLE_SAY, wide=WIDE)).comparisons[0].tau
    tau = msgspec.structs.replace(tau, low=low, high=1.0)
    pairs = [("a", "b"), ("a", "c"), ("b", "c")]
    told = [[words[letter] for letter in side] for side in (first, second)]
    found = compare_orders(("x", "y"), pairs, told, tau)
    assert found.verdict == says
    turned = compare_orders(("y", "x"), pairs, told[::-1], tau)
    assert (turned.verdict, turned.same, turned.alone) == (found.verdict, found.same, found.alone)
    assert turned.reversed == [pair[::-1] for pair in found.reversed]


def test_orders_of_two_use_cases():
    here = sheet_of([[2, 1, 0]] * 10, judge=[[2, 1, 0]] * 10, other=[[2, 1, 0]] * 10)
    there = sheet_of([[2, 1, 0]] * 12, prefix="r", judge=[[0, 1, 2]] * 12)
    found = orders_elsewhere("there", (here, there), resamples=200)
    assert (found.systems, found.n_questions, found.why_not) == (["a", "b", "c"], (10, 12), "")
    said = {one.first: (one.verdict, one.tau.value) for one in found.comparisons}
    assert said == {PEOPLE: ("holds", 1.0), "judge": ("does not hold", -1.0)}  # `other` is not there
    assert all(one.first == one.second for one in found.comparisons)


def test_only_systems_that_both_have_are_compared(says):
    here = sheet_of([[2, 1, 0]] * 10, judge=[[2, 1, 0]] * 10)
    there = sheet_of([[2, 1]] * 10, prefix="r", judge=[[2, 1]] * 10)
    found = orders_elsewhere("there", (here, there), resamples=200)
    assert (found.systems, [one.tau for one in found.comparisons]) == (["a", "b"], [None, None])
    alone = orders_elsewhere("there", (here, sheet_of([[1]] * 10, judge=[[1]] * 10)), resamples=200)
    assert alone.comparisons == []
    says(alone.why_not)


def test_systems_may_stand_in_another_order_there_and_one_may_be_missing():
    here = sheet_of([[2, 1, 0, 1]] * 10, judge=[[2, 1, 0, 1]] * 10)
    there = sheet_of([[2, 1, 0, 1]] * 10, prefix="r", judge=[[2, 1, 0, 1]] * 10)
    few = {key: human for key, human in there.humans.items() if key[1] != "d" or key[0] == "r0"}
    backwards = msgspec.structs.replace(there, humans=dict(reversed(few.items())))
    found = orders_elsewhere("there", (here, backwards), resamples=200)
    assert (found.systems, found.n_questions) == (["a", "b", "c"], (10, 10))
    assert [one.verdict for one in found.comparisons] == ["holds", "holds"]


def test_a_question_of_both_use_cases_is_drawn_for_both():
    rng = np.random.default_rng(2)
    table = rng.integers(0, 2, (60, 4))
    sheet = sheet_of(table, judge=table)
    same = orders_elsewhere("same", (sheet, sheet), resamples=500)
    assert all(one.tau.value == 1 and one.tau.low is None for one in same.comparisons)  # 1 in every resample
    apart = orders_elsewhere("apart", (sheet, sheet_of(table, prefix="r", judge=table)), resamples=500)
    assert apart.comparisons[0].tau.low < 1


def test_nothing_depends_on_the_order_of_the_rows():
    rng = np.random.default_rng(3)
    table = rng.integers(0, 3, (30, 3))
    sheet = sheet_of(table, judge=table + rng.integers(0, 2, (30, 3)))
    shuffled = JudgedSheet(
        judged={by: [rows[at] for at in rng.permutation(len(rows))] for by, rows in sheet.judged.items()},
        humans=sheet.humans,
    )
    assert order_systems(shuffled, resamples=200) == order_systems(sheet, resamples=200)


def simulated(rng, worth, n=60):
    """Return two judges of scales of their own that see the same systems, each with errors of its own."""
    seen = rng.normal(size=(n, 1)) + np.array(worth) + rng.normal(size=(n, len(worth)))
    first, second = (seen + rng.normal(size=seen.shape) * 0.7 for _ in range(2))
    return sheet_of(
        seen > 0, narrow=np.digitize(first, [-0.5, 0.5]), wide=np.clip(np.round(20 * second + 50), 0, 100)
    )


@pytest.mark.simulation
@pytest.mark.parametrize("worth", [[0, 0, 0, 0], [0, 0.15, 0.3, 0.45], [0, 0.4, 0.8, 1.2]])
def test_an_order_that_is_the_same_is_seldom_said_to_change(worth):
    rng = np.random.default_rng(4)
    changed = 0
    for at in range(60):
        found = order_systems(simulated(rng, worth), seed=at, resamples=200)
        changed += any(one.verdict == "does not hold" for one in found.comparisons)
    assert changed <= 3, changed  # 5 % of 60, of any of the three pairs of orders


@pytest.mark.simulation
def test_an_order_that_changes_is_found():
    rng = np.random.default_rng(5)
    found = 0
    for at in range(15):
        here = simulated(rng, [0, 0.6, 1.2, 1.8], n=100)
        there = simulated(rng, [0, 1.8, 1.2, 0.6], n=100)
        both = orders_elsewhere("there", (here, there), seed=at, resamples=200)
        found += all(("d", "b") in one.reversed for one in both.comparisons if one.first != PEOPLE)
    assert found >= 13, found
