"""What one look at a log comes to: every number that `ragstone watch` shows."""

import msgspec

from ragstone.monitor.alarm import Alarm
from ragstone.monitor.kept_gaps import KeptGaps
from ragstone.monitor.overview import Overview
from ragstone.monitor.reading import ReadCounts
from ragstone.report.summary import Calls


class WatchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What was read and judged now, and what the store holds.

    judged: exchanges that all judges have judged now. given: judgements made elsewhere that found their
    exchange; unplaced: those that did not. left: exchanges of the sample that are yet to be judged. cut_off:
    the budget of the day ended. alarms: open ones and those that are over, by the day they were raised.
    canaries: whether they were judged again now. gaps: those that were found last; page: where
    the page is.
    """

    store: str
    read: ReadCounts
    judged: int
    given: int
    unplaced: int
    left: int
    cut_off: bool
    overview: Overview
    calls: Calls
    alarms: list[Alarm]
    canaries: bool = False
    gaps: KeptGaps | None = None
    page: str | None = None

    @property
    def open_alarms(self) -> list[Alarm]:
        """The alarms of a change for the worse, or of no known side, that still holds."""
        return [one for one in self.alarms if one.over is None and one.worse is not False]
