"""What all pages of the workbench share."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from litestar.di import NamedDependency

from ragstone.config import Settings
from ragstone.web.monitor_routes import MonitorPages
from ragstone.web.workbench.accounts import Accounts, needs_accounts
from ragstone.web.workbench.attempts import Attempts
from ragstone.web.workbench.audit import AuditLog, Fact
from ragstone.web.workbench.developing.jobs import Jobs
from ragstone.web.workbench.person import AnyRequest
from ragstone.web.workbench.rows.kept import Indexes

if TYPE_CHECKING:
    from ragstone.web.workbench.data import DataSet
    from ragstone.web.workbench.run_view import RunView
    from ragstone.web.workbench.runs import RunEntry


class Workbench:
    """The project that is shown; one for each app.

    store: the folder of queues, accounts and the audit log. labels: of the files that labels are written
    to. runs: the folders in which runs are looked for. seen: folder of a run -> its files when it was
    last looked at, and what was found; views: the same of what its page shows. indexes: of rows. digests,
    sets: of files of questions, and what they hold. monitor: its pages. accounts: None where only this
    machine reaches it. most_bytes: of a request. now: seconds since 1970.
    """

    MOST_VIEWS = 16

    def __init__(self, settings: Settings, now: Callable[[], float] = time.time) -> None:
        self.settings = settings
        self.store: Path = settings.path(settings.workbench.store)
        self.labels: Path = settings.path(settings.workbench.labels)
        self.runs: list[Path] = [settings.path(name) for name in settings.workbench.runs]
        self.seen: dict[Path, tuple[object, RunEntry | None]] = {}
        self.views: dict[Path, tuple[object, RunView]] = {}
        self.indexes = Indexes(self.store / "rows")
        self.monitor = MonitorPages(settings, root="/workbench/monitor", back="/workbench/")
        self.digests: dict[Path, tuple[object, str]] = {}
        self.sets: dict[object, DataSet] = {}
        serve = settings.serve
        self.now = now
        self.most_bytes = serve.max_upload_mb * 1_000_000
        self.is_https = (serve.public_url or "").startswith("https:")
        hours = settings.workbench.session_hours
        self.accounts = Accounts(self.store, hours, now) if needs_accounts(settings) else None
        self.attempts = Attempts(now)
        self.log = AuditLog(self.store, now)
        self.jobs = Jobs()

    def close(self) -> None:
        """Close what is open at the end of the application."""
        self.jobs.close()
        self.attempts.close()
        if self.accounts is not None:
            self.accounts.close()
        self.indexes.close()

    def audit(self, request: AnyRequest, action: str, **facts: Fact) -> None:
        """Add a line to the audit log: who asks, what they did, from where; no texts and no secrets.

        Raises DataError where it cannot be written.
        """
        person = request.scope["state"].get("person")
        address = request.client.host if request.client else ""
        self.log.note(person.name if person else "", action, address, facts)


AtWorkbench = NamedDependency[Workbench]
"""What a route takes to get the workbench: the parameter is named `bench`."""
