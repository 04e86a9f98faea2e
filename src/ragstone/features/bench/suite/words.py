"""The touchstone suite: what suite.json of a bench holds, and its report."""

from collections.abc import Sequence

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench._words import bench_report, named, not_measured
from ragstone.features.bench.judges.words import NOTHING, usd_for_1000
from ragstone.features.bench.suite._rows import CHANGES, Labeller
from ragstone.features.bench.suite.cards import SuiteCard
from ragstone.kernel.decimals import decimal
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Made,
    Notes,
    Paragraph,
    ReportDocument,
    Tone,
    estimated,
    table_of,
)
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.runs.wording import statuses
from ragstone.kernel.tables.shown import Displayed

SUITE = "suite.json"
TONES: dict[bool | None, Tone] = {True: "good", False: "bad", None: "muted"}
BY: dict[Labeller, str] = {
    "people": "Agreement with labels by people",
    "construction": "Agreement with labels by construction",
}
LEAD = (
    "Agreement is the share of verdicts that equal the label; for students' answers (saf) Spearman's rank "
    "correlation. Evouna and saf have labels by people; the labels of the other rows follow from how they "
    "were made. A flip is a verdict that changed: with harmless text after the answer (length), with that "
    "text moved before it or the two answers in the other order (position), or to a better one after an "
    "instruction to the judge (injection)."
)
FITNESS = (
    "Fit: better than one constant verdict and, if it asks a model, than the best judge that asks none; on "
    "labels by people where there are any. Unfit: no better than one of these."
)


class SuiteSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """Judges and models on the touchstone suite.

    n_rows: of the n_suite rows that ship, those that were judged. models: name -> model, as the ledger knows
    it. cards: of this run, with those that ask no model; earlier: that ship or were measured before. failed:
    what was asked for and could not be measured. calls: of the run that returned this, None as suite.json
    has it.
    """

    name: str
    version: str
    n_rows: int
    n_suite: int
    models: dict[str, str]
    cards: list[SuiteCard]
    earlier: list[SuiteCard]
    failed: list[LeftOutCell]
    notes: list[str]
    calls: Calls | None = None


def suite_document(summary: SuiteSummary) -> ReportDocument:
    """Return the report: what each judge is worth, then the cards of each metric side by side."""
    measured = [card for card in summary.cards if card.model != NO_MODEL]
    return bench_report(
        summary,
        "touchstone suite",
        f"{summary.n_rows:,} of {plural(summary.n_suite, 'row')}",
        [
            *(
                Paragraph(
                    f"{name_of(card)}: {card.fitness}. {card.verdict}",
                    tone="strong",
                    part="answer",
                )
                for card in measured
            ),
            *not_measured(summary.failed),
            Notes([*summary.notes, LEAD, FITNESS]),
            *(
                block
                for metric in dict.fromkeys(card.metric for card in summary.cards)
                for block in _metric(metric, summary)
            ),
        ],
        source=SUITE,
        skip=("correctness", "cards"),
        made=[],
    )


def name_of(card: SuiteCard) -> str:
    """Return the judge and the model that was asked."""
    return card.judge if card.model == NO_MODEL else f"{card.judge} · {card.model}"


def _metric(metric: str, summary: SuiteSummary) -> list[Block]:
    """Return the cards of a metric: agreement by kind of row, people's labels first; flips; price."""
    cards = [card for card in [*summary.cards, *summary.earlier] if card.metric == metric]
    names: list[Made[SuiteCard]] = [
        named(
            "Judge and model",
            lambda card: Cell(name_of(card), "no model" if card.model == NO_MODEL else ""),
        )
    ]
    verdicts: list[Made[SuiteCard]] = [
        named(
            "Verdict",
            lambda card: Cell(card.fitness, tone=TONES[card.better_than_baseline]),
        )
    ]
    blocks: list[Block] = [Heading(metric, anchor=metric)]

    def add(caption: str, heads: Sequence[Made[SuiteCard]]) -> None:
        if heads:
            first = [*names, *verdicts] if len(blocks) == 1 else names
            blocks.append(table_of(f"{metric}: {caption}", cards, [*first, *heads], caption=caption))

    def of_kind(name: str) -> Made[SuiteCard]:
        def agreement(card: SuiteCard) -> Cell:
            return estimated(next((kind.found for kind in card.kinds if kind.kind == name), None))

        return Column(name, beside="interval"), agreement

    def of_change(change: str) -> Made[SuiteCard]:
        def flips(card: SuiteCard) -> Cell:
            return estimated(next((each.flips for each in card.flips if each.change == change), None))

        return Column(change, beside="interval"), flips

    for by, caption in BY.items():
        kinds = dict.fromkeys(kind.kind for card in cards for kind in card.kinds if kind.by == by)
        add(caption, [*map(of_kind, kinds)])
    detected = dict.fromkeys(name for card in cards for name in card.detection)

    def of_measure(name: str) -> Made[SuiteCard]:
        return Column(name, beside="interval"), lambda card: estimated(card.detection.get(name))

    add("ROC AUC, and what is found of answers without support", [*map(of_measure, detected)])
    likely = dict.fromkeys(name for card in cards for name in card.probabilities)
    add("Probabilities against labels of right and wrong (0 is best)", [*map(_of_probability, likely)])
    changed = {flip.change for card in cards for flip in card.flips}
    add("Verdicts that flipped", [of_change(change) for change in CHANGES if change in changed])
    add("Rows, and price and time of 1,000 judgements", PRICE)
    return blocks


def _of_probability(name: str) -> Made[SuiteCard]:
    """Return the column of a measure of probabilities, with three decimals."""

    def cell(card: SuiteCard) -> Cell:
        estimate = card.probabilities.get(name)
        if estimate is None:
            return Cell("")
        low, high = estimate.low, estimate.high
        ends = "" if low is None or high is None else f"{decimal(low, 3)} to {decimal(high, 3)}"
        return Cell(decimal(estimate.value, 3), ends)

    return Column(name, beside="interval"), cell


def time_for_1000(card: SuiteCard) -> str:
    """Return the time of the calls of a thousand judgements, one after the other."""
    each = card.spent.seconds_each
    if not card.spent.n_calls:
        return NOTHING
    if each is None:
        return "unknown"
    minutes = each * 1000 / 60
    return f"{minutes:,.0f} min" if minutes >= 1 else f"{each * 1000:.0f} s"


PRICE: list[Made[SuiteCard]] = [
    ("rows", lambda card: count(card.n_rows)),
    (Column("no score", text=True), lambda card: statuses(card.statuses) or "none"),
    ("USD", usd_for_1000),
    ("time", time_for_1000),
]
