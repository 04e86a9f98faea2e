"""`[workbench]`: what `ragstone serve` shows people, and who they are."""

from typing import Literal

import msgspec

from ragstone.config.section import Positive, Section

Role = Literal["reader", "annotator", "owner"]
"""What somebody may do at the workbench; each what those before may."""


class WorkbenchSection(Section, frozen=True, kw_only=True):
    """`[workbench]`: what is shown, and where what people do there is kept.

    runs: folders in which runs are looked for. labels: the folder of the files that labels are written to.
    store: of queues, accounts and the audit log. annotator: the name on labels of who works on this machine
    without an account; default: the user's. session_hours: after so long without a request one logs in anew.
    """

    runs: list[str] = msgspec.field(default_factory=lambda: ["runs"])
    labels: str = "labels"
    store: str = ".ragstone/workbench"
    annotator: str | None = None
    session_hours: Positive = 12
