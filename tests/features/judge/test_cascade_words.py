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


def test_a_cascade_says_who_decided_and_what_was_saved():
    assert savings_line(saved()) == (
        "Cascade steps, 1,000 rows: containment decided 750 (75 %); correctness decided 250 (25 %). It took "
        "250 calls, 100,000 tokens, 2.50 USD; correctness for every row would have taken about 1,000 calls, "
        "400,000 tokens, 10.00 USD: 75 % of the money (7.50 USD) saved."
    )


def test_without_a_price_tokens_are_compared():
    line = savings_line(saved(spent_usd=None, last_alone_usd=None))
    assert line.endswith("about 1,000 calls, 400,000 tokens: 75 % of the tokens saved.")


def test_a_cascade_that_costs_more_says_so():
    line = savings_line(saved(spent_usd=11.0))
    assert line.endswith("10.00 USD: 10 % of the money (1.00 USD) more than that.")


def test_rows_without_a_score_are_named():
    assert "correctness decided 250 (25 %); 5 have no score." in savings_line(saved(n_undecided=5))


def test_what_was_never_asked_has_no_price():
    never = [work("containment", 1000, 1000), work("correctness", 0, 0)]
    line = savings_line(saved(members=never, last_alone=None, last_alone_usd=None))
    assert line.endswith("correctness was never asked, so its cost is not known.")


def test_a_cascade_of_baselines_has_nothing_to_save():
    line = savings_line(saved(spent=Usage(calls=0), spent_usd=0.0, last_alone=None, last_alone_usd=None))
    assert line.endswith("correctness decided 250 (25 %).")
