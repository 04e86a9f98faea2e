"""The report cards of a project: their list, and one of them."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.agree.words import contained, words_of_cards
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp

IN_PROJECT = ("*.json", "*/*.json")  # the project's folder, and those right below it
WORDS: dict[str, Any] = words_of_cards()
MOST_BYTES = 20_000_000  # of a file that may hold cards


class FoundCard(msgspec.Struct, frozen=True, kw_only=True):
    """A report card. id: how pages address it. runs: (id, name) of those that hold it; files: their names."""

    id: str
    card: ReportCard
    runs: list[tuple[str, str]] = []
    files: list[str] = []


def cards_of(app: AppState) -> list[FoundCard]:
    """Return the report cards of a project, each once, by the name of the judge."""
    entries: dict[str, FoundCard] = {}
    for entry in app.runs.all():
        for card in entry.cards:
            known = _found(entries, card)
            entries[known.id] = msgspec.structs.replace(known, runs=[*known.runs, (entry.id, entry.name)])
    for path in _card_files(app):
        for card in _cards_in(path):
            known = _found(entries, card)
            entries[known.id] = msgspec.structs.replace(known, files=[*known.files, path.name])
    return sorted(entries.values(), key=lambda known: (known.card.judge, known.card.metric, known.card.model))


def _found(entries: dict[str, FoundCard], card: ReportCard) -> FoundCard:
    digest = hashlib.sha256(msgspec.json.encode(card)).hexdigest()[:12]
    return entries.get(digest) or FoundCard(id=digest, card=card)


def _card_files(app: AppState) -> list[Path]:
    root = app.settings.path(".")
    named = [app.settings.path(app.settings.monitor.cards)] if app.settings.monitor.cards else []
    others = [
        path for pattern in IN_PROJECT for path in sorted(root.glob(pattern)) if not app.runs.hold(path)
    ]
    return list({path.resolve(): path for path in [*named, *others] if path.is_file()}.values())


def _cards_in(path: Path) -> list[ReportCard]:
    """Return the cards of a file; none of one that holds something else."""
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        return msgspec.json.decode(path.read_bytes(), type=list[ReportCard])
    except (OSError, msgspec.DecodeError):
        return []


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
