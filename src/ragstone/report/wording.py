"""Numbers, statuses and costs in words, the same on the page and in the terminal."""

from collections.abc import Mapping

from ragstone.agreement import ReportCard
from ragstone.judging.summary import MetricSummary
from ragstone.records import Status
from ragstone.report.summary import Calls, RunSummary
from ragstone.retrieval import RetrievalSummary
from ragstone.statistics import Estimate

STATUS_WORDS: dict[Status, str] = {
    "scored": "scored",
    "not_applicable": "not applicable",
    "abstained": "abstained",
    "refused": "refused",
    "unparsable": "unparsable",
    "timeout": "timed out",
    "rate_limited": "rate limited",
    "over_budget": "over budget",
    "app_error": "application failed",
    "error": "error",
}

NO_MODEL = "none"  # the `model` of a judge that asks no language model: a baseline


def number(value: float) -> str:
    """Return a value with two decimals, one from 20 on, with a true minus sign."""
    text = f"{value:.1f}" if abs(value) >= 20 else f"{value:.2f}"
    return text.replace("-", "−")


def count(n: int) -> str:
    """Return a whole number with its thousands set apart."""
    return f"{n:,}"


def plural(n: int, noun: str) -> str:
    """Return `1 answer`, `2 answers`."""
    return f"{count(n)} {noun}{'' if n == 1 else 's'}"


def interval(estimate: Estimate) -> str:
    """Return the interval's ends, without its level."""
    return f"{number(estimate.low)} to {number(estimate.high)}"


def level(estimate: Estimate) -> str:
    """Return the level of an interval, as `95 %`."""
    return f"{estimate.level * 100:g} %"


def with_level(estimate: Estimate | None) -> str:
    """Return `95 % interval 0.68 to 0.76`, empty where there is no estimate."""
    return f"{level(estimate)} interval {interval(estimate)}" if estimate else ""


def scale(metric: MetricSummary) -> str:
    """Return the scale in words, empty where it is unknown."""
    return f"{metric.scale[0]:g} to {metric.scale[1]:g}" if metric.scale else ""


def n_scored(metric: MetricSummary) -> int:
    """Return the denominator of the mean."""
    return metric.statuses.get("scored", 0)


def denominator(metric: MetricSummary) -> str:
    """Return `358 scored of 365 rows`."""
    return f"{count(n_scored(metric))} scored of {plural(metric.n_rows, 'row')}"


def statuses(counts: Mapping[Status, int]) -> str:
    """Return every status but `scored` with its count, empty where there is none."""
    return ", ".join(
        f"{count(counts[status])} {words}"
        for status, words in STATUS_WORDS.items()
        if status != "scored" and counts.get(status)
    )


def measured(row: RetrievalSummary) -> str:
    """Return how many questions a retriever was measured on, and how many were left out and why."""
    left_out = {
        "without a relevant document named": row.n_unlabelled,
        "unanswerable": row.n_unanswerable,
        "without a ranking": row.n_unranked,
    }
    reasons = ", ".join(f"{count(n)} {reason}" for reason, n in left_out.items() if n)
    return plural(row.n_questions, "question") + (f"; left out: {reasons}" if reasons else "")


def judge_name(row: MetricSummary | ReportCard) -> str:
    """Return the judge, with its metric where that has another name."""
    return row.judge if row.judge == row.metric else f"{row.judge}: {row.metric}"


def card_of(metric: MetricSummary, summary: RunSummary) -> ReportCard | None:
    """Return the report card of the judge behind a mean, None where nobody has measured it."""
    cards = (
        c
        for c in summary.cards
        if (c.judge, c.metric, c.model) == (metric.judge, metric.metric, metric.model)
    )
    return next(cards, None)


def caution(metric: MetricSummary, summary: RunSummary) -> str | None:
    """Return why a judge's scores should not be relied on, None where nothing speaks against them."""
    card = card_of(metric, summary)
    return "no better than its baseline" if card and not card.better_than_baseline else None


def agreement(card: ReportCard) -> str:
    """Return a judge's agreement with people, with its interval, on one line."""
    name, estimate = next(iter(card.agreement.items()))
    return f"{name} {number(estimate.value)} ({interval(estimate)})"


def counted(counts: Mapping[str, int]) -> str:
    """Return the rows of each kind, as `365 questions · 365 answers`."""
    return " · ".join(f"{count(n)} {kind}" for kind, n in counts.items() if n)


def calls_line(calls: Calls) -> str:
    """Return how many calls were made, answered from the ledger, and failed."""
    n_failed = sum(calls.failed.values())
    return f"{count(calls.made)} made, {count(calls.from_ledger)} from the ledger, {count(n_failed)} failed"


def tokens_line(calls: Calls) -> str:
    """Return the tokens in and out."""
    cached = f" ({count(calls.usage.cached)} cached)" if calls.usage.cached else ""
    return f"{count(calls.usage.input)} in{cached}, {count(calls.usage.output)} out"


def cost(calls: Calls) -> str:
    """Return what the calls cost; an unknown price is said to be unknown, and is never 0."""
    if calls.cost_usd is not None:
        return f"{calls.cost_usd:.4f} USD" if calls.cost_usd < 1 else f"{calls.cost_usd:,.2f} USD"
    if calls.made + calls.from_ledger == 0:
        return "nothing: no model was called"
    return "unknown: a model has no price in ragstone.toml"
