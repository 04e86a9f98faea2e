"""The words of what cascades save."""

from ragstone.features.judge.cascade_words import savings_line
from ragstone.kernel.judging.savings import CascadeSavings, MemberWork
from ragstone.kernel.records import Usage


def work(name, n_asked, n_decided):
    return MemberWork(name=name, n_asked=n_asked, n_decided=n_decided, usage=Usage(calls=0), cost_usd=None)


def saved(**changes):
    given = {
        "judge": "steps",
        "n_rows": 1000,
        "n_undecided": 0,
        "members": [work("containment", 1000, 750), work("correctness", 250, 250)],
        "spent": Usage(input=90_000, output=10_000, calls=250),
        "spent_usd": 2.5,
        "last_alone": Usage(input=360_000, output=40_000, calls=1000),
        "last_alone_usd": 10.0,
    }
    return CascadeSavings(**(given | changes))


def test_a_cascade_says_who_decided_and_what_was_saved(says):
    says(savings_line(saved()))


def test_without_a_price_tokens_are_compared(says):
    line = savings_line(saved(spent_usd=None, last_alone_usd=None))
    says(line)


def test_a_cascade_that_costs_more_says_so(says):
    line = savings_line(saved(spent_usd=11.0))
    says(line)


def test_rows_without_a_score_are_named(says):
    says(savings_line(saved(n_undecided=5)))


def test_what_was_never_asked_has_no_price(says):
    never = [work("containment", 1000, 1000), work("correctness", 0, 0)]
    line = savings_line(saved(members=never, last_alone=None, last_alone_usd=None))
    says(line)


def test_a_cascade_of_baselines_has_nothing_to_save(says):
    line = savings_line(saved(spent=Usage(calls=0), spent_usd=0.0, last_alone=None, last_alone_usd=None))
    says(line)
