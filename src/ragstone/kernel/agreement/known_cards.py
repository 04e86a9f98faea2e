"""Which of the cards that there are is a judge's, and whether it says that its scores are of no use."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL, Judgement

if TYPE_CHECKING:
    from ragstone.kernel.agreement.card import ReportCard


def card_of(row: Judgement | MetricSummary, cards: "Sequence[ReportCard]") -> "ReportCard | None":
    """Return the card of the judge behind a judgement or a mean, None where nobody has measured it."""
    key = (row.judge, row.metric, row.model)
    return next((card for card in cards if (card.judge, card.metric, card.model) == key), None)


def is_useless(row: Judgement | MetricSummary, cards: "Sequence[ReportCard]") -> bool:
    """Whether the judge's card says so; without a card, whether every card of the same model does."""
    card = card_of(row, cards)
    of_model = [card] if card else [other for other in cards if other.model == row.model != NO_MODEL]
    return bool(of_model) and all(each.better_than_baseline is False for each in of_model)
