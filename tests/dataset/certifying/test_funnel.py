import msgspec
from hypothesis import given
from hypothesis.strategies import lists, none, one_of, sampled_from
from tests.support.builds import build_of, candidate, ten

from ragstone.dataset.candidate import REASONS, Loss
from ragstone.dataset.certifying.certificate import certify
from ragstone.dataset.certifying.funnel import funnel_of, n_lost, n_of, spread


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
