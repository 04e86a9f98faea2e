"""The gaps that were found last, kept in the store: finding them takes longer than showing a page."""

from collections.abc import Sequence
from datetime import date

import msgspec

from ragstone.monitor.gaps import Gap
from ragstone.monitor.store import MonitorStore

NOTE = "gaps"
MOST_KEPT = 500


class KeptGaps(msgspec.Struct, frozen=True, kw_only=True):
    """The gaps that most people asked about. n_gaps: how many there were; n_missed: exchanges in all of them.

    found: the day they were found; since: the first day that was looked at; way: the settings behind them.
    """

    gaps: list[Gap]
    n_gaps: int
    n_missed: int
    found: date
    since: date
    way: str = ""


def keep_gaps(
    store: MonitorStore, gaps: Sequence[Gap], *, found: date, since: date, way: str = ""
) -> KeptGaps:
    """Keep the gaps in place of those before, and return what is kept."""
    kept = KeptGaps(
        gaps=list(gaps[:MOST_KEPT]),
        n_gaps=len(gaps),
        n_missed=sum(gap.n_questions for gap in gaps),
        found=found,
        since=since,
        way=way,
    )
    store.keep_note(NOTE, msgspec.json.encode(kept))
    return kept


def load_gaps(store: MonitorStore) -> KeptGaps | None:
    """Return the gaps that were found last, None if they were never looked for."""
    kept = store.note(NOTE)
    return None if kept is None else msgspec.json.decode(kept, type=KeptGaps)
