"""The report cards of a project: those of its runs, and those in its own files."""

import hashlib
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.runs.summary import read_summary

LOG = logging.getLogger(__name__)
IN_PROJECT = ("*.json", "*/*.json")  # the project's folder, and those right below it
MARKS = b'"categories"', b'"better_than_baseline"', b'"agreement"'  # of report cards, damaged ones too
MOST_BYTES = 20_000_000  # of a file that may hold cards


class FoundCard(msgspec.Struct, frozen=True, kw_only=True):
    """A report card. id: how pages address it. runs: (id, name) of those that hold it; files: their names."""

    id: str
    card: ReportCard
    runs: list[tuple[str, str]] = []
    files: list[str] = []


def project_cards(settings: Settings, runs: Sequence[Path]) -> list[FoundCard]:
    """Return the report cards of a project, each once, by the name of the judge. runs: its run folders."""
    held = []
    for run in runs:
        try:
            held.append((run.name, run.name, read_summary(run).cards))
        except DataError as mistake:
            LOG.warning("Its report cards are not shown: %s", mistake)
    return gather_cards(settings, held, [*{run.parent for run in runs}])


def gather_cards(
    settings: Settings, runs: Iterable[tuple[str, str, Sequence[ReportCard]]], folders: Sequence[Path]
) -> list[FoundCard]:
    """Return the report cards of runs and of the project's files, each once, by the name of the judge.

    runs: id, name and cards of each. folders: of runs, whose files are not looked at again.
    """
    entries: dict[str, FoundCard] = {}
    for run_id, name, cards in runs:
        for card in cards:
            known = _found(entries, card)
            entries[known.id] = msgspec.structs.replace(known, runs=[*known.runs, (run_id, name)])
    for path in _card_files(settings, folders):
        for card in _cards_in(path):
            known = _found(entries, card)
            entries[known.id] = msgspec.structs.replace(known, files=[*known.files, path.name])
    return sorted(entries.values(), key=lambda known: (known.card.judge, known.card.metric, known.card.model))


def _found(entries: dict[str, FoundCard], card: ReportCard) -> FoundCard:
    digest = hashlib.sha256(msgspec.json.encode(card)).hexdigest()[:12]
    return entries.get(digest) or FoundCard(id=digest, card=card)


def _card_files(settings: Settings, folders: Sequence[Path]) -> list[Path]:
    root = settings.path(".")
    held = {folder.resolve() for folder in folders}
    named = [settings.path(settings.monitor.cards)] if settings.monitor.cards else []
    others = [
        path
        for pattern in IN_PROJECT
        for path in sorted(root.glob(pattern))
        if held.isdisjoint(path.resolve().parents)
    ]
    return list({path.resolve(): path for path in [*named, *others] if path.is_file()}.values())


def _cards_in(path: Path) -> list[ReportCard]:
    """Return the cards of a file; none of one that holds something else. Damaged cards are told."""
    content = b""
    try:
        if path.stat().st_size > MOST_BYTES:
            return []
        content = path.read_bytes()
        return msgspec.json.decode(content, type=list[ReportCard])
    except (OSError, *NOT_JSON, RecursionError) as mistake:
        if all(mark in content for mark in MARKS):
            LOG.warning("%s: its report cards are not shown: they cannot be read (%s).", path, mistake)
        return []
