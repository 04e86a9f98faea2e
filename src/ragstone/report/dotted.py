"""Summaries -> the charts that a notebook shows of them: which of their numbers, under which names."""

from collections.abc import Iterable, Sequence

from ragstone.dataset.certifying.certificate import Certificate
from ragstone.judging.summary import MetricSummary
from ragstone.report.certificate_words import bars
from ragstone.report.dots import Dot, Dots, dot
from ragstone.report.summary import RunSummary
from ragstone.report.wording import judge_name
from ragstone.retrieval.summary import RetrievalSummary

UNIT = (0.0, 1.0)
RANKS = ("hit@1", "hit@5", "mrr", "ndcg@10")  # of a retriever, those that say most


def metric_dots(metrics: Iterable[MetricSummary]) -> list[Dots]:
    """Return the means of judges, a chart for each scale, coloured by system or, of one system, by model."""
    scored = [metric for metric in metrics if metric.estimate]
    several = len({metric.system for metric in scored}) > 1
    charts = []
    for scale in dict.fromkeys(metric.scale for metric in scored):
        ends = scale or UNIT
        dots = [
            dot(judge_name(metric), metric.estimate, metric.system if several else metric.model)
            for metric in scored
            if metric.scale == scale and metric.estimate
        ]
        title = f"Means with {_level(scored)} intervals, from {ends[0]:g} to {ends[1]:g}"
        charts.append(Dots(title=title, dots=dots, ends=ends))
    return charts


def _level(metrics: Sequence[MetricSummary]) -> str:
    return next(f"{metric.estimate.level * 100:g} %" for metric in metrics if metric.estimate)


def retrieval_dots(rows: Iterable[RetrievalSummary]) -> list[Dots]:
    """Return a few rank measures of each retriever."""
    dots = [
        dot(name, row.measures[name], row.retriever)
        for row in rows
        for name in (*RANKS, *row.measures)[: len(RANKS)]
        if name in row.measures
    ]
    return [Dots(title="Rank measures", dots=dots)] if dots else []


def run_dots(summary: RunSummary) -> list[Dots]:
    """Return the means of the judges, then what retrieval found."""
    return [*metric_dots(summary.metrics), *retrieval_dots(summary.retrieval)]


def certificate_dots(certificate: Certificate) -> list[Dots]:
    """Return how many questions were left after each step."""
    dots = [Dot(name=bar.label, value=bar.n) for bar in bars(certificate)]
    most = max((one.value for one in dots), default=0.0)
    return [Dots(title="Questions left after each step", dots=dots, ends=(0.0, most or 1.0))]
