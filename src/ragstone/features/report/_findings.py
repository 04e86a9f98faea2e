"""A summary -> the three answers that a reader looks for first, in words and numbers."""

from importlib import import_module
from typing import cast

import msgspec

from ragstone.features.report._sentence_table import (
    BASELINE_REPLACES,
    BASELINES_NOT_COMPARED,
    BLAME_UNANSWERABLE,
    BLAME_UNKNOWN,
    BLAMED,
    LEADING,
    NO_JUDGEMENT,
    NO_LABELS,
    CountedAnswers,
    HeadlineJudge,
    counted_answers,
)
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected_mean import people_would_give
from ragstone.kernel.agreement.known_cards import card_of
from ragstone.kernel.document.blocks import Figure, HeadlineFinding
from ragstone.kernel.document.numbers import count, number, with_level
from ragstone.kernel.errors import plural
from ragstone.kernel.extend import BlamePart
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.retrieval.summary import RetrievalSummary
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.headlines import headlines
from ragstone.kernel.runs.summary import RunSummary, corrected_of
from ragstone.kernel.runs.wording import (
    denominator,
    failures,
    judge_name,
    mean_text,
    measured,
    scale,
)
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate

HEADLINE_MEASURES = ("hit@5", "hit@3", "hit@1", "mrr")
SHOWN_FIGURES = 3
PARTS = {
    "blame": "ragstone.features.blame.run_block",
}
"""Features that have a part in the report of a run: name -> its module, a BlamePart of kernel/extend.py."""
ANCHORS = (("right", "All judges"), ("blame", "All measures"), ("trust", "Report cards"))  # of a page


def findings(summary: RunSummary, blamed: BlameSummary | None = None) -> list[HeadlineFinding]:
    """Return the answers to: is it right? what is to blame? how far can the judge be trusted?

    blamed: where the lost points went, if `ragstone blame` has said it.
    """
    part = blame_part(blamed)
    wrong = (part.finding(blamed) if part and blamed else None) or _blame(summary)
    parts = [_right(summary), wrong, _trust(summary)]
    return [
        msgspec.structs.replace(part, anchor=anchor, link=link)
        for part, (anchor, link) in zip(parts, ANCHORS, strict=True)
    ]


def blame_part(blamed: BlameSummary | None) -> BlamePart | None:
    """Return what the feature `blame` shows of a run; None without it, and for a run that it has not seen."""
    if blamed is None or "blame" not in PARTS:
        return None
    return cast(BlamePart, import_module(PARTS["blame"]))


def _right(summary: RunSummary) -> HeadlineFinding:
    places = {row.system: row.place for row in summary.systems.standings} if summary.systems else {}
    # In the order of the leaderboard, systems that have no place there last.
    leads = sorted(headlines(summary), key=lambda metric: places.get(metric.system, len(places) + 1))
    several = len(leads) > 1
    figures = [_mean_figure(lead, several, summary.bounds_from) for lead in leads[:SHOWN_FIGURES]]
    more = len(leads) - len(figures)
    below = f"{plural(more, 'further system')} below." if more else ""
    judges = [HeadlineJudge(lead, summary) for lead in leads]
    worth = [
        " ".join(filter(None, (say(judge, *LEADING), say(judge, BASELINE_REPLACES)))) for judge in judges
    ]
    sentences = list(dict.fromkeys(worth))
    sentences += [_corrected(lead, summary, several) for lead in leads[:SHOWN_FIGURES]]
    if not leads:
        sentences.append(say(summary, NO_JUDGEMENT))
    return HeadlineFinding("Is it right?", figures, [sentence for sentence in sentences if sentence], below)


def _corrected(metric: MetricSummary, summary: RunSummary, several: bool) -> str:
    mean = corrected_of(metric, summary)
    if mean is None:
        return ""
    return (f"{mean.system}: " if several else "") + people_would_give(mean)


def _mean_figure(metric: MetricSummary, several: bool, least: float) -> Figure:
    label = (
        f"{judge_name(metric)}, {scale(metric)}" if metric.scale and not metric.labels else judge_name(metric)
    )
    others = failures(metric, least)
    return Figure(
        label=f"{metric.system}: {label}" if several else label,
        value=mean_text(metric, "no score"),
        interval=with_level(metric.estimate),
        rests_on=denominator(metric) + (f"; {others}" if others else ""),
    )


def _blame(summary: RunSummary) -> HeadlineFinding:
    counted = [counted_answers(row, len(summary.blame) > 1, summary.cards) for row in summary.blame]
    figures = [_retrieval_figure(row) for row in summary.retrieval if row.measures]
    figures = figures or [_blame_figure(each) for each in counted]
    sentences = [sentence for each in counted if (sentence := say(each, *BLAMED))]
    if any(each.n_wrong for each in counted):
        sentences.append("`ragstone blame` looks for the cause of each.")
    if not figures:
        sentences = [say(summary, BLAME_UNANSWERABLE, BLAME_UNKNOWN)]
    return HeadlineFinding("What is to blame?", figures[:SHOWN_FIGURES], sentences)


def _retrieval_figure(row: RetrievalSummary) -> Figure:
    name = next((name for name in HEADLINE_MEASURES if name in row.measures), next(iter(row.measures)))
    kind, _, k = name.partition("@")
    finds = f"finds a relevant document in its first {k}" if k != "1" else "puts a relevant document first"
    return Figure(
        label=f"{row.retriever} {finds}" if kind == "hit" else f"{name} of {row.retriever}",
        value=number(row.measures[name].value),
        interval=with_level(row.measures[name]),
        rests_on=measured(row),
    )


def _blame_figure(counted: CountedAnswers) -> Figure:
    row = counted.row
    label = "wrong answers that had a relevant document"
    if counted.weak:
        label = f"answers scored low by {row.judge} that had a relevant document"
    left_out = f"; {count(row.n_left_out)} left out" if row.n_left_out else ""
    return Figure(
        label=f"{row.system}: {label}" if counted.several else label,
        value=f"{count(row.found_wrong)} of {count(counted.n_wrong)}",
        interval="",
        rests_on=plural(counted.n, "answer") + left_out,
    )


def _trust(summary: RunSummary) -> HeadlineFinding:
    question = "How far can the judge be trusted?"
    leads = [card_of(metric, summary.cards) for metric in headlines(summary) if metric.model != NO_MODEL]
    others = sorted(summary.cards, key=lambda card: card.model == NO_MODEL)
    cards = [card for card in leads if card] or others
    if not cards:
        return HeadlineFinding(question, [], [say(summary, BASELINES_NOT_COMPARED, NO_LABELS)])
    figures = [_card_figure(*card.lead, card) for card in cards[:1] if card.lead]
    return HeadlineFinding(question, figures, [cards[0].verdict])


def _card_figure(name: str, estimate: Estimate, card: ReportCard) -> Figure:
    """Return agreement beyond chance; the exact one stands below it, beside the baselines' on the same."""
    exact = card.agreement.get("exact agreement")
    beside = f"exact agreement {number(exact.value)}" if exact and name != "exact agreement" else ""
    return Figure(
        label=f"{judge_name(card)}: {name} with people",
        value=number(estimate.value),
        interval=with_level(estimate),
        rests_on="; ".join(filter(None, [plural(card.n, "labelled answer"), beside, rivals(card)])),
    )


def rivals(card: ReportCard) -> str:
    """Return the exact agreement of the baselines on the same answers, empty where there is none."""
    baselines = [rival for rival in (card.constant, card.no_model) if rival]
    return ", ".join(f"{rival.name} {number(rival.exact_agreement.value)}" for rival in baselines)
