"""All that a feature may register: for each kind its signature, and the table that names it.

The tables are of strings: what they name is imported when it is asked for. To delete a feature is to delete
its folder and its lines in them.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    import typer
    from litestar.handlers import BaseRouteHandler

    from ragstone.kernel.config import ModelSettings
    from ragstone.kernel.corpus.reading import Reader as Reader
    from ragstone.kernel.document.blocks import Block, HeadlineFinding
    from ragstone.kernel.judging.fields import JudgeFields
    from ragstone.kernel.llm.providers import Provider
    from ragstone.kernel.llm.transport import Endpoint, Where
    from ragstone.kernel.retrieval.ranks import Rank as Rank
    from ragstone.kernel.runs.blamed import BlameSummary
    from ragstone.kernel.runs.causes import Caused

Command: TypeAlias = "Callable[..., None] | typer.Typer"
"""`PANELS` in cli/app.py: name -> `module:function`. Its options are its parameters, as Typer reads them."""

JudgeKind: TypeAlias = "type[JudgeFields]"
"""`KINDS` in kernel/judging/judge.py: kind -> `module:struct`: the keys of its file, and how it judges."""

# Reader: `READERS` in kernel/corpus/reading.py: ending of a file -> what gives its documents.
# Rank: `RETRIEVERS` in kernel/retrieval/search.py: name -> the settings of what ranks chunks for questions.

Transport: TypeAlias = (
    "Callable[[Provider, str, ModelSettings, Where], AbstractAsyncContextManager[Endpoint]]"
)
"""`TRANSPORTS` in kernel/llm/door.py: protocol -> what opens a model, by provider, name and settings."""


class PageModule(Protocol):
    """Pages of a feature: a module that `PAGES` in workbench/pages.py names.

    ROUTES: handlers of Litestar, below /workbench; what they take as `app` and `person` are the shared state
    and who asks (kernel/serve). It may have GIVEN too: name of a parameter -> the function that gives it.
    Its templates and assets stand in the folders `template` and `assets` beside it.
    """

    ROUTES: "Sequence[BaseRouteHandler]"


class BlamePart(Protocol):
    """What a run's report shows of its lost points: a module that `features.PARTS` names."""

    def finding(self, blamed: "BlameSummary") -> "HeadlineFinding | None":
        """The answer to "What is to blame?"; None where it has none."""

    def blocks(self, blamed: "BlameSummary", causes: "Sequence[Caused]") -> "list[Block]":
        """The part of the page."""

    def brief_blocks(self, blamed: "BlameSummary") -> "list[Block]":
        """The part of a pull request."""
