"""What all pages of the workbench share, and what their routes ask for by the name of a parameter."""

import time
from collections.abc import Callable
from pathlib import Path

from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.improve.judge_files import JudgeFile, judge_file
from ragstone.features.improve.store import DevelopmentStore
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.workbench.accounts import Accounts, needs_accounts
from ragstone.workbench.audit import AuditLog, Fact
from ragstone.workbench.bare_files import links_in
from ragstone.workbench.jobs import JudgeRuns
from ragstone.workbench.monitor_routes import MonitorPages
from ragstone.workbench.passwords import Attempts
from ragstone.workbench.queues import OpenQueue, Queues
from ragstone.workbench.reports import Reports
from ragstone.workbench.reviews import OpenReview, Reviews
from ragstone.workbench.rows.indexing import RowIndexes
from ragstone.workbench.runs import Runs
from ragstone.workbench.sets import Sets
from ragstone.workbench.trials import Trials


class Workbench:
    """The project that is shown; one for each app.

    indexes: of the rows of runs. traces: folders and files of them. monitor: its pages. accounts: None where
    only this machine reaches it. attempts: to log in. log: who did what. jobs: of judges in development, and
    of prompts that are tried. reports: of whole runs. most_bytes: of a request. now: seconds since 1970.
    """

    def __init__(self, settings: Settings, now: Callable[[], float] = time.time) -> None:
        section = settings.workbench
        store = settings.path(section.store)
        self.settings, self.now = settings, now
        self.most_bytes = settings.serve.max_upload_mb * 1_000_000
        self.is_https = (settings.serve.public_url or "").startswith("https:")
        # The last, and always: where a run stands among them is its address, which queues of labels keep.
        self.runs = Runs([*(settings.path(name) for name in section.runs), links_in(settings)], now)
        self.indexes = RowIndexes(store / "rows")
        self.traces = [settings.path(name) for name in (settings.serve.otlp.folder, *section.traces)]
        self.sets = Sets(settings, self.runs)
        self.reviews = Reviews(settings)
        self.queues = Queues(store / "queues", settings.path(section.labels))
        self.monitor = MonitorPages(settings, root="/workbench/monitor", back="/workbench/")
        self.accounts = Accounts(store, section.session_hours, now) if needs_accounts(settings) else None
        self.attempts = Attempts(now)
        self.log = AuditLog(store, now)
        self.development = DevelopmentStore(settings)
        self.jobs = JudgeRuns()
        self.trials = Trials()
        self.reports = Reports()

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


def run_folder(bench: AtWorkbench, index: FromPath[int], name: FromPath[str]) -> Path:
    """Return the folder of the run that an address names."""
    return bench.runs.find(f"{index}/{name}")


def opened_queue(bench: AtWorkbench, name: FromPath[str]) -> OpenQueue:
    """Return the queue that an address names."""
    return bench.queues.open(name)


def opened_review(bench: AtWorkbench, set_id: FromPath[str]) -> OpenReview:
    """Return the review of the set that an address names, as it stands now."""
    return bench.reviews.open(bench.sets.find(set_id))


def judge_developed(bench: AtWorkbench, name: FromPath[str]) -> JudgeFile:
    """Return the file of the judge that an address names. Raises NotFoundException."""
    try:
        return judge_file(bench.settings, name)
    except ConfigError as mistake:
        raise NotFoundException(str(mistake)) from None


RunFolder = NamedDependency[Path]
AtQueue = NamedDependency[OpenQueue]
AtReview = NamedDependency[OpenReview]
AtJudge = NamedDependency[JudgeFile]
"""The parameters are named `folder`, `opened` for a queue and for a review, and `file`."""
