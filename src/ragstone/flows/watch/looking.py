"""What a look at the monitor's store ends with: the gaps of the documents, and the page."""

import datetime
from typing import TYPE_CHECKING

import msgspec

from ragstone.agreement.card import ReportCard
from ragstone.config import Settings
from ragstone.engine.progress import Progress, silent
from ragstone.errors import DataError
from ragstone.flows.watch.canaries import load_canaries
from ragstone.flows.watch.gaps import look_for_gaps
from ragstone.monitor.gaps import KeptGaps, load_gaps
from ragstone.monitor.look import Look, look_at
from ragstone.monitor.page import write_monitor

if TYPE_CHECKING:
    from ragstone.flows.watch.watching import Watcher
    from ragstone.monitor.look import WatchSummary


def finish(
    watcher: "Watcher",
    summary: "WatchSummary",
    *,
    today: datetime.date,
    offline: bool = False,
    progress: Progress = silent,
) -> "WatchSummary":
    """Return the summary with the gaps and the page, which is written beside the store.

    Gaps are looked for again only where something has changed. Raises DataError.
    """
    kept = load_gaps(watcher.store)
    changed = summary.read.new or summary.read.feedback or summary.judged or summary.given
    if kept is None or changed or kept.found != today or kept.way != way_of(watcher):
        kept = _found(watcher, today, offline=offline, progress=progress)
    summary = msgspec.structs.replace(summary, gaps=kept)
    page = write_monitor(watcher.store.path.parent, look_of(watcher, today))
    return msgspec.structs.replace(summary, page=str(page))


def look_of(watcher: "Watcher", today: datetime.date) -> Look:
    """Return what there is to see of a watcher's store. Raises DataError."""
    return look_at(
        watcher.store,
        watcher.section,
        today=today,
        judges=[judge.name for judge in watcher.judges],
        canaries=load_canaries(watcher.store),
        cards=read_cards(watcher.settings),
    )


def read_cards(settings: Settings) -> list[ReportCard]:
    """Return the report cards that `cards` of `[monitor]` names. Raises DataError."""
    if settings.monitor.cards is None:
        return []
    path = settings.path(settings.monitor.cards)
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[ReportCard])
    except (OSError, msgspec.MsgspecError) as mistake:
        raise DataError(
            f"{path}: holds no report cards ({mistake}). Make it with: ragstone agree … --json > {path}"
        ) from None


def way_of(watcher: "Watcher") -> str:
    """Return the settings that decide what the gaps are, as text."""
    section = watcher.section
    told = [section.gap_days, section.unfaithful_below, section.embedder, section.gap_model]
    return msgspec.json.encode(told).decode()


def _found(watcher: "Watcher", today: datetime.date, *, offline: bool, progress: Progress) -> KeptGaps:
    caps = watcher.store.left_of(watcher.caps, today)
    found = look_for_gaps(
        watcher.store,
        watcher.settings,
        today=today,
        way=way_of(watcher),
        caps=caps,
        offline=offline,
        progress=progress,
    )
    if found.calls.made:
        usage = found.calls.usage
        watcher.store.spend(today, found.calls.made, usage.input + usage.output, found.calls.cost_usd or 0.0)
    return found.kept
