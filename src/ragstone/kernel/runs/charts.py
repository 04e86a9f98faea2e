"""What charts of Vega-Lite have in common: their axes and bands.

A specification names no colour and no width: template/charts.js gives it both, dark or light and as wide as
the page is. Nothing from outside becomes a field name or an expression.
"""

from collections.abc import Sequence
from typing import Any

Spec = dict[str, Any]

SHOWN_SYSTEMS = 8  # colours that can be told apart
NARROWEST = 0.2  # of the scale, that an axis spans: a smaller difference must not look large
EDGE = 0.03  # of what is shown, above and below it


def axis_ends(values: Sequence[float], scale: tuple[float, float] | None = None) -> list[float]:
    """Return the ends of an axis: all that is shown is on it, and a fifth of the scale (0 to 1) at least."""
    low, high = min(values), max(values)
    low, high = low - EDGE * (high - low), high + EDGE * (high - low)
    least, most = scale or (0.0, 1.0)
    missing = max(0.0, NARROWEST * (most - least) - (high - low))
    low, high = max(least, low - missing / 2), min(most, high + missing / 2)
    return [low, high] if high > low else [low - 0.5, high + 0.5]


def band_layers(up: Spec, tooltip: Sequence[Spec], *, size: int, shape: Spec) -> list[Spec]:
    """Return lines with points and bands: the field m is the value, l and h are the interval's ends."""
    return [
        {
            "mark": {"type": "area", "opacity": 0.2, "clip": True},
            "encoding": {"y": {**up, "field": "l"}, "y2": {"field": "h"}},
        },
        {"mark": {"type": "line", "strokeWidth": 1.5, "clip": True}, "encoding": {"y": {**up, "field": "m"}}},
        {
            "mark": {"type": "point", "filled": True, "size": size, "opacity": 1, "clip": True},
            "encoding": {"y": {**up, "field": "m"}, **shape, "tooltip": list(tooltip)},
        },
    ]
