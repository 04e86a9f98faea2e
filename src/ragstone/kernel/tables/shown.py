"""Values that show themselves in a notebook: as tables and charts, in place of one long line.

The values stand on low floors, and what draws them (notebook.py) on a high one that knows them all. So
it is looked up by name when a notebook asks, and neither floor imports the other before.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

DRAWING = "ragstone.notebook"

Bundle = dict[str, Any]
"""One output of a notebook's cell: MIME type -> what a front end that knows it shows."""


class Displayed:
    """What summaries share: a notebook shows them as a terminal does, as tables, and with charts."""

    __slots__ = ()

    def svgs(self) -> dict[str, str]:
        """Return the plots of its report by name, each as an SVG file's text: on white, without a script.

        Empty where it has none. The names are those of the downloads of its page: "differences", "moves-0".
        """
        return svgs_of(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def _ipython_display_(self) -> None:
        display(self)


def svgs_of(value: object) -> dict[str, str]:
    """Return a value's plots by name, each an SVG drawing that stands alone."""
    svgs: dict[str, str] = import_module(DRAWING).svgs(value)
    return svgs


def bundles_of(value: object) -> list[Bundle]:
    """Return a value's outputs: the words and tables first, then each of its charts."""
    bundles: list[Bundle] = import_module(DRAWING).bundles(value)
    return bundles


def html_of(value: object) -> str:
    """Return all outputs as one piece of HTML, its charts drawn in SVG; for pages that take nothing else."""
    html: str = import_module(DRAWING).html(value)
    return html


def display(value: object) -> None:
    """Hand the outputs of a value to the notebook that runs this."""
    publish: Callable[[Bundle], None] = import_module("IPython.display").publish_display_data
    # One output each: a front end shows one type of an output, and JupyterLab prefers HTML to charts.
    for bundle in bundles_of(value):
        publish(bundle)
