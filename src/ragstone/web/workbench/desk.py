"""What all pages of the workbench share."""

from pathlib import Path
from typing import TYPE_CHECKING

from litestar.di import NamedDependency

from ragstone.config import Settings

if TYPE_CHECKING:
    from ragstone.web.workbench.runs import RunEntry


class Workbench:
    """The project that is shown; one for each app.

    store: the folder of queues, accounts and the audit log. labels: of the files that labels are written to.
    runs: the folders in which runs are looked for. seen: folder of a run -> its files when it was last looked
    at, and what was found.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store: Path = settings.path(settings.workbench.store)
        self.labels: Path = settings.path(settings.workbench.labels)
        self.runs: list[Path] = [settings.path(name) for name in settings.workbench.runs]
        self.seen: dict[Path, tuple[object, RunEntry | None]] = {}


AtWorkbench = NamedDependency[Workbench]
"""What a route takes to get the workbench: the parameter is named `bench`."""
