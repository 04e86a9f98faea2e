import pytest

from ragstone.kernel.document.numbers import interval, number, seconds, with_level
from ragstone.kernel.records import STATUS_WORDS, STATUSES, Usage, status_counts
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.runs.wording import bounds, calls_line, cost, plural, statuses
from ragstone.kernel.statistics import Estimate


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.005, "0.01"),
        (0.714, "0.71"),
        (-0.1, "−0.10"),
        (-0.001, "0.00"),
        (0, "0.00"),
        (19.994, "19.99"),
        (71.25, "71.2"),
    ],
)
def test_number(value: float, shown: str) -> None:
    assert number(value) == shown


def test_interval_that_cannot_be_had_is_no_interval(says) -> None:
    alone = Estimate(value=1, low=None, high=None, n=1, method="bootstrap")
    assert interval(alone) == "no interval"
    says(with_level(alone))
    alike = Estimate(value=1, low=None, high=None, n=2, method="bootstrap")
    says(with_level(alike))
    assert with_level(None) == ""
    known = Estimate(value=0.5, low=0.4, high=0.6, n=9, method="wilson", level=0.9)
    says(with_level(known))


def test_every_status_has_words_and_scored_is_left_to_the_denominator(says) -> None:
    assert tuple(STATUS_WORDS) == STATUSES
    counts = {status: 1000 * place for place, status in enumerate(STATUSES)}
    says(statuses({**counts, "scored": 7}))
    assert "scored" not in statuses({"scored": 7})


def test_unknown_cost_is_never_zero() -> None:
    assert cost(Calls(made=3, usage=Usage(calls=3))).startswith("unknown")
    assert cost(Calls(from_ledger=3)).startswith("unknown")
    assert cost(Calls()).startswith("nothing")
    assert cost(Calls(made=3, cost_usd=0.0)) == "0.0000 USD"
    assert cost(Calls(made=3, cost_usd=1234.5)) == "1,234.50 USD"


def test_the_day_of_a_list_price_stands_beside_the_cost(says) -> None:
    dated = Calls(made=3, cost_usd=0.5, list_prices={"openai/a": "2026-11-21", "openai/b": "2026-11-21"})
    says(cost(dated))


def test_what_replies_from_the_ledger_cost_is_no_money_of_now(says) -> None:
    says(cost(Calls(from_ledger=5, cost_usd=0.06)))
    says(cost(Calls(made=1, from_ledger=5, cost_usd=0.06)))
    says(cost(Calls(made=5, cost_usd=0.06)))
    says(cost(Calls(from_ledger=5, cost_usd=0.0)))  # a model of one's own: it never cost any


def test_both_bounds_have_the_same_decimals(says) -> None:
    says(bounds((15.3, 90.3), {"scored": 2, "timeout": 2}, 0.0))
    says(bounds((0.5, 0.8), {"scored": 2, "timeout": 2}, 0.0))


def test_retries_are_told_where_there_are_any(says) -> None:
    says(calls_line(Calls(made=9, retries=2)))
    says(calls_line(Calls(made=9)))


def test_plural() -> None:
    assert [plural(n, "row") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]


def test_times_have_two_digits_and_a_unit():
    assert [seconds(value) for value in (0.00035, 0.0042, 0.042, 1.42, 42.4)] == [
        "0.35 ms",
        "4.2 ms",
        "42 ms",
        "1.4 s",
        "42 s",
    ]


def test_statuses_are_counted_in_words_of_one_and_of_several():
    assert status_counts({"timeout": 2, "app_error": 1, "error": 0}) == "2 timed out, 1 application failure"
    assert status_counts({"app_error": 2, "error": 3, "not judged": 1}) == (
        "2 application failures, 3 errors, 1 not judged"
    )
