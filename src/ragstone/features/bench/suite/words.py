"""The touchstone suite: what suite.json of a bench holds, and its report."""

from collections.abc import Sequence

import msgspec

from ragstone.features.bench.board import LeftOutCell
from ragstone.features.bench.judges.words import NOTHING, usd_for_1000
from ragstone.features.bench.retrievers.words import not_measured
from ragstone.features.bench.suite.cards import SuiteCard
from ragstone.features.bench.suite.rows import CHANGES, Labeller
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
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.runs.wording import asked_line, plural, statuses
from ragstone.kernel.tables.shown import Displayed

SUITE = "suite.json"
FIT = {True: "fit", False: "unfit", None: "cannot tell"}
TONES: dict[bool | None, Tone] = {True: "good", False: "bad", None: "muted"}
BY: dict[Labeller, str] = {
    "people": "Agreement with labels by people",
    "construction": "Agreement with labels by construction",
}
LEAD = (
    "Agreement is the share of verdicts that equal the label; for students' answers (saf) Spearman's rank "
    "correlation. Evouna and saf have labels by people; the labels of the other rows follow from how the row "
    "was made. A flip is a verdict that changed: with harmless text after the answer (length), with that "
    "text moved before it or the two answers in the other order (position), or to a better one by an order "
    "to the judge (injection)."
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
    asked = [card for card in summary.cards if card.model != NO_MODEL]
    return ReportDocument(
        title=summary.name,
        kind="touchstone suite",
        about=f"{summary.n_rows:,} of {plural(summary.n_suite, 'row')}",
        version=summary.version,
        blocks=[
            *(Paragraph(said(card), tone="strong") for card in asked),
            *not_measured({one.name: one.reason for one in summary.failed}),
            Notes([*summary.notes, LEAD, FITNESS]),
            *(
                block
                for metric in dict.fromkeys(card.metric for card in summary.cards)
                for block in _metric(metric, summary)
            ),
        ],
        skip=("correctness", "cards"),
        made=[*summary.models.items()],
        source=SUITE,
        last=asked_line(summary.calls) if summary.calls else "",
    )


def said(card: SuiteCard) -> str:
    """Return what a card says of its judge, in words."""
    return f"{name_of(card)}: {FIT[card.better_than_baseline]}. {card.verdict}"


def name_of(card: SuiteCard) -> str:
    """Return the judge and the model that was asked."""
    return card.judge if card.model == NO_MODEL else f"{card.judge} · {card.model}"


def _metric(metric: str, summary: SuiteSummary) -> list[Block]:
    """Return the cards of a metric: agreement by kind of row, people's labels first; flips; price."""
    cards = [card for card in [*summary.cards, *summary.earlier] if card.metric == metric]
    named: list[Made[SuiteCard]] = [(Column("Judge and model", text=True, short=""), _named)]
    worth: list[Made[SuiteCard]] = [*named, (Column("Verdict", text=True, short=""), _verdict)]
    blocks: list[Block] = [Heading(metric, anchor=metric)]

    def add(caption: str, heads: Sequence[Made[SuiteCard]]) -> None:
        if heads:
            first = worth if len(blocks) == 1 else named
            blocks.append(table_of(f"{metric}: {caption}", cards, [*first, *heads], caption=caption))

    for by, caption in BY.items():
        kinds = dict.fromkeys(one.kind for card in cards for one in card.kinds if one.by == by)
        add(caption, [*map(_kind, kinds)])
    changed = {flip.change for card in cards for flip in card.flips}
    add("Verdicts that flipped", [_flip(change) for change in CHANGES if change in changed])
    add("Rows, and price and time of 1,000 judgements", PRICE)
    return blocks


def _named(card: SuiteCard) -> Cell:
    return Cell(name_of(card), "no model" if card.model == NO_MODEL else "")


def _verdict(card: SuiteCard) -> Cell:
    return Cell(FIT[card.better_than_baseline], tone=TONES[card.better_than_baseline])


def _kind(kind: str) -> Made[SuiteCard]:
    def found(card: SuiteCard) -> Cell:
        return estimated(next((one.found for one in card.kinds if one.kind == kind), None))

    return Column(kind, beside="interval"), found


def _flip(change: str) -> Made[SuiteCard]:
    def found(card: SuiteCard) -> Cell:
        return estimated(next((one.flips for one in card.flips if one.change == change), None))

    return Column(change, beside="interval"), found


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
