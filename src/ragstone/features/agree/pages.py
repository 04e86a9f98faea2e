"""The report cards of a project: their list, and one of them."""

from collections.abc import Callable, Sequence
from typing import Any

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, FromQuery

from ragstone.features.agree.found_cards import FoundCard, gather_cards
from ragstone.features.agree.words import contained, words_of_cards
from ragstone.kernel.agreement.card import ReportCard, chance_corrected
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp
from ragstone.kernel.serve.tables import TableAddress
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.where import Kind

WORDS: dict[str, Any] = words_of_cards()


def cards_of(app: AppState) -> list[FoundCard]:
    """Return the report cards of a project, each once, by the name of the judge."""
    runs = ((entry.id, entry.name, entry.cards) for entry in app.runs.all())
    return gather_cards(app.settings, runs, app.runs.folders)


ORDERS: dict[str, Callable[[ReportCard], Any]] = {
    "judge": lambda card: (card.judge, card.metric, card.model),
    "model": lambda card: ("" if card.model == NO_MODEL else card.model, card.judge),
    "beyond": lambda card: _value(chance_corrected(card.agreement)),
    "exact": lambda card: _value(("", card.agreement.get("exact agreement"))),
    "n": lambda card: card.n,
    "price": lambda card: card.usd_per_1000,
}
"""What report cards are sorted by; `-` before it turns the order round. Unknown values are last."""

HEADS: list[tuple[str, Kind, bool]] = [
    (key, "text" if key in ("judge", "model") else "number", True) for key in ORDERS
]
NAMED = {
    "judge": "Judge",
    "model": "Model",
    "beyond": "Beyond chance",
    "exact": "Same grade as people",
    "n": "Labelled answers",
    "price": "1,000 verdicts cost",
}


def _value(measure: tuple[str, Estimate | None] | None) -> float | None:
    return measure[1].value if measure and measure[1] else None


def sorted_cards(cards: Sequence[FoundCard], order: str) -> list[FoundCard]:
    """Return cards in an order of ORDERS, those without a value last. Raises DataError for another order."""
    key = order.removeprefix("-")
    if key not in ORDERS:
        raise DataError(f"Report cards are sorted by {', '.join(ORDERS)}, not by {key!r}.")
    valued = [(ORDERS[key](entry.card), entry) for entry in cards]
    known = sorted(
        (pair for pair in valued if pair[0] is not None),
        key=lambda pair: pair[0],
        reverse=order.startswith("-"),
    )
    return [entry for _, entry in known] + [entry for value, entry in valued if value is None]


@get("/cards", sync_to_thread=True)
def cards(request: AnyRequest, app: AtApp, order: FromQuery[str] = "judge") -> Response[str]:
    """Give the table of report cards. order: see ORDERS."""
    return page(
        request,
        "features/agree/cards.html",
        "Report cards",
        **WORDS,
        found=sorted_cards(cards_of(app), order),
        heads=TableAddress(()).heads(HEADS, order, NAMED),
        chance_corrected=chance_corrected,
        no_model=NO_MODEL,
    )


@get("/cards/{card_id:str}", sync_to_thread=True)
def card(request: AnyRequest, app: AtApp, card_id: FromPath[str]) -> Response[str]:
    """Give a report card."""
    chosen = next((own for own in cards_of(app) if own.id == card_id), None)
    if chosen is None:
        raise NotFoundException("This report card no longer exists: see the list of report cards.")
    return page(
        request,
        "features/agree/card_page.html",
        chosen.card.judge,
        **WORDS,
        one=chosen,
        card=contained(chosen.card),
    )


ROUTES = (cards, card)
