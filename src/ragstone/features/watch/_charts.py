"""Courses of metrics -> charts: one for each metric, and small ones for the values of each tag."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from ragstone.features.watch._alarms import Alarm
from ragstone.features.watch._cells import DayCell, Trend, TrendPoint, trends
from ragstone.features.watch._judged import LOG, THUMB, judge_words
from ragstone.features.watch._use import FAILED_CALLS, ApplicationUse
from ragstone.kernel.document.charts import Chart, ChartPanel
from ragstone.kernel.document.numbers import count, number, value_range
from ragstone.kernel.errors import plural
from ragstone.kernel.records import STATUSES
from ragstone.kernel.runs.charts import Spec, band_layers
from ragstone.kernel.runs.wording import statuses

MOST_DAYS, MOST_SMALL_DAYS = 184, 62
"""Days that a chart shows as days; more are shown by weeks."""

SHOWN_VALUES = 12
"""Values of a tag that have a chart: those with the most scored exchanges."""

HEIGHT, SMALL_HEIGHT = 170, 96  # pixels
NARROWEST = 0.2  # that an axis of means spans
USE = {
    "Who asked": ("users", {"Users": "users", "Conversations": "conversations"}),
    "Latency in seconds": ("latency_s", {"Median": "latency_p50", "95th percentile": "latency_p95"}),
    "Tokens per exchange": ("tokens", {"Mean": "tokens"}),
    "Cost in USD": ("cost_usd", {"Sum": "usd"}),
    "Calls of tools that failed": (FAILED_CALLS, {"Share": "failed_share"}),
}
"""Title of a chart of use -> the metric of its alarms, and its lines, as fields of UseOfPeriod."""

EMPTY_HEAD = ("Mean", "95 % interval", "Scored", "Not scored")


def drawn_metrics(best: Mapping[str, str], cells: Iterable[DayCell]) -> list[str]:
    """Return the metrics that have a good end, as they are drawn: those that say most first."""
    there = {cell.metric for cell in cells if cell.n and not cell.tag}
    known = [name for name in FIRST if name in there]
    rest = sorted(name for name in there if name not in FIRST and (name in best or name == THUMB))
    return [*known, *rest]


FIRST = ("faithfulness", "answered", "relevance")


def metric_charts(cells: Sequence[DayCell], metrics: Sequence[str], alarms: Sequence[Alarm]) -> list[Chart]:
    """Return the course of each metric over all exchanges, with its alarms and changes of judge."""
    wanted = set(metrics)
    courses: dict[str, list[Trend]] = {}
    for trend in trends(
        (cell for cell in cells if not cell.tag and cell.metric in wanted), most_days=MOST_DAYS
    ):
        courses.setdefault(trend.metric, []).append(trend)
    return [
        _metric_chart(at, name, courses[name], _marks(alarms, name))
        for at, name in enumerate(metrics)
        if name in courses
    ]


def _metric_chart(at: int, name: str, courses: Sequence[Trend], marks: list[Spec]) -> Chart:
    days = [point.day for course in courses for point in course.points]
    text = f"{name} by {courses[0].span}, {min(days)} to {max(days)}, with 95 % intervals"
    raised = sum(mark["what"] == "alarm" for mark in marks)
    description = f"{text}; {plural(raised, 'alarm')} marked." if raised else f"{text}."
    several = len({course.judge for course in courses}) > 1
    rows = [
        [_day(point.day, course.span), *([judge_words(course.judge)] if several else []), *_cells(point)]
        for course in courses
        for point in course.points
    ]
    head = [courses[0].span.capitalize(), *(["Judge"] if several else []), *EMPTY_HEAD]
    spec = _spec(courses, marks, domain=_domain(courses), height=HEIGHT)
    return Chart(name=f"trend-{at}", title=name, said=description, spec=spec, head=head, rows=rows)


def tag_panels(
    cells: Sequence[DayCell], metrics: Sequence[str], tags: Sequence[str], alarms: Sequence[Alarm]
) -> list[ChartPanel]:
    """Return a panel for each metric and each tag of which two values or more were scored."""
    wanted, largest = set(metrics), _largest(cells, tags)
    courses: dict[tuple[str, str], dict[str, list[Trend]]] = {}
    chosen = (
        cell
        for cell in cells
        if cell.tag and cell.metric in wanted and cell.value in largest.get(cell.tag, ((), 0))[0]
    )
    for trend in trends(chosen, most_days=MOST_SMALL_DAYS):
        courses.setdefault((trend.metric, trend.tag), {}).setdefault(trend.value, []).append(trend)
    return [
        _panel(f"by-{at}-{tag_rank}", courses[metric, tag], largest[tag], _marks(alarms, metric, tag))
        for at, metric in enumerate(metrics)
        for tag_rank, tag in enumerate(tags)
        if len(courses.get((metric, tag), ())) > 1
    ]


def _largest(cells: Sequence[DayCell], tags: Sequence[str]) -> dict[str, tuple[list[str], int]]:
    """Return the values of each tag that are shown, the largest first, and how many are not."""
    sizes: dict[str, Counter[str]] = {tag: Counter() for tag in tags}
    for cell in cells:
        if cell.tag in sizes:
            sizes[cell.tag][cell.value] += cell.n
    return {
        tag: ([value for value, _ in counter.most_common(SHOWN_VALUES)], max(0, len(counter) - SHOWN_VALUES))
        for tag, counter in sizes.items()
    }


def _panel(
    name: str, courses: Mapping[str, list[Trend]], chosen: tuple[list[str], int], marks: list[Spec]
) -> ChartPanel:
    values = [value for value in chosen[0] if value in courses]
    every = [course for value in values for course in courses[value]]
    spans = {course.span for course in every}
    domain, span = _domain(every), spans.pop() if len(spans) == 1 else "day or week"
    charts = []
    for at, value in enumerate(values):
        own = [mark for mark in marks if mark["value"] in ("", value)]
        points = [point for course in courses[value] for point in course.points]
        spec = _spec(courses[value], own, domain=domain, height=SMALL_HEIGHT, small=True)
        n = f"{count(sum(point.n for point in points))} scored"
        description = f"{every[0].metric} of {every[0].tag} {value}, by {courses[value][0].span}."
        title = f"{name}-{at}"
        charts.append(
            (value, n, Chart(name=title, title=value, said=description, spec=spec, head=[], rows=[]))
        )
    return ChartPanel(
        metric=every[0].metric,
        tag=every[0].tag,
        span=span,
        charts=charts,
        head=[span.capitalize(), *values],
        rows=_table(values, courses),
        more=chosen[1],
    )


def _table(values: Sequence[str], courses: Mapping[str, list[Trend]]) -> list[list[str]]:
    """Return the means of every day or week, a column for each value; of several judges the last one's."""
    by_day = {
        value: {point.day: point for course in courses[value] for point in course.points if point.n}
        for value in values
    }
    days = sorted({day for points in by_day.values() for day in points})
    return [[day.isoformat(), *(_brief(by_day[value].get(day)) for value in values)] for day in days]


def _brief(point: TrendPoint | None) -> str:
    return "" if point is None or point.mean is None else f"{number(point.mean)} of {count(point.n)}"


def _cells(point: TrendPoint) -> list[str]:
    counts = {status: point.statuses[status] for status in STATUSES if status in point.statuses}
    ends = "" if point.low is None or point.high is None else value_range(point.low, point.high)
    mean = "" if point.mean is None else number(point.mean)
    return [mean, ends, count(point.n), statuses(counts)]


def _day(day: date, span: str) -> str:
    return f"week of {day.isoformat()}" if span == "week" else day.isoformat()


def _domain(courses: Sequence[Trend]) -> list[float]:
    """Return the ends of the axis: so near that a few points can be seen, and never beyond 0 and 1.

    Means decide, not the intervals of thin days, of which one would flatten everything else.
    """
    means = [point.mean for course in courses for point in course.points if point.mean is not None]
    low, high = min(means, default=0.0) - 0.02, max(means, default=1.0) + 0.02
    missing = max(0.0, NARROWEST - (high - low))
    low, high = max(0.0, low - missing / 2), min(1.0, high + missing / 2)
    return [round(max(0.0, min(low, high - NARROWEST)), 3), round(min(1.0, max(high, low + NARROWEST)), 3)]


def _marks(alarms: Sequence[Alarm], metric: str, tag: str = "") -> list[Spec]:
    """Return the days on which something changed: an alarm at its estimated day, or another judge."""
    marks: dict[tuple[date, str, str], Spec] = {}
    for alarm in (each for raised in alarms for each in (raised, *raised.beneath)):
        if alarm.metric == metric and alarm.tag in ("", tag):
            what = "judge" if alarm.how in ("named", "canaries") else "alarm"
            key = (alarm.since, what, alarm.value)
            marks[key] = {"d": alarm.since.isoformat(), "what": what, "value": alarm.value}
    return [marks[key] for key in sorted(marks)]


def _spec(
    courses: Sequence[Trend],
    marks: Sequence[Spec],
    *,
    domain: Sequence[float],
    height: int,
    small: bool = False,
) -> Spec:
    several = len({course.judge for course in courses}) > 1
    across = _across(small=small)
    up: dict[str, Any] = {
        "type": "quantitative",
        "scale": {"domain": domain, "clamp": True},
        "axis": {"title": None, "tickCount": 3},
    }
    who = {"color": {"field": "j", "type": "nominal", "legend": {"title": None}}} if several else {}
    layers = band_layers(up, _tooltip(), size=14 if small else 22, shape={})
    layers += [
        _rule(marks, what, across) for what in ("alarm", "judge") if any(m["what"] == what for m in marks)
    ]
    return {
        "data": {"values": [value for course in courses for value in _values(course, several=several)]},
        "height": height,
        "encoding": {"x": across, **who},
        "layer": layers,
    }


def _across(*, small: bool = False) -> dict[str, Any]:
    """Return the axis of time."""
    return {
        "field": "d",
        "type": "temporal",
        "scale": {"type": "utc"},
        "axis": {"title": None, "format": "%-d %b", "tickCount": 3 if small else 6, "grid": False},
    }


def use_charts(use: ApplicationUse, alarms: Sequence[Alarm]) -> list[Chart]:
    """Return the course of who asked, and of what answers took; what the log does not tell has none."""
    return [
        _use_chart(f"use-{at}", title, known, use, _marks(of_log, metric))
        for of_log in [[alarm for alarm in alarms if alarm.judge == LOG]]
        for at, (title, (metric, lines)) in enumerate(USE.items())
        if (
            known := {
                label: field
                for label, field in lines.items()
                if any(getattr(period, field) is not None for period in use.periods)
            }
        )
    ]


def _use_chart(
    name: str, title: str, lines: Mapping[str, str], use: ApplicationUse, marks: list[Spec]
) -> Chart:
    values = [
        {"d": period.day.isoformat(), "v": round(value, 6), "s": label}
        for label, field in lines.items()
        for period in use.periods
        if (value := getattr(period, field)) is not None
    ]
    up = {
        "field": "v",
        "type": "quantitative",
        "scale": {"zero": True},
        "axis": {"title": None, "tickCount": 3},
    }
    legend = {"title": None} if len(lines) > 1 else None
    course = {"x": _across(), "y": up, "color": {"field": "s", "type": "nominal", "legend": legend}}
    spec: Spec = {
        "data": {"values": values},
        "height": HEIGHT,
        "layer": [
            {"mark": {"type": "line", "strokeWidth": 1.5, "point": True}, "encoding": course},
            *([_rule(marks, "alarm", _across())] if marks else []),
        ],
    }
    rows = [
        [
            _day(period.day, use.span),
            *("" if value is None else f"{value:,.6g}" for value in values_of),
            count(period.n),
        ]
        for period in use.periods
        for values_of in [[getattr(period, field) for field in lines.values()]]
    ]
    marked = f"; {plural(len(marks), 'alarm')} marked" if marks else ""
    description = f"{title} by {use.span}, {use.periods[0].day} to {use.periods[-1].day}{marked}."
    return Chart(
        name=name,
        title=title,
        said=description,
        spec=spec,
        head=[use.span.capitalize(), *lines, "Exchanges"],
        rows=rows,
    )


def _tooltip() -> list[Spec]:
    fields: list[Spec] = [{"field": "d", "type": "temporal", "timeUnit": "utcyearmonthdate", "title": "from"}]
    for name, title in (("m", "mean"), ("l", "low"), ("h", "high")):
        fields.append({"field": name, "type": "quantitative", "format": ".3~f", "title": title})
    fields.append({"field": "n", "type": "quantitative", "title": "scored"})
    return fields


def _rule(marks: Sequence[Spec], what: str, across: Spec) -> Spec:
    drawn = {"strokeWidth": 3} if what == "alarm" else {"strokeWidth": 1.5, "strokeDash": [4, 3]}
    tooltip = [{"field": "what", "type": "nominal", "title": "changed"}]
    return {
        "data": {"values": [mark for mark in marks if mark["what"] == what]},
        "mark": {"type": "rule", **drawn},
        "encoding": {"x": across, "tooltip": tooltip},
    }


def _values(course: Trend, *, several: bool) -> list[Spec]:
    who = {"j": judge_words(course.judge)} if several else {}
    return [
        {"d": point.day.isoformat(), "m": _short(point.mean), "l": low, "h": high, "n": point.n, **who}
        for point in course.points
        if point.mean is not None
        for low, high in [(_short(point.low), _short(point.high))]
    ]


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
