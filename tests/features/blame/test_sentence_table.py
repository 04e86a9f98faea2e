"""Blame says no more of a system than its counts bear: random counts, recomputed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.golden import sentence_in
from tests.support.sentences import codes_in, forbidden, said
from tests.support.surfaces import shown

from ragstone.features.blame.words import blame_document, outcome, worth
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.causes import (
    ChangePrice,
    ComponentShare,
    Largest,
    NetPoints,
    Returned,
    SystemBlame,
)


def row_of(
    n_counted: int, retriever: int, model: int, dataset: int, hidden: int = 0, verdict: str = ""
) -> SystemBlame:
    """Return a system whose lost points are these; the judge's are the hidden ones."""
    counts = {"retriever": retriever, "model + prompt": model, "dataset": dataset, "judge": hidden}
    first, second, *_ = sorted(counts, key=lambda name: -counts[name])
    largest = (
        Largest(first=first, second=second, verdict=verdict, p_holm=0.03, n=n_counted) if verdict else None
    )  # type: ignore[arg-type]
    lost = retriever + model + dataset
    return SystemBlame(
        system="s",
        judge="correctness",
        metric="correctness",
        model="m",
        n_counted=n_counted,
        n_lost=lost,
        left_out={},
        shares=[ComponentShare(component=name, n=n, share=None) for name, n in counts.items()],  # type: ignore[arg-type]
        causes={},
        n_hidden=hidden,
        largest=largest,
        returned=Returned(n=lost, n_right=min(1, lost)) if lost else None,
    )


few = st.integers(0, 6)


@given(few, few, few, few, st.integers(0, 40), st.sampled_from(["largest", "cannot tell", ""]))
def test_no_outcome_says_what_the_counts_do_not_bear(
    retriever: int, model: int, dataset: int, hidden: int, more: int, verdict: str
):
    lost = retriever + model + dataset
    row = row_of(lost + hidden + more, retriever, model, dataset, hidden, verdict if lost + hidden else "")
    codes = said(f"{outcome(row)} {worth(row)}")
    assert ("points-none-lost" in codes) is (lost + hidden == 0 and more > 0)
    assert ("points-none-counted" in codes) is (lost + hidden + more == 0)
    counts = sorted((retriever, model, dataset, hidden))
    most, alone = counts[-1] > (lost + hidden) / 2, counts[-2] == 0
    shown_largest = bool(verdict == "largest" and lost + hidden)
    assert ("most-due-to" in codes) is (shown_largest and most and not alone)
    assert ("largest-share-due-to" in codes) is (shown_largest and not most)
    assert ("all-due-to" in codes) is (shown_largest and alone)
    untold = bool(verdict == "cannot tell" and lost + hidden)
    assert ("cause-cannot-tell" in codes) is (untold and not alone)
    assert ("only-cause-cannot-tell" in codes) is (untold and alone)
    assert ("points-returned" in codes) is (lost > 0)
    assert not forbidden(codes)


def test_all_are_one_components_only_where_none_is_without_a_component(says):
    row = row_of(50, 0, 9, 0, 0, "largest")
    unknown = ComponentShare(component="cannot tell", n=2, share=None)
    some = msgspec.structs.replace(row, n_lost=11, shares=[*row.shares, unknown])
    says(outcome(row))
    says(outcome(some))


@pytest.mark.parametrize(
    "row",
    [
        row_of(0, 0, 0, 0),
        row_of(12, 0, 0, 0),
        row_of(50, 9, 2, 1, 0, "largest"),
        row_of(50, 5, 3, 3, 0, "largest"),
        row_of(50, 5, 4, 3, 2, "cannot tell"),
        row_of(50, 0, 9, 0, 0, "largest"),
        row_of(50, 0, 9, 0, 0, "cannot tell"),
    ],
)
def test_outcomes_in_words(row: SystemBlame, says):
    says(f"{outcome(row)} {worth(row)}".strip())


def test_what_decides_of_unanswerable_questions_is_said_where_there_are_some(says):
    for n in (0, 1):
        row = msgspec.structs.replace(row_of(50, 9, 2, 1), n_unanswerable=n)
        summary = BlameSummary(name="r", version="1", systems=[row], models={}, made_from={}, notes=[])
        text = " ".join(shown(blame_document(summary)).split())
        assert ("points-by-refusal" in codes_in(text)) is (n > 0)
    says(sentence_in(text, "Points of"))


def price_of(change: str, value: float, low: float, high: float, **fields: object) -> ChangePrice:
    points = NetPoints(value=value, low=low, high=high)
    given = {"basis": "measured", "n": 100, "n_asked": 60} | fields
    return ChangePrice(change=change, points=points, **given)  # type: ignore[arg-type]


def priced(*prices: ChangePrice) -> str:
    """Return what a terminal shows of a system with these prices, on one line."""
    row = msgspec.structs.replace(row_of(100, 10, 5, 5), prices=[*prices])
    summary = BlameSummary(name="r", version="1", systems=[row], models={}, made_from={}, notes=[])
    return " ".join(shown(blame_document(summary)).split())


PRICES = {"price-gain", "price-loss", "price-cannot-tell", "price-at-most"}
share = st.integers(-100, 100).map(lambda of_100: of_100 / 100)


@given(
    st.tuples(share, share, share).map(sorted),
    st.sampled_from(["measured", "at most", "by causes"]),
    st.sampled_from(["right documents", "contexts read", "references mended", "second opinion"]),
    st.integers(0, 30),
)
def test_no_price_is_claimed_that_its_interval_does_not_bear(ends, basis, change, n_asked):
    low, value, high = ends
    codes = codes_in(priced(price_of(change, value, low, high, basis=basis, n_asked=n_asked))) & PRICES
    expected = set()
    if basis == "measured" and change != "second opinion":
        expected = {"price-gain" if low > 0 else "price-loss" if high < 0 else "price-cannot-tell"}
    elif basis == "at most" and low > 0 and n_asked >= 10:
        expected = {"price-at-most"}
    assert codes == expected


def test_a_bound_is_not_told_beside_a_price_that_was_measured():
    bound = price_of("contexts read", 0.2, 0.1, 0.3, basis="at most")
    assert codes_in(priced(bound)) & PRICES == {"price-at-most"}
    assert codes_in(priced(price_of("right documents", 0.2, 0.1, 0.3), bound)) & PRICES == {"price-gain"}


def test_where_nothing_has_a_price_that_is_said_if_prices_were_asked_for(says):
    rows = row_of(100, 10, 5, 5), row_of(50, 0, 0, 0)
    for row, asked, codes in (
        (rows[0], True, {"prices-unknown"}),
        (rows[0], False, set()),
        (rows[1], True, set()),
    ):
        summary = BlameSummary(name="r", version="1", systems=[row], models={}, made_from={}, notes=[])
        said = " ".join(shown(blame_document(summary, what_if=asked)).split())
        assert codes_in(said) & {"prices-unknown"} == codes
        if codes:
            says(said[said.index("What changes") : said.index("was retrieved.") + len("was retrieved.")])


def three(both: float, n: int = 100) -> list[ChangePrice]:
    return [
        price_of("right documents", 0.06, 0.03, 0.09),
        price_of("other model", 0.05, 0.01, 0.09, model="m2", n=n),
        price_of("other model, right documents", both, 0.01, 0.2, model="m2"),
    ]


def all_read(shared: int) -> list[ChangePrice]:
    return [price_of("right documents, all read", 0.2, 0.1, 0.3, basis="at most", shared=shared)]


@pytest.mark.parametrize(
    ("prices", "code"),
    [
        (three(0.09), {"prices-together"}),
        (three(0.11), set()),  # here they add
        (three(0.09, n=80), set()),  # of other questions
        (all_read(3), {"prices-do-not-add"}),
        (all_read(0), set()),
    ],
)
def test_prices_are_said_not_to_add_where_numbers_show_it(prices, code):
    assert codes_in(priced(*prices)) & {"prices-together", "prices-do-not-add"} == code


def test_prices_in_words(says):
    loss = price_of("right document first", -0.04, -0.07, -0.01)
    unclear = price_of("right documents", 0.01, -0.02, 0.04)
    people = NetPoints(value=0.075, low=0.03, high=0.13)
    gain = price_of("right documents", 0.06, 0.03, 0.09, people=people, cost_usd=0.0123)
    bound = price_of("references mended", 0.04, 0.02, 0.08, basis="by causes")
    says(priced(loss, unclear, *three(0.09), bound))
    says(priced(gain, price_of("tools never fail", 0.125, 0.07, 0.2, basis="by causes"), *all_read(2)))
    says(priced(price_of("document retrieved", 0.04, 0.01, 0.1, basis="at most"), bound))
