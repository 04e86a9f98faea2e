from hypothesis import given
from hypothesis import strategies as st
from tests.support.plain_rows import judgement_row

from ragstone.kernel.judging import summarise
from ragstone.kernel.judging.summary import FIRST, count_verdicts
from ragstone.kernel.records import Verdict


def verdict(number, supported, of=None):
    return Verdict(id=number, statement=f"S{number}", supported=supported, of=of)


def row(question_id, *verdicts, score=1.0):
    return judgement_row(question_id=question_id, score=score, scale=(0, 1), verdicts=list(verdicts) or None)


def test_a_summary_counts_statements_and_keeps_the_first_that_lack_support():
    rows = [
        row("a", verdict(1, True), verdict(2, False)),
        row("b"),
        row("c", *(verdict(n, False) for n in range(1, 9))),
    ]
    [summary] = summarise(rows)
    [found] = summary.unsupported
    assert (found.of, found.n, found.n_unsupported, found.n_rows) == ("answer", 10, 9, 2)
    assert found.first == (("a", "S2"), ("c", "S1"), ("c", "S2"))


def test_both_sides_of_claims_are_counted_apart():
    [summary] = summarise([row("a", verdict(1, True, "answer"), verdict(2, False, "reference"))])
    assert [(one.of, one.n, one.n_unsupported) for one in summary.unsupported] == [
        ("answer", 1, 0),
        ("reference", 1, 1),
    ]


def test_judges_without_verdicts_have_no_count():
    assert summarise([row("a")])[0].unsupported == []


@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=6), max_size=8))
def test_the_counts_are_those_of_all_verdicts(rows):
    counted = []
    for place, supported in enumerate(rows):
        counted = count_verdicts(counted, f"q{place}", [verdict(n, yes) for n, yes in enumerate(supported)])
    flat = [yes for row in rows for yes in row]
    assert [(one.n, one.n_unsupported, one.n_rows) for one in counted] == (
        [(len(flat), flat.count(False), len(rows))] if rows else []
    )
    assert all(len(one.first) == min(FIRST, one.n_unsupported) for one in counted)
