"""What the pages of all features share, and what their routes ask for by the name of a parameter."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from litestar.di import NamedDependency
from litestar.params import FromPath

from ragstone.kernel.config import Settings
from ragstone.kernel.serve.audit import AuditLog, Fact
from ragstone.kernel.serve.jobs import JudgeRuns
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.rows.indexes import RowIndexes
from ragstone.kernel.serve.runs import Runs

PartT = TypeVar("PartT")


class AppState:
    """The project that is shown; one for each app.

    indexes: of the rows of runs. log: who did what. jobs: of judges in development, and of prompts that are
    tried. most_bytes: of a request. now: seconds since 1970. What a single feature keeps is a part.
    """

    def __init__(self, settings: Settings, runs: Runs, now: Callable[[], float] = time.time) -> None:
        self.settings, self.runs, self.now = settings, runs, now
        self.store = settings.path(settings.workbench.store)
        self.most_bytes = settings.serve.max_upload_mb * 1_000_000
        self.indexes = RowIndexes(self.store / "rows")
        self.log = AuditLog(self.store, now)
        self.jobs = JudgeRuns()
        self._parts: dict[object, Any] = {}
        self._lock = threading.RLock()

    def part(self, make: Callable[["AppState"], PartT]) -> PartT:
        """What a feature keeps while the application lives: made when it is first asked for, once.

        A part that has a method `close` is closed with the application.
        """
        with self._lock:
            if make not in self._parts:
                self._parts[make] = make(self)
            made: PartT = self._parts[make]
            return made

    def close(self) -> None:
        """Close what is open at the end of the application."""
        self.jobs.close()
        for part in self._parts.values():
            if close := getattr(part, "close", None):
                close()
        self.indexes.close()

    def audit(self, request: AnyRequest, action: str, **facts: Fact) -> None:
        """Add a line to the audit log: who asks, what they did, from where; no texts and no secrets.

        Raises DataError where it cannot be written.
        """
        person = request.scope["state"].get("person")
        address = request.client.host if request.client else ""
        self.log.note(person.name if person else "", action, address, facts)


AtApp = NamedDependency[AppState]
"""What a route takes to get the shared state: the parameter is named `app`."""


def run_folder(app: AtApp, index: FromPath[int], name: FromPath[str]) -> Path:
    """Return the folder of the run that an address names."""
    return app.runs.find(f"{index}/{name}")


RunFolder = NamedDependency[Path]
"""The folder of the run that an address names, where its routes are given `run_folder` as `folder`."""
