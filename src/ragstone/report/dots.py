"""Values with their intervals, one below the other: the chart of a notebook, as Vega-Lite and as SVG.

Both have a white ground of their own, for neither knows whether the page around them is dark.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import msgspec

from ragstone.report.document import Block
from ragstone.report.fragment import harmless
from ragstone.report.wording import number
from ragstone.statistics import Estimate

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"  # a name; nothing is loaded from there
MOST_DOTS = 30  # a chart that fits a screen; the table has them all
NAME_LENGTH = 38
# Dark enough on white, and apart for people who see no red or green (Okabe and Ito 2008, in darker shades).
COLOURS = ("#00527a", "#a34700", "#00664b", "#8f3d70", "#5c4b00", "#404040")
LEFT, WIDTH, RIGHT, ROW, TOP, BOTTOM = 250, 320, 170, 20, 28, 24


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


def vega_lite(chart: Dots) -> dict[str, Any]:
    """Return the chart as a Vega-Lite specification with its data in it."""
    shown = _shown(chart)
    low, high = _ends(chart)
    axis = {"field": "value", "type": "quantitative", "title": None, "scale": {"domain": [low, high]}}
    names: dict[str, Any] = {"field": "name", "type": "nominal", "title": None, "sort": None}
    names["axis"] = {"labelLimit": LEFT}
    groups = list(dict.fromkeys(one.group for one in shown))
    colour: dict[str, Any] = {"value": COLOURS[0]}
    if len(groups) > 1:
        colour = {"field": "group", "type": "nominal", "title": None}
        colour["scale"] = {"domain": groups, "range": [_colour(groups, group) for group in groups]}
    tips = [{"field": field} for field in ("name", "group", "value", "low", "high")]
    span = {"x": axis | {"field": "low"}, "x2": {"field": "high"}}
    line = {"mark": {"type": "rule", "strokeWidth": 2}, "encoding": span}
    point = {"mark": {"type": "point", "filled": True, "size": 70}, "encoding": {"x": axis}}
    rows: dict[str, Any] = {"y": names, "color": colour, "tooltip": tips}
    if len({one.name for one in shown}) < len(shown):  # side by side, not one upon the other
        rows["yOffset"] = {"field": "group", "sort": groups}
    return {
        "$schema": SCHEMA,
        "title": chart.title,
        "background": "white",
        "width": WIDTH,
        "data": {"values": [msgspec.structs.asdict(one) for one in shown]},
        "encoding": rows,
        "layer": [line, point],
    }


def svg(chart: Dots) -> str:
    """Return the chart as a drawing that needs no script and no font."""
    shown = _shown(chart)
    low, high = _ends(chart)
    groups = list(dict.fromkeys(one.group for one in shown))

    def x_of(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * WIDTH, 1)

    bottom = TOP + ROW * len(shown)
    parts = [_words(8, 16, chart.title, "font-weight:bold")]
    for tick in (low, (low + high) / 2, high):
        parts.append(f'<path d="M{x_of(tick)} {TOP}V{bottom}" stroke="#ddd"/>')
        parts.append(_words(x_of(tick), bottom + 15, number(tick), "text-anchor:middle"))
    for place, one in enumerate(shown):
        y, colour = TOP + ROW * place + ROW // 2, _colour(groups, one.group)
        name = f"{one.name} · {one.group}" if len(groups) > 1 and one.group else one.name
        parts.append(_words(8, y + 4, _short(name), f"fill:{colour}"))
        ends = ""
        if one.low is not None and one.high is not None:
            parts.append(
                f'<path d="M{x_of(one.low)} {y}H{x_of(one.high)}" stroke="{colour}" stroke-width="2"/>'
            )
            ends = f" ({number(one.low)} to {number(one.high)})"
        parts.append(f'<circle cx="{x_of(one.value)}" cy="{y}" r="4" fill="{colour}"/>')
        parts.append(_words(LEFT + WIDTH + 12, y + 4, f"{number(one.value)}{ends}", ""))
    size = f"{LEFT + WIDTH + RIGHT} {bottom + BOTTOM}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" width="{LEFT + WIDTH + RIGHT}" '
        f'role="img" aria-label="{escape(harmless(chart.title))}" '
        'style="max-width:100%;font:12px sans-serif;fill:#222;background:white">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def _words(x: float, y: float, words: str, style: str) -> str:
    styled = f' style="{style}"' if style else ""
    return f'<text x="{x}" y="{y}"{styled}>{escape(harmless(words))}</text>'


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


def _shown(chart: Dots) -> list[Dot]:
    return chart.dots[:MOST_DOTS]


def _ends(chart: Dots) -> tuple[float, float]:
    """Return the ends of the axis: those given, and those of every interval."""
    values = [end for one in chart.dots for end in (one.value, one.low, one.high) if end is not None]
    low, high = min([*values, *(chart.ends or ())]), max([*values, *(chart.ends or ())])
    return (low, high) if low < high else (low - 1, high + 1)


def _colour(groups: Sequence[str], group: str) -> str:
    return COLOURS[groups.index(group) % len(COLOURS)]
