"""Points with intervals, upwards by a measure and to the right by a price: where they stand in a drawing."""

import math
from collections.abc import Callable, Sequence

import msgspec

from ragstone.kernel.statistics import Estimate

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 48, 32, 12, 36  # as in template/scatter.html
NOTHING = 80  # to the right of where points stand that have no price at all
APART = 7  # of two points that are drawn as two
SHOWN_OTHERS = 8
NEAR = 12  # of a linear scale to the edges, so that points at its ends are whole


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be drawn. x: 0 where it costs nothing. value, low, high: the measure and its interval."""

    place: int
    name: str
    verdict: str
    x: float
    value: float
    low: float | None
    high: float | None


def point(number: int, name: str, verdict: str, x: float, estimate: Estimate) -> Point:
    """Return an estimate as a point above its price."""
    low, high = estimate.low, estimate.high
    return Point(place=number, name=name, verdict=verdict, x=x, value=estimate.value, low=low, high=high)


def decade_s(power: int) -> str:
    """Return a power of ten of seconds in a fitting unit."""
    if power >= 0:
        return f"{10**power:,} s"
    return f"{10 ** (power + 3):g} ms" if power >= -3 else f"{10 ** (power + 6):g} µs"


def decade_usd(power: int) -> str:
    """Return a power of ten of US dollars for one, as what a thousand of them cost."""
    return f"{10.0 ** (power + 3):g} USD"


class ScatterDot(msgspec.Struct, frozen=True):
    """A point in the drawing: where it stands, and the ends of its interval.

    others: the places of points that stand under it, beside which they are written.
    """

    place: int
    name: str
    verdict: str
    x: float
    y: float
    low: float
    high: float
    others: str = ""


class Tick(msgspec.Struct, frozen=True):
    """A line of the chart's grid, and what it is called."""

    at: float
    label: str


class ScatterChart(msgspec.Struct, frozen=True):
    """A measure against a price, in the units of the drawing."""

    dots: list[ScatterDot]
    x_ticks: list[Tick]
    y_ticks: list[Tick]


def draw_scatter(points: Sequence[Point], decade: Callable[[int], str], nothing: str = "0") -> ScatterChart:
    """Return the chart: x on a logarithmic scale, the measure upwards.

    decade: a power of ten -> what it is called. nothing: what points with x = 0 are called; they stand at
    the left, before the scale begins.
    """
    free = any(point.x == 0 for point in points)
    left = LEFT + (NOTHING if free else 0)
    low, high = _powers([point.x for point in points if point.x > 0])

    def x_of(value: float) -> float:
        if value == 0:
            return LEFT + 24.0
        share = (math.log10(value) - low) / (high - low)
        return round(left + share * (WIDTH - left - RIGHT), 1)

    ticks = [Tick(x_of(10.0**power), decade(power)) for power in range(low, high + 1)]
    return _chart(points, x_of, [*([Tick(x_of(0), nothing)] if free else []), *ticks])


def draw_shares(points: Sequence[Point]) -> ScatterChart:
    """Return the chart: x a share from 0 to 1 on a linear scale, the measure upwards."""

    def x_of(value: float) -> float:
        return round(LEFT + NEAR + value * (WIDTH - LEFT - RIGHT - 2 * NEAR), 1)

    return _chart(points, x_of, [Tick(x_of(n / 5), f"{20 * n} %") for n in range(6)])


def _chart(points: Sequence[Point], x_of: Callable[[float], float], x_ticks: list[Tick]) -> ScatterChart:
    ends = [end for point in points for end in (point.value, point.low, point.high) if end is not None]
    step = _step(max(ends) - min(ends))
    floor, ceiling = math.floor(min(ends) / step + 1e-9), max(math.ceil(max(ends) / step - 1e-9), 1)
    floor = min(floor, ceiling - 1)

    def y_of(value: float) -> float:
        share = (value / step - floor) / (ceiling - floor)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP), 1)

    dots = [
        ScatterDot(
            place=point.place,
            name=point.name,
            verdict=point.verdict.partition(" ")[0],
            x=x_of(point.x),
            y=y_of(point.value),
            low=y_of(point.value if point.low is None else point.low),
            high=y_of(point.value if point.high is None else point.high),
        )
        for point in points
    ]
    return ScatterChart(
        dots=_with_others(dots),
        x_ticks=x_ticks,
        y_ticks=[
            Tick(y_of(n * step), (f"{n * step:z.1f}" if step < 1 else f"{n * step:,.0f}").replace("-", "−"))
            for n in range(floor, ceiling + 1)
        ],
    )


def _with_others(dots: Sequence[ScatterDot]) -> list[ScatterDot]:
    """Return the dots; the first of those that stand on each other says which the others are."""
    under: dict[int, list[ScatterDot]] = {}
    drawn: list[ScatterDot] = []
    for dot in dots:
        above = next(
            (near for near in drawn if abs(near.x - dot.x) < APART and abs(near.y - dot.y) < APART), None
        )
        if above is None:
            drawn.append(dot)
        else:
            under.setdefault(above.place, []).append(dot)
    numbers = {number: [str(dot.place) for dot in others] for number, others in under.items()}
    for others in numbers.values():
        others[SHOWN_OTHERS:] = ["…"] if len(others) > SHOWN_OTHERS else []
    return [msgspec.structs.replace(dot, others=", ".join(numbers.get(dot.place, []))) for dot in dots]


def _powers(values: Sequence[float]) -> tuple[int, int]:
    """Return the powers of ten that hold all values."""
    if not values:
        return 0, 1
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return low, max(high, low + 1)


def _step(span: float) -> float:
    """Return the distance of the lines: 0.1 for shares, else 1, 2 or 5 times a power of ten."""
    if span <= 1:
        return 0.1
    power = 10.0 ** math.floor(math.log10(span / 8))
    return next(power * n for n in (1, 2, 5, 10) if span / (power * n) <= 10)
