"""A comparison -> whether a pipeline may go on: decision 24."""

from collections.abc import Sequence

from ragstone.errors import DataError
from ragstone.experiments.compared import Gate, GatedMetric, MetricComparison, Outcome

# The least favourable first: it decides.
ORDER: tuple[Outcome, ...] = ("failed", "cannot tell", "passed")


def gate_of(metrics: Sequence[MetricComparison], margin: float | None) -> Gate:
    """Return what is let pass: B where it is better or unchanged or, with a margin, not worse by more.

    margin: share of the scale's width. Every metric has to pass, so each is looked at on its own and no
    correction is needed for the passing (an intersection-union test, Berger 1982); "worse" is corrected by
    Holm. Raises DataError for a margin on a metric without a scale.
    """
    gated = [_gated(metric, margin) for metric in metrics]
    outcome = next(outcome for outcome in ORDER if any(one.outcome == outcome for one in gated))
    return Gate(outcome=outcome, margin=margin, metrics=gated)


def _gated(metric: MetricComparison, margin: float | None) -> GatedMetric:
    outcome, because = _decided(metric, margin)
    return GatedMetric(
        judge=metric.judge, metric=metric.metric, system=metric.b.system, outcome=outcome, because=because
    )


def _decided(metric: MetricComparison, margin: float | None) -> tuple[Outcome, str]:
    if metric.by_application:
        return "failed", "the application fails on more questions than before"
    if metric.same_answers:
        return "passed", "every answer is the same as before"
    within = margin is not None and _low(metric) > -margin * _width(metric)
    if metric.verdict == "worse" and not within:
        shown = "" if margin is None else ", and not shown to be within the margin"
        return "failed", f"worse{shown}"
    if metric.loses_more:
        return "cannot tell", (
            f"{metric.lost:,} questions that had a score have none now, against {metric.gained:,} the other "
            "way: those left may be the easier ones"
        )
    if within:
        return "passed", "not worse by more than the margin"
    if metric.verdict == "better":
        return "passed", "better"
    if metric.n_changed == 0:
        return "passed", "no score has changed"
    return "cannot tell", "neither better nor worse is shown" if margin is None else "it may be worse by more"


def _low(metric: MetricComparison) -> float:
    """Return the least that the difference may be; minus infinity where nothing bounds it."""
    low = metric.difference.low
    return float("-inf") if low is None else low


def _width(metric: MetricComparison) -> float:
    if metric.scale is None:
        raise DataError(
            f"{metric.judge}: its judgements state no scale, so a margin has no unit. Judge again by one "
            "that has a scale, or leave the margin out."
        )
    return metric.scale[1] - metric.scale[0]
