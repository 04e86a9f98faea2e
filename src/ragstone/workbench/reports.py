"""Reports of whole runs, made one at a time: one of 500 MB takes 1.7 GB of memory, and all of a core."""

import threading
from collections.abc import Callable
from pathlib import Path

from litestar.exceptions import ServiceUnavailableException

from ragstone.kernel.serve.file_cache import stamp_of
from ragstone.kernel.serve.rows.files import stats_of
from ragstone.kernel.serve.state import AppState

MOST_WAITING = 8  # each holds a thread that other pages need


class Reports:
    """The last report that was made, which is given again while the files of its run are the same."""

    def __init__(self) -> None:
        self._making = threading.Lock()
        self._waiting = threading.Semaphore(MOST_WAITING)
        self._last: tuple[object, str] | None = None

    def html_of(self, folder: Path, make: Callable[[Path], str]) -> str:
        """Return the report of a run. Raises ServiceUnavailableException where too many wait for one."""
        if not self._waiting.acquire(blocking=False):
            raise ServiceUnavailableException(
                "Other reports are being made: ask again in a minute, or run `ragstone report`.",
                headers={"Retry-After": "30"},
            )
        try:
            with self._making:
                # But for the report that the folder holds.
                stamp = folder, stamp_of(each for each in stats_of(folder) if each[0] != "report.html")
                if self._last is None or self._last[0] != stamp:
                    self._last = None
                    self._last = stamp, make(folder)
                return self._last[1]
        finally:
            self._waiting.release()


def reports_of(_app: AppState) -> Reports:
    """The reports of a workbench."""
    return Reports()
