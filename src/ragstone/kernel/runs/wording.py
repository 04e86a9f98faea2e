"""Numbers, statuses and costs in words, the same on the page and in the terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import UNSET

from ragstone.kernel.agreement.known_cards import card_of
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.document.numbers import count, number, numbers, percent, usd, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import BOUNDS_FROM, MetricSummary, n_failed_rows
from ragstone.kernel.judging.tuned import made_with
from ragstone.kernel.records import STATUS_WORDS, Status, status_counts
from ragstone.kernel.runs.summary import Calls, RunSummary
from ragstone.kernel.statistics import Estimate

if TYPE_CHECKING:
    from ragstone.kernel.agreement.card import ReportCard
    from ragstone.kernel.agreement.corrected_mean import CorrectedMean
    from ragstone.kernel.retrieval.summary import RetrievalSummary
    from ragstone.kernel.runs.breakdown import Distribution, SystemsBoard


def tau_told(tau: Estimate | None) -> str:
    """Return Kendall's tau with its interval, empty where there is none."""
    return f"{number(tau.value)}, in every resample" if tau and tau.low is None else with_ends(tau)


def scale(metric: MetricSummary) -> str:
    """Return the scale in words, empty where it is unknown."""
    return scale_text(*metric.scale) if metric.scale else ""


def n_scored(metric: MetricSummary) -> int:
    """Return the denominator of the mean."""
    return metric.statuses.get("scored", 0)


MOST_LABELS = 4  # of a category whose shares are shown in one cell, the commonest


def mean_text(metric: MetricSummary, none: str = "none") -> str:
    """Return the mean; of a judge whose scores only number its labels the share of each label.

    none: what stands where no row was scored.
    """
    if metric.estimate is not None:
        return number(metric.estimate.value)
    if not metric.labels:
        return none
    commonest = sorted(metric.labels.items(), key=lambda labelled: -labelled[1].value)
    parts = [f"{label} {percent(share.value)}" for label, share in commonest[:MOST_LABELS]]
    more = len(commonest) - len(parts)
    return ", ".join([*parts, *([f"{count(more)} more"] if more else [])])


def denominator(metric: MetricSummary) -> str:
    """Return `358 scored of 365 rows`, and whether rows share documents or conversations.

    Where answers were repeated, also of how many questions they are.
    """
    repeated = "" if metric.repeats is UNSET else f"; {plural(metric.repeats.n_questions, 'question')}"
    shared = f"; {shares}" if (shares := shared_rows(metric)) else ""
    return f"{count(n_scored(metric))} scored of {plural(metric.n_rows, 'row')}{repeated}{shared}"


def failures(metric: MetricSummary, least: float = BOUNDS_FROM) -> str:
    """Return every status but `scored` with its count, and the bounds of the mean where so many failed.

    least: the share of failed rows above which the bounds are told.
    """
    others = statuses(metric.statuses)
    return others + (f"; {worst}" if (worst := bounds(metric.bounds, metric.statuses, least)) else "")


def bounds(ends: tuple[float, float] | None, counts: Mapping[Status, int], least: float) -> str:
    """Return `worst case 0.56, best case 0.86`; empty where no larger share of rows than `least` failed."""
    n_failed = n_failed_rows(counts)
    if ends is None or n_failed <= least * (n_failed + counts.get("scored", 0)):
        return ""
    worst, best = numbers(ends)
    return f"worst case {worst}, best case {best}"


def shared_rows(metric: MetricSummary) -> str:
    """Return why an interval is wider than that of rows which stand alone; empty where they do."""
    return f"rows share {metric.shares} ({count(metric.n_documents)} in all)" if metric.n_documents else ""


def statuses(counts: Mapping[Status, int]) -> str:
    """Return every status but `scored` with its count, empty where there is none."""
    return status_counts({status: counts.get(status, 0) for status in STATUS_WORDS if status != "scored"})


def measured(row: "RetrievalSummary") -> str:
    """Return how many questions a retriever was measured on, and how many were left out and why."""
    left_out = {
        "without a relevant document named": row.n_unlabelled,
        "unanswerable": row.n_unanswerable,
        "without a ranking": row.n_unranked,
    }
    return with_left_out(plural(row.n_questions, "question"), left_out)


def with_left_out(measured_on: str, left_out: Mapping[str, int]) -> str:
    """Return what something was measured on, and how many were left out for each reason, zeros unsaid."""
    reasons = ", ".join(f"{count(n)} {reason}" for reason, n in left_out.items() if n)
    return measured_on + (f"; left out: {reasons}" if reasons else "")


def judge_name(row: "MetricSummary | ReportCard | CorrectedMean | Distribution | SystemsBoard") -> str:
    """Return the judge, with its metric where that has another name."""
    return row.judge if row.judge == row.metric else f"{row.judge}: {row.metric}"


def caution(metric: MetricSummary, summary: RunSummary) -> str | None:
    """Return why a judge's scores should not be relied on, None where nothing speaks against them."""
    card = card_of(metric, summary.cards)
    return doubt(card) if card else None


def doubt(card: "ReportCard") -> str | None:
    """Return what a report card says against its judge, None where it is better than its baselines."""
    if card.better_than_baseline is None:
        return "not shown to be better than its baseline"
    return None if card.better_than_baseline else "no better than its baseline"


def agreement(card: "ReportCard") -> str:
    """Return a judge's agreement with people beyond chance, with its interval, and the exact one after it."""
    if card.lead is None:
        return "cannot be compared with people"
    name, estimate = card.lead
    text = f"{name} {with_ends(estimate)}"
    exact = card.agreement.get("exact agreement")
    if exact is None:
        return text
    if name != "exact agreement":
        return f"{text}; exact agreement {with_ends(exact)}"
    beside = f", {card.constant.name} {number(card.constant.exact_agreement.value)}" if card.constant else ""
    return f"{text}{beside}; kappa is undefined"


def labelled(card: "ReportCard") -> str:
    """Return what a report card rests on, and what was left out."""
    others = statuses(card.statuses)
    left_out = {
        f"{plural(card.n_unlabelled, 'judged answer')} without a label": card.n_unlabelled,
        f"{count(card.n_tied)} on which annotators tied": card.n_tied,
        f"{plural(card.n_unjudged, 'labelled answer')} without a judgement": card.n_unjudged,
        f"{count(card.n_tuned)} {made_with()}": card.n_tuned,
    }
    reasons = [reason for reason, n in left_out.items() if n]
    without_score = [f"without a score of the judge: {others}"] if others else []
    return "; ".join([plural(card.n, "labelled answer"), *without_score, *reasons])


def calls_line(calls: Calls) -> str:
    """Return how many calls were made, answered from the ledger, and failed."""
    n_failed = sum(calls.failed.values())
    retries = f" ({count(calls.retries)} of them retries)" if calls.retries else ""
    cached = f"{count(calls.from_ledger)} from the ledger"
    return f"{count(calls.made)} made{retries}, {cached}, {count(n_failed)} failed"


def asked_line(calls: Calls) -> str:
    """Return what a command asked and what it cost, as a sentence."""
    if not calls.made + calls.from_ledger:
        return "No model was called."
    how = f" ({statuses(calls.failed)})" if calls.failed else ""
    spent = f"{cost(calls)}{reasoning_words(calls)}"
    return f"Calls: {calls_line(calls)}{how}. Cost: {spent}.{cut_off_words(calls)}"


def made_of(models: Mapping[str, str], calls: Calls) -> list[tuple[str, str]]:
    """Return what a report rests on: the models, how often they were asked, and what that cost."""
    return [*models.items(), ("calls", calls_line(calls)), ("cost", cost(calls))]


def cut_off_words(calls: Calls) -> str:
    """Return a sentence on replies that were asked for again with more room; nothing for none."""
    if not calls.cut_off.calls:
        return ""
    price = "" if calls.cut_off_cost_usd is None else f", {usd(calls.cut_off_cost_usd)}"
    tokens = plural(calls.cut_off.input + calls.cut_off.output, "token")
    noun = "reply" if calls.cut_off.calls == 1 else "replies"
    return f" Also {count(calls.cut_off.calls)} cut-off {noun}, asked for again: {tokens}{price}."


def reasoning_words(calls: Calls) -> str:
    """Return what a sentence on costs says of reasoning, nothing where no model reasoned."""
    tokens = calls.usage.reasoning
    if not tokens:
        return ""
    price = "" if calls.reasoning_cost_usd is None else f"{usd(calls.reasoning_cost_usd)} of it for "
    return f", {price}{plural(tokens, 'token')} of reasoning"


def end_line(summary: RunSummary, *, asked: bool) -> str:
    """Return how many judgements have each status. asked: and what was asked and spent."""
    counts = dict.fromkeys(STATUS_WORDS, 0)
    for metric in summary.metrics:
        for status, n in metric.statuses.items():
            counts[status] += n
    others = statuses(counts)
    line = f"{count(counts['scored'])} scored" + (f", {others}" if others else "")
    return f"{line}. {asked_line(summary.calls)}" if asked else f"{line}."


def tokens_line(calls: Calls) -> str:
    """Return the tokens in and out."""
    cached = f" ({count(calls.usage.cached)} cached)" if calls.usage.cached else ""
    thought = f" ({count(calls.usage.reasoning)} reasoning)" if calls.usage.reasoning else ""
    return f"{count(calls.usage.input)} in{cached}, {count(calls.usage.output)} out{thought}"


def listed(prices: Mapping[str, str]) -> str:
    """Return when the list prices of models were read; nothing where there are none. prices: model -> day."""
    read = " and ".join(sorted(set(prices.values())))
    return f" at list prices read on {read}" if read else ""


def cost(calls: Calls) -> str:
    """Return what the calls cost; an unknown price is said to be unknown, and is never 0.

    What replies from the ledger cost was paid when they were made: it is said to be of them.
    """
    if calls.cost_usd is not None:
        spent = usd(calls.cost_usd) + listed(calls.list_prices)
        if not calls.from_ledger or not calls.cost_usd:
            return spent
        if not calls.made:
            return f"nothing new; the replies from the ledger cost {spent}"
        return f"{spent}, the replies from the ledger included"
    if calls.made + calls.from_ledger == 0:
        return "nothing: no model was called"
    return "unknown: ragstone.toml has no price for a model or system"
