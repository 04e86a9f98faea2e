import msgspec
import pytest
from hypothesis import given
from hypothesis.strategies import lists, none, one_of, sampled_from
from tests.support.builds import MEASURED, TEN, build_of, candidate, measured, ten

from ragstone.features.build.certificate.counting import certify
from ragstone.features.build.certificate.funnel import (
    funnel_of,
    n_lost,
    n_of,
    scores_of,
    share_of,
    spread,
    verdicts_of,
)
from ragstone.kernel.dataset.candidate import REASONS, Loss
from ragstone.kernel.statistics import wilson_interval


def test_all_critics_together_come_first_and_each_has_its_kinds(says):
    both, groundedness = verdicts_of(MEASURED)
    assert (both.critic, both.grade) == ("filter", "good")
    says(both.words)
    assert [kind.kind for kind in both.kinds] == ["wrong_answer", "trivial"]
    assert (both.rejection.value, both.rejection.low, both.rejection.high) == (0.1, *wilson_interval(2, 20))
    assert groundedness.grade == "partial"
    says(groundedness.words)


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


def test_a_critic_made_for_one_kind_of_defect_is_better_than_chance(says):
    # As in the last but two above, but all five are of one kind: 5 of 5 against 1 of 20.
    kinds = [
        measured("stand_alone", kind, caught, (0, 5))
        for kind, caught in (("trivial", (0, 5)), ("wrong_answer", (0, 5)), ("dangling_reference", (5, 5)))
    ]
    [verdict] = verdicts_of([measured("stand_alone", None, (5, 20), (1, 20)), *kinds])
    assert verdict.grade == "partial"
    says(verdict.words)


def test_no_better_than_chance_and_not_shown_to_be_better_are_told_apart(says):
    [even] = verdicts_of([measured("relevance", None, (4, 20), (4, 20))])
    [more] = verdicts_of([measured("relevance", None, (5, 20), (1, 20))])
    says(even.words)
    says(more.words)


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


def test_ten_candidates_are_counted_by_step_and_reason():
    funnel = funnel_of(ten())
    # d1#1, d1#2, d2#1 and the negative d2#5 are accepted; the other six are lost, two of them to a critic.
    assert (funnel.n_asked, funnel.n_written, funnel.n_accepted, n_lost(funnel)) == (12, 10, 4, 6)
    assert {lost.reason: lost.n for lost in funnel.losses} == {
        "no_evidence": 1,
        "wrong_language": 1,
        "near_duplicate": 1,
        "low_score": 2,
        "beyond_count": 1,
    }
    steps = ("write", "check", "criticise", "closed_book", "count")
    assert [n_lost(funnel, step) for step in steps] == [2, 1, 2, 0, 1]
    assert n_of(funnel, "low_score", "beyond_count") == 3
    assert (funnel.n_documents, funnel.n_empty, funnel.n_split, funnel.n_passages) == (4, 1, 1, 4)
    assert (funnel.n_wanted, funnel.n_short) == (6, 2)
    assert funnel.failed_calls == {"unparsable": 1, "timeout": 1}


def test_a_reason_has_its_words_and_at_most_three_examples_from_first_to_last():
    rows = [candidate(f"d1#{n}", f"Q{n}?", lost="duplicate", detail=f"d1#{n - 1}") for n in range(1, 10)]
    [lost] = funnel_of(build_of(rows)).losses
    assert (lost.step, lost.words, lost.n) == ("check", REASONS["duplicate"][1], 9)
    # Nine into three: the places 0, 3 and 6.
    assert [(one.id, one.question, one.detail) for one in lost.examples] == [
        ("d1#1", "Q1?", "d1#0"),
        ("d1#4", "Q4?", "d1#3"),
        ("d1#7", "Q7?", "d1#6"),
    ]


def test_a_failed_call_without_a_status_is_an_error():
    failed = [Loss(reason="call_failed", detail=text) for text in (None, "", "no idea", "over_budget: 2 USD")]
    assert funnel_of(build_of([], failed=failed)).failed_calls == {"over_budget": 1, "error": 3}


def test_more_than_was_wanted_is_no_shortfall_and_without_a_number_there_is_none():
    rows = [candidate(f"d1#{n}", f"Q{n}?") for n in range(8)]
    assert funnel_of(build_of(rows)).n_short == 0
    declared = msgspec.structs.replace(ten().declared, count=None)
    funnel = funnel_of(build_of(rows, declared=declared))
    assert (funnel.n_wanted, funnel.n_short) == (None, 0)


def test_what_is_spread_is_in_order_and_never_twice():
    assert spread("abcdefg", 3) == ["a", "c", "e"]  # 0, 7 // 3, 14 // 3
    assert spread("ab", 3) == ["a", "b"]


@given(lists(one_of(none(), sampled_from(sorted(REASONS)))))
def test_what_was_written_is_accepted_or_lost_for_one_reason(reasons):
    rows = [candidate(f"d1#{n}", f"Q{n}?", lost=reason) for n, reason in enumerate(reasons)]
    certificate = certify(build_of(rows))
    funnel = certificate.funnel
    assert funnel.n_written == funnel.n_accepted + sum(lost.n for lost in funnel.losses) == len(rows)
    steps = {step for step, _words in REASONS.values()}
    assert sum(n_lost(funnel, step) for step in steps) == n_lost(funnel)
    assert len(certificate.question_digests) == funnel.n_accepted
    assert all(len(lost.examples) == min(3, lost.n) for lost in funnel.losses)
    for groups in certificate.coverage.groups.values():
        assert sum(group.n_accepted for group in groups) <= funnel.n_accepted
