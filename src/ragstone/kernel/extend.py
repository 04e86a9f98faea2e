"""All that a feature may register: for each kind the table that names it, and its signature.

The tables are of strings: what they name is imported when it is asked for. To delete a feature is to delete
its folder and its lines in them.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import typer
    from litestar.handlers import BaseRouteHandler

    from ragstone.kernel.document.blocks import Block, HeadlineFinding
    from ragstone.kernel.judging.fields import JudgeFields
    from ragstone.kernel.runs.blamed import BlameSummary
    from ragstone.kernel.runs.causes import Caused

Command: TypeAlias = "Callable[..., None] | typer.Typer"
"""`PANELS` in cli/app.py: name -> `module:function`. Its options are its parameters, as Typer reads them."""

JudgeKind: TypeAlias = "type[JudgeFields]"
"""`KINDS` in kernel/judging/judge.py: kind -> `module:struct`: the keys of its file, and how it judges."""

# Reader: `READERS` in kernel/corpus/reading.py: ending of a file -> what gives its documents.
# Rank: `RETRIEVERS` in kernel/retrieval/search.py: name -> the settings of what ranks chunks for questions.
# Transport: `TRANSPORTS` in kernel/llm/door.py: protocol -> what opens a model.


class PageModule(Protocol):
    """Pages of a feature: a module that `PAGES` in workbench/pages.py names.

    ROUTES: handlers of Litestar, below /workbench; what they take as `app` and `person` are the shared state
    and who asks (kernel/serve). It may have GIVEN too: name of a parameter -> the function that gives it.
    Its templates and assets stand in the folders `template` and `assets` beside it.
    """

    ROUTES: "Sequence[BaseRouteHandler]"


class BlamePart(Protocol):
    """What a run's report shows of its lost points: a module in `PARTS` of features/report/_findings.py."""

    def finding(self, blamed: "BlameSummary") -> "HeadlineFinding | None":
        """The answer to "What is to blame?"; None where it has none."""

    def blocks(self, blamed: "BlameSummary", causes: "Sequence[Caused]") -> "list[Block]":
        """The part of the page."""

    def brief_blocks(self, blamed: "BlameSummary") -> "list[Block]":
        """The part of a pull request."""
