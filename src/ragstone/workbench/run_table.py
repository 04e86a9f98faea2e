"""Runs -> the table of their list: what differs in their settings, their means, what they cost; sorted."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ragstone.kernel.document.numbers import count, interval, one_line, usd
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.headlines import HEADLINE_METRICS
from ragstone.kernel.runs.wording import judge_name, mean_text, n_scored, statuses
from ragstone.kernel.serve.runs import RunEntry

FEW_SETTINGS, FEW_METRICS = 3, 3  # columns of each, where not all are asked for
MOST_METRICS = 5  # with those of runs that have none of the few
MOST_SYSTEMS = 3  # of a run, in a cell
LONGEST_SETTING = 60
NEWEST = "-made"


class RunColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A column. key: how an address names it. head: its words; numeric: it is set to the right."""

    key: str
    head: str
    numeric: bool = False


class MeanShown(msgspec.Struct, frozen=True, kw_only=True):
    """A mean in a cell. system: where the run has several. rests_on: `97 scored, 3 timed out`."""

    system: str
    value: str
    ends: str
    rests_on: str


class RunTable(msgspec.Struct, frozen=True, kw_only=True):
    """Runs in order, and the columns between their names and their cost. n_more: columns left out."""

    entries: list[RunEntry]
    settings: list[RunColumn]
    metrics: list[RunColumn]
    n_more: int


def run_table(entries: Sequence[RunEntry], order: str, *, whole: bool) -> RunTable:
    """Return the runs sorted by a column. order: the key of that, after a minus from high to low.

    whole: with every setting and every metric; else those settings that differ between these runs, and of
    both as many as a page has room for. Raises DataError for an order that there is not.
    """
    settings = setting_columns(entries, differing=not whole)
    metrics = metric_columns(entries)
    few_settings = settings if whole else settings[:FEW_SETTINGS]
    few_metrics = metrics if whole else _covering(metrics, entries)
    return RunTable(
        entries=in_order(entries, order),
        settings=few_settings,
        metrics=few_metrics,
        n_more=len(settings) + len(metrics) - len(few_settings) - len(few_metrics),
    )


def _covering(metrics: list[RunColumn], entries: Sequence[RunEntry]) -> list[RunColumn]:
    """Return the first few columns, and the best of each run that has no mean in those before."""
    few = metrics[:FEW_METRICS]
    for entry in entries:
        if len(few) == MOST_METRICS:
            break
        if not any(means_of(entry, column) for column in few):
            few += [column for column in metrics if means_of(entry, column)][:1]
    return few


def setting_columns(entries: Iterable[RunEntry], *, differing: bool) -> list[RunColumn]:
    """Return the settings of some runs, or those alone that not all of them share, as columns."""
    known = [entry for entry in entries if entry.settings]
    names = dict.fromkeys(name for entry in known for name in entry.settings)
    different = [
        name for name in names if not differing or len({_identity(entry, name) for entry in known}) > 1
    ]
    return [RunColumn(key=f"setting {name}", head=name) for name in different]


def _identity(entry: RunEntry, name: str) -> str | None:
    setting = entry.settings.get(name)
    return setting and (setting.identity or setting.words)


def format_setting(entry: RunEntry, column: RunColumn, others: Iterable[RunEntry]) -> str:
    """Return a setting of a run in words; with the digest where another run has the same words."""
    name = column.key.partition(" ")[2]
    setting = entry.settings.get(name)
    if setting is None:
        return ""
    alike = {
        _identity(other, name)
        for other in others
        if name in other.settings and other.settings[name].words == setting.words
    }
    text = one_line(setting.words, LONGEST_SETTING)
    return f"{text} ({setting.identity[:8]})" if len(alike) > 1 else text


def metric_columns(entries: Iterable[RunEntry]) -> list[RunColumn]:
    """Return the judges of some runs: those of most runs first, then those that say most."""
    by_metric: dict[str, list[MetricSummary]] = {}
    for entry in entries:
        for key, metric in {metric_key(metric): metric for metric in entry.metrics}.items():
            by_metric.setdefault(key, []).append(metric)

    def rank(key: str) -> tuple[int, bool, int]:
        first = by_metric[key][0]
        known = first.metric in HEADLINE_METRICS
        rank_of = HEADLINE_METRICS.index(first.metric) if known else len(HEADLINE_METRICS)
        return -len(by_metric[key]), all(mean.model == NO_MODEL for mean in by_metric[key]), rank_of

    return [
        RunColumn(key=f"metric {key}", head=judge_name(by_metric[key][0]), numeric=True)
        for key in sorted(by_metric, key=rank)
    ]


def metric_key(metric: MetricSummary) -> str:
    """Return how an address names a judge and its metric."""
    return f"{metric.judge}|{metric.metric}"


def means_of(entry: RunEntry, column: RunColumn) -> list[MetricSummary]:
    """Return the means of a column: one for each system, and for each model that its judge asked."""
    name = column.key.partition(" ")[2]
    return [metric for metric in entry.metrics if metric_key(metric) == name]


def format_means(entry: RunEntry, column: RunColumn) -> list[MeanShown]:
    """Return the means of a cell, of many systems the first ones."""
    means = means_of(entry, column)
    texts = [
        MeanShown(
            system=who_answered(metric, means),
            value=mean_text(metric, "no score"),
            ends=interval(metric.estimate) if metric.estimate else "",
            rests_on=", ".join(
                filter(None, [f"{count(n_scored(metric))} scored", statuses(metric.statuses)])
            ),
        )
        for metric in means[:MOST_SYSTEMS]
    ]
    more = len(means) - len(texts)
    return [
        *texts,
        *([MeanShown(system="", value="", ends="", rests_on=f"and {count(more)} more")] if more else []),
    ]


def who_answered(metric: MetricSummary, among: Sequence[MetricSummary]) -> str:
    """Return the system of a mean, and the judge's model, as far as others beside it have another one."""
    named = [
        name
        for name, several in (
            (metric.system, len({mean.system for mean in among}) > 1),
            (metric.model, len({mean.model for mean in among}) > 1),
        )
        if several
    ]
    return " · ".join(named)


def format_cost(entry: RunEntry) -> str:
    """Return what a run's calls cost; an unknown price is said to be unknown."""
    calls = entry.calls
    if calls is None:
        return ""
    if calls.made + calls.from_ledger == 0:
        return "no calls"
    return "unknown" if calls.cost_usd is None else usd(calls.cost_usd)


def in_order(entries: Sequence[RunEntry], order: str) -> list[RunEntry]:
    """Return the runs by the column that the order names; those without a value come last."""
    key = order.removeprefix("-")
    what, _, name = key.partition(" ")
    values: dict[str, Callable[[RunEntry], Any]] = {
        "name": lambda entry: entry.name.casefold(),
        "made": lambda entry: entry.made,
        "questions": lambda entry: entry.counts.get("questions"),
        "cost": lambda entry: entry.calls and entry.calls.cost_usd,
        "setting": lambda entry: (name in entry.settings and _comparable(entry.settings[name].words)) or None,
        "metric": lambda entry: _first_mean(entry, name),
    }
    if what not in values or bool(name) != (what in ("setting", "metric")):
        raise DataError(f"There is no order {order!r}. Click a heading to sort.")
    by_name = sorted(entries, key=lambda entry: entry.name.casefold())
    known = [entry for entry in by_name if values[what](entry) is not None]
    unknown = [entry for entry in by_name if values[what](entry) is None]
    return [*sorted(known, key=values[what], reverse=order.startswith("-")), *unknown]


def _comparable(text: str) -> tuple[int, float, str]:
    """Return what a setting is sorted by: numbers as numbers, before texts."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    return (0, value, "") if math.isfinite(value) else (1, 0.0, text.casefold())


def _first_mean(entry: RunEntry, key: str) -> float | None:
    return next(
        (metric.estimate.value for metric in entry.metrics if metric_key(metric) == key and metric.estimate),
        None,
    )
