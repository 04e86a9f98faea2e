"""The report cards of a project: those of its runs, and those in files that `ragstone agree --json` made."""

import hashlib
from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.agreement.card import ReportCard
from ragstone.report.card import contained, words_of_cards
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.runs import runs_of

IN_PROJECT = ("*.json", "*/*.json")  # the project's folder, and those right below it
WORDS: dict[str, Any] = words_of_cards()
MOST_BYTES = 20_000_000  # of a file that may hold cards


class FoundCard(msgspec.Struct, frozen=True, kw_only=True):
    """A report card. id: how pages address it. runs: (id, name) of those that hold it; files: their names."""

    id: str
    card: ReportCard
    runs: list[tuple[str, str]] = []
    files: list[str] = []


def cards_of(bench: Workbench) -> list[FoundCard]:
    """Return the report cards of a project, each once, by the name of the judge."""
    found: dict[str, FoundCard] = {}
    for entry in runs_of(bench):
        for card in entry.cards:
            one = _found(found, card)
            found[one.id] = msgspec.structs.replace(one, runs=[*one.runs, (entry.id, entry.name)])
    for path in _files(bench):
        for card in _cards_in(path):
            one = _found(found, card)
            found[one.id] = msgspec.structs.replace(one, files=[*one.files, path.name])
    return sorted(found.values(), key=lambda one: (one.card.judge, one.card.metric, one.card.model))


def _found(found: dict[str, FoundCard], card: ReportCard) -> FoundCard:
    digest = hashlib.sha256(msgspec.json.encode(card)).hexdigest()[:12]
    return found.get(digest) or FoundCard(id=digest, card=card)


def _files(bench: Workbench) -> list[Path]:
    root = bench.settings.path(".")
    runs = {folder.resolve() for folder in bench.runs}
    named = [bench.settings.path(bench.settings.monitor.cards)] if bench.settings.monitor.cards else []
    others = [
        path
        for pattern in IN_PROJECT
        for path in sorted(root.glob(pattern))
        if not runs & {*path.resolve().parents}
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


@get("/cards", include_in_schema=False, sync_to_thread=True)
def cards(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of report cards."""
    person_of(request)
    return page(request, "cards.html", "Report cards", **WORDS, found=cards_of(bench))


@get("/cards/{card_id:str}", include_in_schema=False, sync_to_thread=True)
def card(request: AnyRequest, bench: AtWorkbench, card_id: FromPath[str]) -> Response[str]:
    """Give a report card."""
    person_of(request)
    one = next((found for found in cards_of(bench) if found.id == card_id), None)
    if one is None:
        raise NotFoundException("There is no such report card any more: see the list of them.")
    return page(request, "card_page.html", one.card.judge, **WORDS, one=one, card=contained(one.card))


ROUTES = (cards, card)
