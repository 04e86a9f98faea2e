"""What a feature may register, with its signature."""

from collections.abc import Sequence
from typing import Protocol

from litestar.handlers import BaseRouteHandler

from ragstone.kernel.document.blocks import Block, HeadlineFinding
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.causes import Caused


class PageModule(Protocol):
    """Pages of a feature: a module that `workbench/pages.py` names.

    ROUTES: handlers of Litestar, below /workbench; what they take as `app` and `person` are the shared state
    and who asks (kernel/serve). It may have GIVEN too: name of a parameter -> the function that gives it.
    """

    ROUTES: Sequence[BaseRouteHandler]


class BlamePart(Protocol):
    """What a run's report shows of its lost points: a module that `features.PARTS` names."""

    def finding(self, blamed: BlameSummary) -> HeadlineFinding | None:
        """The answer to "What is to blame?"; None where it has none."""

    def blocks(self, blamed: BlameSummary, causes: Sequence[Caused]) -> list[Block]:
        """The part of the page."""

    def brief_blocks(self, blamed: BlameSummary) -> list[Block]:
        """The part of a pull request."""
