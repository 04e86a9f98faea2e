"""A summary -> the means that lead: for each system that of the judge that says most."""

from ragstone.kernel.agreement.known_cards import is_useless
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.summary import RunSummary

HEADLINE_METRICS = ("correctness", "claims", "faithfulness")  # the first that was judged leads


def headlines(summary: RunSummary) -> list[MetricSummary]:
    """Return one mean for each system: that of the metric that says most, by a language model if by any.

    A model that was measured and is no better than its baseline leads only where nothing else is left.
    """
    return [
        min((m for m in summary.metrics if m.system == system), key=lambda m: _headline_order(m, summary))
        for system in dict.fromkeys(metric.system for metric in summary.metrics)
    ]


def common_headline(summary: RunSummary) -> MetricSummary | None:
    """Return a mean of the judge that says most of those that scored every system; None where there is none.

    The order is that of headlines; the mean is that of the first system.
    """
    systems = {metric.system for metric in summary.metrics}
    scored: dict[tuple[str, str, str], list[MetricSummary]] = {}
    for metric in summary.metrics:
        if metric.estimate is not None:
            scored.setdefault((metric.judge, metric.metric, metric.model), []).append(metric)
    firsts = [rows[0] for rows in scored.values() if {row.system for row in rows} == systems]
    return min(firsts, key=lambda metric: _headline_order(metric, summary), default=None)


def _headline_order(metric: MetricSummary, summary: RunSummary) -> tuple[bool, bool, bool, int]:
    known = metric.metric in HEADLINE_METRICS
    rank = HEADLINE_METRICS.index(metric.metric) if known else len(HEADLINE_METRICS)
    return metric.estimate is None, is_useless(metric, summary.cards), metric.model == NO_MODEL, rank
