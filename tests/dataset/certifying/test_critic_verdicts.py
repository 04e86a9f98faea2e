import pytest
from tests.support.builds import MEASURED, TEN, measured

from ragstone.dataset.certifying.critic_verdicts import scores_of, share_of, verdicts_of
from ragstone.statistics import wilson_interval


def test_all_critics_together_come_first_and_each_has_its_kinds():
    both, groundedness = verdicts_of(MEASURED)
    assert (both.critic, both.grade) == ("filter", "good")
    assert both.words == "catches 18 of 20 planted defects and rejects 2 of 20 sound questions"
    assert [kind.kind for kind in both.kinds] == ["wrong_answer", "trivial"]
    assert (both.rejection.value, both.rejection.low, both.rejection.high) == (0.1, *wilson_interval(2, 20))
    assert groundedness.grade == "partial"
    assert groundedness.words.endswith("it misses most of: trivial 0 of 10")


@pytest.mark.parametrize(
    ("caught", "rejected", "grade"),
    [
        ((16, 20), (4, 20), "good"),  # 80 % and 20 %: as good as good must be
        ((15, 20), (0, 20), "partial"),
        ((20, 20), (5, 20), "partial"),
        ((4, 20), (4, 20), "chance"),
        ((20, 20), (20, 20), "chance"),
        ((5, 20), (1, 20), "chance"),  # 0.20 apart; Newcombe's interval begins at -0.03
        ((0, 0), (0, 0), None),
        ((0, 5), (0, 0), None),
    ],
)
def test_the_rule(caught, rejected, grade):
    [verdict] = verdicts_of([measured("relevance", None, caught, rejected)])
    assert verdict.grade == grade


def test_a_critic_made_for_one_kind_of_defect_is_better_than_chance():
    # As in the last but two above, but all five are of one kind: 5 of 5 against 1 of 20.
    kinds = [
        measured("stand_alone", kind, caught, (0, 5))
        for kind, caught in (("trivial", (0, 5)), ("wrong_answer", (0, 5)), ("dangling_reference", (5, 5)))
    ]
    [verdict] = verdicts_of([measured("stand_alone", None, (5, 20), (1, 20)), *kinds])
    assert verdict.grade == "partial"
    assert "it misses most of: trivial 0 of 5, wrong answer 0 of 5" in verdict.words


def test_no_better_than_chance_and_not_shown_to_be_better_are_told_apart():
    [even] = verdicts_of([measured("relevance", None, (4, 20), (4, 20))])
    [more] = verdicts_of([measured("relevance", None, (5, 20), (1, 20))])
    assert even.words.startswith("no better than chance: catches 4 of 20")
    assert more.words.startswith("not shown to be better than chance: catches 5 of 20")


def test_without_planted_defects_there_is_no_verdict():
    assert verdicts_of([]) == []


def test_scores_are_counted_for_lost_candidates_too():
    groundedness, relevance = scores_of(TEN, threshold=4)
    # d1#1 5, d1#2 4, d1#3 3, d2#1 5, d2#4 4, d2#5 5, d1#5 5; and 4, 4, 5, 5, 2, 4, 5.
    assert (groundedness.critic, groundedness.counts, groundedness.n_below) == (
        "groundedness",
        [0, 0, 1, 2, 4],
        1,
    )
    assert (relevance.counts, relevance.n, relevance.n_below) == ([0, 1, 0, 3, 3], 7, 1)
    assert scores_of(TEN, threshold=5)[0].n_below == 3


def test_a_share_of_nothing_is_none():
    assert share_of(0, 0) is None
    assert share_of(1, 2).value == 0.5
