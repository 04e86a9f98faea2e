"""The mean of a judge in run after run -> a chart, with marks where the settings changed."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.document.charts import Chart
from ragstone.kernel.document.numbers import count, number, value_range
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.runs.charts import SHOWN_SYSTEMS, Spec, axis_ends

HEIGHT = 240  # pixels


class RunStep(msgspec.Struct, frozen=True, kw_only=True):
    """A run in its place. means: (name of a line, mean); changes: what differs from the run before.

    unknown: what of both cannot be compared: without a manifest a change of settings leaves no trace.
    """

    run: str
    means: list[tuple[str, MetricSummary]]
    changes: list[str]
    unknown: str = ""


class _ShownMean(msgspec.Struct, frozen=True, kw_only=True):
    """A point of the chart, in the units of its axis. place: of the run, from 1."""

    place: int
    run: str
    line: str
    value: float
    low: float | None
    high: float | None
    n: int
    changed: str


def trend_chart(judge: str, steps: Sequence[RunStep]) -> Chart | None:
    """Return the course of a judge's means over runs, None where fewer than two runs have one.

    Its axis has the units of the scale where all runs have the same one, and shares of the scale elsewhere.
    """
    scales = {metric.scale for step in steps for _, metric in step.means if metric.estimate}
    as_shares = len(scales) > 1
    points = [
        point
        for number, step in enumerate(steps, 1)
        for line, metric in step.means
        if (point := _point(number, step, line, metric, as_shares=as_shares))
    ]
    if len({point.place for point in points}) < 2:
        return None
    lines = list(dict.fromkeys(point.line for point in points))
    n_changed = sum(bool(step.changes) for step in steps)
    axis = "share of the scale" if as_shares else "mean"
    about = f"{judge} in {plural(len(steps), 'run')}, the first at the left, with 95 % intervals"
    return Chart(
        name="run-trend",
        title=f"Means of {plural(len(steps), 'run')}",
        said=f"{about}; {plural(n_changed, 'change')} marked." if n_changed else f"{about}.",
        spec=_spec(points, steps, lines, axis, None if as_shares else next(iter(scales))),
        head=["Run", *(["System"] if len(lines) > 1 else []), "Mean", "Interval", "Scored"],
        rows=[_row(point, several=len(lines) > 1) for point in points],
    )


def _point(
    number: int, step: RunStep, line: str, metric: MetricSummary, *, as_shares: bool
) -> _ShownMean | None:
    estimate, scale = metric.estimate, metric.scale
    if estimate is None or (as_shares and (scale is None or scale[1] <= scale[0])):
        return None
    low, width = (scale[0], scale[1] - scale[0]) if as_shares and scale else (0.0, 1.0)
    return _ShownMean(
        place=number,
        run=step.run,
        line=line,
        value=(estimate.value - low) / width,
        low=None if estimate.low is None else (estimate.low - low) / width,
        high=None if estimate.high is None else (estimate.high - low) / width,
        n=estimate.n,
        changed="; ".join(step.changes),
    )


def _row(point: _ShownMean, *, several: bool) -> list[str]:
    known = point.low is not None and point.high is not None
    ends = value_range(point.low or 0.0, point.high or 0.0) if known else "no interval"
    return [point.run, *([point.line] if several else []), number(point.value), ends, count(point.n)]


def _spec(
    points: Sequence[_ShownMean],
    steps: Sequence[RunStep],
    lines: Sequence[str],
    axis: str,
    scale: tuple[float, float] | None,
) -> Spec:
    across: Spec = {
        "field": "place",
        "type": "quantitative",
        "scale": {"domain": [0.5, len(steps) + 0.5], "nice": False},
        "axis": {"title": "run", "grid": False, "tickMinStep": 1, "format": "d"},
    }
    ends = [end for point in points for end in (point.low, point.high, point.value) if end is not None]
    up: Spec = {"type": "quantitative", "scale": {"domain": axis_ends(ends, scale)}, "title": axis}
    several = 1 < len(lines) <= SHOWN_SYSTEMS
    by_line: Spec = {"field": "line", "type": "nominal", "sort": None, "legend": {"title": None}}
    changed = _changed(steps)
    layers: list[Spec] = [
        *([_marks(changed, across)] if changed else []),
        {
            "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.45},
            "transform": [{"filter": "isValid(datum.low)"}],
            "encoding": {"y": {**up, "field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {"y": {**up, "field": "value"}}},
        {
            "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
            "encoding": {
                "y": {**up, "field": "value"},
                **({"shape": by_line} if several else {}),
                "tooltip": [
                    *_tooltip("run", "line"),
                    *(
                        {"field": name, "type": "quantitative", "format": ".3~f"}
                        for name in ("value", "low", "high")
                    ),
                    *_tooltip("n", "changed"),
                ],
            },
        },
    ]
    grouped = {"color": by_line} if several else {"detail": {"field": "line", "type": "nominal"}}
    return {
        "data": {"values": [msgspec.to_builtins(point) for point in points]},
        "height": HEIGHT,
        "encoding": {"x": across, **grouped},
        "layer": layers,
    }


def _changed(steps: Sequence[RunStep]) -> list[Spec]:
    """Return where settings changed: between the run before and this one, where no interval hides it."""
    return [
        {"place": number - 0.5, "before": step.run, "changed": "; ".join(step.changes)}
        for number, step in enumerate(steps, 1)
        if step.changes
    ]


def _marks(changed: Sequence[Spec], across: Spec) -> Spec:
    return {
        "data": {"values": changed},
        "mark": {"type": "rule", "strokeDash": [4, 4], "strokeWidth": 1.5, "clip": True},
        "encoding": {"x": across, "tooltip": _tooltip("before", "changed")},
    }


def _tooltip(*fields: str) -> list[Spec]:
    return [{"field": name, "type": "nominal"} for name in fields]
