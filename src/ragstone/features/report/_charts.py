"""The charts of a report: means, tags, how scores lie, agreement with people."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.agreement.card import ReportCard, chance_corrected
from ragstone.kernel.document.blocks import Chart
from ragstone.kernel.document.numbers import count, number
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.runs.breakdown import Distribution, GroupedMeans
from ragstone.kernel.runs.charts import SHOWN_SYSTEMS, Spec
from ragstone.kernel.runs.wording import judge_name


class Interval(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a chart of means: what it is of, its group (a system), and its value and interval."""

    label: str
    group: str
    value: float
    low: float | None
    high: float | None
    n: int


def means_chart(metrics: Sequence[MetricSummary]) -> Chart | None:
    """Return every judge's mean as a share of its scale, with its interval; None of fewer than two."""
    lines = [line for metric in metrics if (line := _on_scale(metric, judge_name(metric)))]
    if len(lines) < 2:
        return None
    return _intervals(
        "means",
        "Mean scores, with their intervals",
        lines,
        axis="share of the scale",
        of="Judge",
    )


def tag_charts(
    groupings: Sequence[GroupedMeans], leads: Sequence[MetricSummary]
) -> list[tuple[GroupedMeans, Chart]]:
    """Return each grouping with the chart of the headline means in its groups."""
    keys = {(lead.system, lead.judge, lead.metric, lead.model) for lead in leads}
    charts = []
    for at, grouping in enumerate(groupings):
        lines = [
            line
            for value, metrics in grouping.groups.items()
            for metric in metrics
            if (metric.system, metric.judge, metric.metric, metric.model) in keys
            if (line := _on_scale(metric, value))
        ]
        largest = _largest(lines)
        if largest:
            judges = " / ".join(dict.fromkeys(judge_name(lead) for lead in leads))
            title = f"{judges} by {grouping.by}"
            chart = _intervals(f"tag-{at}", title, largest, axis="share of the scale", of=grouping.by)
            charts.append((grouping, chart))
    return charts


def distribution_chart(distributions: Sequence[Distribution]) -> Chart | None:
    """Return how many rows have each score, as shares of each judge's rows; None where nothing was scored."""
    several = len({each.system for each in distributions}) > 1
    first = {
        key: at for at, key in enumerate(dict.fromkeys((each.judge, each.metric) for each in distributions))
    }
    ordered = sorted(distributions, key=lambda each: first[each.judge, each.metric])
    values = [
        value
        for each in ordered
        for value in _bin_values(each, f"{judge_name(each)} · {each.system}" if several else judge_name(each))
    ]
    if not values:
        return None
    position = {"field": "place", "type": "quantitative"}
    legend = {
        "title": "lowest to highest score",
        "values": [0, 1],
        "labelExpr": "datum.value ? 'highest' : 'lowest'",
    }
    share = {"format": "%", "title": "share of the scored rows"}
    spec = {
        "data": {"values": values},
        "height": {"step": STEP},
        "mark": {"type": "bar"},
        "encoding": {
            "y": {**_lines_axis(), "field": "label"},
            "x": {
                "field": "share",
                "type": "quantitative",
                "stack": "zero",
                "scale": {"domain": [0, 1]},
                "axis": share,
            },
            "color": {
                **position,
                "scale": {"domain": [0, 1], "range": "ramp", "interpolate": "rgb"},
                "legend": legend,
            },
            "order": position,
            "tooltip": _tooltip("label", "score", "n"),
        },
    }
    return Chart(
        name="distribution",
        title="How scores are distributed",
        said=f"Bars of the scores of {plural(len(distributions), 'judge')}, from the lowest to the highest.",
        spec=spec,
        head=["Judge", "Score", "Rows"],
        rows=[[value["label"], value["score"], count(value["n"])] for value in values],
    )


def _bin_values(distribution: Distribution, label: str) -> list[Spec]:
    """Return a value of the chart for each bin; place: of its middle on the scale, 0 to 1."""
    total = sum(each.n for each in distribution.bins)
    low, width = distribution.bins[0].low, distribution.bins[-1].high - distribution.bins[0].low or 1.0
    return [
        {
            "label": label,
            "score": f"{each.low:.3g}" if each.low == each.high else f"{each.low:.3g} to {each.high:.3g}",
            "place": ((each.low + each.high) / 2 - low) / width,
            "share": each.n / total,
            "n": each.n,
        }
        for each in distribution.bins
    ]


def agreement_chart(cards: Sequence[ReportCard]) -> Chart | None:
    """Return each judge's kappa, then its exact agreement beside its rivals'; None where no card has one."""
    lines = [line for card in cards for line in _agreements(card)]
    if not lines:
        return None
    axis = "kappa: 0 is chance; exact agreement: share of answers given the same grade"
    return _intervals("agreement", "Agreement with people", lines, axis=axis, of="Judge")


def _on_scale(metric: MetricSummary, label: str) -> Interval | None:
    """Return a mean as a share of its scale; None without a mean or a scale."""
    estimate, scale = metric.estimate, metric.scale
    if estimate is None or scale is None or scale[1] <= scale[0]:
        return None
    low, width = scale[0], scale[1] - scale[0]
    return Interval(
        label=label,
        group=metric.system,
        value=(estimate.value - low) / width,
        low=None if estimate.low is None else (estimate.low - low) / width,
        high=None if estimate.high is None else (estimate.high - low) / width,
        n=estimate.n,
    )


def _agreements(card: ReportCard) -> list[Interval]:
    mine, beyond = card.agreement.get("exact agreement"), chance_corrected(card.agreement)
    others = [(rival.name, rival.exact_agreement) for rival in (card.constant, card.no_model) if rival]
    if card.humans:
        others.append(("people among themselves", card.humans.exact_agreement))
    if mine is None:
        return []
    judge = f"{judge_name(card)} ({card.model})"
    first = [(f"{beyond[0]} of {judge}", beyond[1])] if beyond else []
    estimates = [*first, (f"exact agreement of {judge}", mine), *others]
    return [
        Interval(
            label=name,
            group=judge_name(card),
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            n=estimate.n,
        )
        for name, estimate in estimates
    ]


def _intervals(name: str, title: str, lines: Sequence[Interval], *, axis: str, of: str) -> Chart:
    groups = list(dict.fromkeys(line.group for line in lines))
    several = 1 < len(groups) <= SHOWN_SYSTEMS
    offset = {"yOffset": {"field": "group", "type": "nominal", "sort": None}} if several else {}
    shared = {"y": {**_lines_axis(), "field": "label"}, **offset, **_colour(groups)}
    least = min((end for line in lines for end in (line.value, line.low) if end is not None), default=0.0)
    across = {"type": "quantitative", "scale": {"domain": [min(0, least), 1]}, "title": axis}
    spec = {
        "data": {"values": [msgspec.to_builtins(line) for line in lines]},
        "height": {"step": STEP / 2, "for": "offset"} if several else {"step": STEP},
        "encoding": shared,
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.45},
                "transform": [{"filter": "isValid(datum.low)"}],
                "encoding": {"x": {**across, "field": "low"}, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
                "encoding": {
                    "x": {**across, "field": "value"},
                    **_shape(groups),
                    "tooltip": _tooltip("label", "group", "value", "low", "high", "n"),
                },
            },
        ],
    }
    head = [of, *(["System"] if len(groups) > 1 else []), "Mean", "Interval", "Rows"]
    return Chart(
        name=name,
        title=title,
        said=f"{plural(len(lines), 'mean')} with intervals, on one axis: {axis}.",
        spec=spec,
        head=head,
        rows=[_row(line, several_groups=len(groups) > 1) for line in lines],
    )


def _row(line: Interval, *, several_groups: bool) -> list[str]:
    known = line.low is not None and line.high is not None
    ends = f"{number(line.low or 0.0)} to {number(line.high or 0.0)}" if known else "no interval"
    return [line.label, *([line.group] if several_groups else []), number(line.value), ends, count(line.n)]


def _largest(lines: Sequence[Interval]) -> list[Interval]:
    """Return the lines of the SHOWN_VALUES labels with the most rows, in the order they came."""
    sizes: dict[str, int] = {}
    for line in lines:
        sizes[line.label] = max(sizes.get(line.label, 0), line.n)
    largest = set(sorted(sizes, key=lambda label: -sizes[label])[:SHOWN_VALUES])
    return [line for line in lines if line.label in largest]


def _lines_axis() -> Spec:
    return {"type": "nominal", "sort": None, "axis": {"title": None, "ticks": False}}


def _colour(groups: Sequence[str]) -> Spec:
    return {"color": _by_group()} if 1 < len(set(groups)) <= SHOWN_SYSTEMS else {}


def _shape(groups: Sequence[str]) -> Spec:
    """Return the shapes that go with the colours, for who cannot tell these apart."""
    return {"shape": _by_group()} if 1 < len(set(groups)) <= SHOWN_SYSTEMS else {}


def _by_group() -> Spec:
    return {"field": "group", "type": "nominal", "sort": None, "legend": {"title": None}}


def _tooltip(*fields: str) -> list[Spec]:
    return [
        {"field": name, "format": ".3~f", "type": "quantitative"}
        if name in {"value", "low", "high"}
        else {"field": name, "type": "nominal"}
        for name in fields
    ]


STEP = 26  # pixels a line


SHOWN_VALUES = 30  # values of a tag in one chart: of more, those with the most rows
