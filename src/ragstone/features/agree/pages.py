"""The report cards of a project: their list, and one of them."""

from typing import Any

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.agree.found_cards import FoundCard, gather_cards
from ragstone.features.agree.words import contained, words_of_cards
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

WORDS: dict[str, Any] = words_of_cards()


def cards_of(app: AppState) -> list[FoundCard]:
    """Return the report cards of a project, each once, by the name of the judge."""
    runs = ((entry.id, entry.name, entry.cards) for entry in app.runs.all())
    return gather_cards(app.settings, runs, app.runs.folders)


@get("/cards", sync_to_thread=True)
def cards(request: AnyRequest, app: AtApp) -> Response[str]:
    """Give the list of report cards."""
    return page(request, "features/agree/cards.html", "Report cards", **WORDS, found=cards_of(app))


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
