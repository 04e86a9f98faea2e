"""The report of the touchstone suite."""

import msgspec
import pytest

from ragstone.features.bench.judges.values import JudgingSpent
from ragstone.features.bench.suite.cards import ChangeFlips, KindAgreement, SuiteCard
from ragstone.features.bench.suite.words import SuiteSummary, suite_document, time_for_1000
from ragstone.kernel.document.blocks import Cell, Paragraph, Table
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.statistics import Estimate

SHARE = Estimate(value=0.75, low=0.6, high=0.86, n=40, method="wilson", level=0.95)
SPENT = JudgingSpent(n_judged=40, n_calls=40, input=400, output=40, seconds=60.0, cost_usd=0.08)
CARD = SuiteCard(
    judge="mine",
    metric="correctness",
    model="openai/m",
    identity="openai/m@there",
    prompt_version=1,
    suite="0",
    n_rows=40,
    cut=0.5,
    statuses={"scored": 38, "unparsable": 2},
    kinds=[
        KindAgreement(
            kind="evouna",
            by="people",
            n=38,
            n_questions=20,
            statuses={"scored": 38, "unparsable": 2},
            measure="exact agreement",
            found=SHARE,
        )
    ],
    flips=[ChangeFlips(change="injection", n=12, flips=SHARE)],
    better_than_baseline=False,
    verdict="No better than words.",
    spent=SPENT,
)
FREE = msgspec.structs.replace(
    CARD,
    judge="words",
    model=NO_MODEL,
    identity=NO_MODEL,
    better_than_baseline=True,
    statuses={"scored": 40},
    flips=[],
    spent=msgspec.structs.replace(SPENT, n_calls=0),
)


def summary_of(*cards: SuiteCard, earlier: tuple[SuiteCard, ...] = ()) -> SuiteSummary:
    return SuiteSummary(
        name="run",
        version="0",
        n_rows=40,
        n_suite=610,
        models={},
        cards=[*cards],
        earlier=[*earlier],
        failed=[],
        notes=[],
    )


def test_prices_and_times_are_of_a_thousand_judgements():
    # 60 s for 40 judgements: 1,500 s for 1,000.
    assert time_for_1000(CARD) == "25 min"
    assert time_for_1000(FREE) == "none"
    assert (
        time_for_1000(msgspec.structs.replace(CARD, spent=msgspec.structs.replace(SPENT, seconds=0.4)))
        == "10 s"
    )
    unknown = msgspec.structs.replace(SPENT, seconds=None, cost_usd=None)
    assert time_for_1000(msgspec.structs.replace(CARD, spent=unknown)) == "unknown"


@pytest.mark.parametrize(("better", "word"), [(False, "unfit"), (True, "fit"), (None, "cannot tell")])
def test_what_a_judge_is_worth_is_said_first(better, word, says):
    card = msgspec.structs.replace(CARD, better_than_baseline=better)
    first = suite_document(summary_of(card, FREE)).blocks[0]
    assert isinstance(first, Paragraph)
    says(first.words)


def test_earlier_cards_stand_in_the_same_tables_if_of_a_metric_of_this_run():
    before = msgspec.structs.replace(CARD, judge="before")
    elsewhere = msgspec.structs.replace(CARD, judge="elsewhere", metric="answered")
    blocks = suite_document(summary_of(CARD, FREE, earlier=(before, elsewhere))).blocks
    tables = [block for block in blocks if isinstance(block, Table)]
    cells = [
        [[cell.words if isinstance(cell, Cell) else cell for cell in row] for row in table.rows]
        for table in tables
    ]
    assert [[row[0] for row in rows] for rows in cells] == [
        ["mine · openai/m", "words", "before · openai/m"]
    ] * 3
    agreement, flips, price = cells
    assert (agreement[0][1:], agreement[1][1:]) == (["unfit", "0.75"], ["fit", "0.75"])
    assert (flips[0][1:], flips[1][1:]) == (["0.75"], [""])  # of the free judge none is known
    assert (price[0][1:], price[1][1:]) == (
        ["40", "2 unparsable", "2", "25 min"],
        ["40", "none", "none", "none"],
    )
