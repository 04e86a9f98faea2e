"""Charts of a document: of a page, which draws them by Vega-Lite, and of a notebook."""

from typing import Any

import msgspec

from ragstone.kernel.document.blocks import Block, Where
from ragstone.kernel.statistics import Estimate


class Chart(Block, frozen=True, kw_only=True):
    """A chart as Vega-Lite has it, on a page. name: unique in its page, an id.

    said: what it shows, in one sentence, for who cannot see it. head, rows: its numbers as a table.
    """

    name: str
    title: str
    said: str
    spec: dict[str, Any]
    head: list[str]
    rows: list[list[str]]
    where: Where = "page"


class ChartPanel(msgspec.Struct, frozen=True, kw_only=True):
    """A metric by the values of a tag: a small chart of each value, and the means of all as one table.

    charts: (value, what it rests on, chart). more: values that have none here. span: of a point.
    """

    metric: str
    tag: str
    span: str
    charts: list[tuple[str, str, Chart]]
    head: list[str]
    rows: list[list[str]]
    more: int


class ChartPanels(Block, frozen=True, kw_only=True):
    """Panels of a page, of which two menus show one: by its metric and its tag."""

    panels: list[ChartPanel]
    where: Where = "page"


class Dot(msgspec.Struct, frozen=True, kw_only=True):
    """A value and the ends of its interval, None where there is none. group: what its colour stands for."""

    name: str
    value: float
    low: float | None = None
    high: float | None = None
    group: str = ""


class Dots(Block, frozen=True):
    """A chart, which only a notebook draws. ends: of the axis at least, None where nothing bounds it."""

    title: str
    dots: list[Dot]
    ends: tuple[float, float] | None = (0.0, 1.0)


def dot(name: str, estimate: Estimate, group: str = "") -> Dot:
    """Return an estimate as a dot."""
    return Dot(name=name, value=estimate.value, low=estimate.low, high=estimate.high, group=group)
