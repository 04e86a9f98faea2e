"""A cell's answers and judgements -> what each question is worth, and what all of them took."""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec
import numpy as np

from ragstone.features.bench.answerers._planning import AnswerRows
from ragstone.features.bench.answerers._values import AnswerCell, AnswerSpent, Quantiles, Role, RoleName
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.known_cards import card_of, is_useless
from ragstone.kernel.judging.repeated import question_score
from ragstone.kernel.judging.summary import said_of
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Question, Said, Status, count_statuses
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.runs.run_rows import by_question
from ragstone.kernel.statistics import Estimate, mean_estimates

# What is wanted of an answer -> the metrics that say it, the one that says most first.
METRICS: dict[RoleName, tuple[str, ...]] = {
    "correct": ("correctness", "claims"),
    "answered": ("answered",),
    "faithful": ("faithfulness",),
    "relevant": ("relevance",),
}


def choose_roles(judgements: Iterable[Judgement], cards: Sequence[ReportCard] = ()) -> list[Role]:
    """Return the best judge at hand for each thing that any judge says, in the order of METRICS.

    One that asks a language model goes before one that asks none, unless people's labels show it to be no
    better than its baseline; a model without a card of its own counts as its cards of other judges say. One
    that scored nothing comes last. Of equals the first in the rows is taken.
    """
    first_rows: dict[tuple[str, str, str], Judgement] = {}
    scored: set[tuple[str, str, str]] = set()
    for row in judgements:
        key = (row.judge, row.metric, row.model)
        first_rows.setdefault(key, row)
        if row.score is not None:
            scored.add(key)
    roles = []
    for role, metrics in METRICS.items():
        able = [
            row
            for row in first_rows.values()
            if row.metric in metrics and row.scale and row.scale[0] < row.scale[1]
        ]
        if not able:
            continue

        def order(row: Judgement, metrics: tuple[str, ...] = metrics) -> tuple[bool, bool, bool, int]:
            silent = (row.judge, row.metric, row.model) not in scored
            return silent, is_useless(row, cards), row.model == NO_MODEL, metrics.index(row.metric)

        best = min(able, key=order)
        passed = [row.judge for row in able if row.model != NO_MODEL and is_useless(row, cards)]
        card = card_of(best, cards)
        roles.append(
            Role(
                role=role,
                judge=best.judge,
                metric=best.metric,
                model=best.model,
                prompt_version=best.prompt_version,
                scale=best.scale or (0, 1),
                measured=card is not None,
                better_than_baseline=card.better_than_baseline if card else None,
                instead_of=passed if best.model == NO_MODEL else [],
            )
        )
    return roles


BOTH = {"faithful": "answered × faithful", "relevant": "answered × relevant"}
FAITHFUL_AND_ANSWERED = BOTH["faithful"]
HALF = 0.5
NameT = TypeVar("NameT", bound=Hashable)
Values = dict[str, float]
"""Question id -> value, without the questions that have none."""


class CellValues(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell's answers are worth, question by question.

    score: what the bench is ordered by, as its judge scores it. measures: name -> values from 0 to 1 of
    questions that can be answered: `answered`, `unanswered`; of those that were answered `faithful`,
    `relevant`; of all that can be answered `answered × faithful`, `answered × relevant`. `refused`: of the
    questions that cannot be answered. seconds: of the answers. statuses: role -> what became of the rows.
    """

    cell: AnswerCell
    n_questions: int
    score: Values
    measures: dict[str, Values]
    seconds: Values
    statuses: dict[RoleName, dict[Status, int]]
    spent: AnswerSpent


def values_of(
    cell: AnswerCell, rows: AnswerRows, roles: Sequence[Role], questions: Mapping[str, Question]
) -> CellValues:
    """Return a cell's values by the judges of the roles. questions: by id.

    `answered` is 1 where its judge's score is at or above the middle of its scale, else 0. An answer that is
    none counts 0 in a product whatever else is said of it; one whose other judge gave no score is left out,
    never 0. Without passages nothing is faithful or unfaithful. Repeats of an answer count as their mean.
    """
    scores: dict[RoleName, Values] = {}
    shares: dict[RoleName, Values] = {}
    statuses: dict[RoleName, dict[Status, int]] = {}
    for role in roles:
        if role.role == "faithful" and cell.condition == "none":
            continue
        mine = [row for row in rows.judgements if role.is_of(row)]
        statuses[role.role] = count_statuses(mine)
        of_question = by_question(mine)
        scored = {
            name: score for name, own in of_question.items() if (score := question_score(own)) is not None
        }
        scores[role.role] = scored
        shares[role.role] = {name: role.share(score) for name, score in scored.items()}
    correct = next((role for role in roles if role.role == "correct"), None)
    read = [row for row in rows.judgements if correct and correct.is_of(row)]
    measures = _measures(shares, questions) | _truth_measures(read)
    return CellValues(
        cell=cell,
        n_questions=len(by_question(rows.answers)),
        score=scores["correct"] if "correct" in scores else measures.get(FAITHFUL_AND_ANSWERED, {}),
        measures=measures,
        seconds={
            name: sum(latencies) / len(latencies)
            for name, own in by_question(rows.answers).items()
            if (latencies := [row.latency_s for row in own if row.latency_s is not None])
        },
        statuses=statuses,
        spent=spent_on(rows.answers),
    )


def _truth_measures(judgements: Iterable[Judgement]) -> dict[str, Values]:
    """Return precision and recall on false statements, and of which neither true nor false was said."""
    truths: dict[str, bool] = {}
    claims: dict[str, list[Said]] = {}  # of the answer, and of its repeats
    for row in judgements:
        if statement := said_of(row):
            truths[row.question_id] = statement[0]
            claims.setdefault(row.question_id, []).append(statement[1])
    share = {
        claim: {name: own.count(claim) / len(own) for name, own in claims.items()}
        for claim in ("false", "neither")
    }
    measures = {
        "precision on false": {
            name: float(not truths[name]) for name, false in share["false"].items() if false
        },
        "recall on false": {name: false for name, false in share["false"].items() if not truths[name]},
        "neither": share["neither"],
    }
    return {name: values for name, values in measures.items() if values}


def quantiles_of(
    values: Values, clusters: Mapping[str, str], *, seed: int, proportion: bool = True
) -> Quantiles | None:
    """Return how the values are distributed; None if there are none. clusters: see mean_of."""
    mean = mean_of(values, clusters, seed=seed, proportion=proportion)
    if mean is None:
        return None
    every = np.array(list(values.values()))
    p50, p90, p95 = np.quantile(every, (0.5, 0.9, 0.95)).tolist()
    least, most = float(every.min()), float(every.max())
    return Quantiles(n=len(values), least=least, mean=mean, p50=p50, p90=p90, p95=p95, most=most)


def mean_of(
    values: Values, clusters: Mapping[str, str], *, seed: int, proportion: bool = True
) -> Estimate | None:
    """Return the mean with its interval; clusters: question id -> what it shares with others."""
    return means_of({"": values}, clusters, seed=seed, proportion=proportion).get("")


def means_of(
    columns: Mapping[NameT, Values], clusters: Mapping[str, str], *, seed: int, proportion: bool = True
) -> dict[NameT, Estimate]:
    """Return the mean of each column with its interval, none of a column without values.

    Columns of the same questions share their resamples, which is most of the time that an interval takes.
    """
    alike: dict[tuple[str, ...], list[NameT]] = {}
    for name, values in columns.items():
        if values:
            alike.setdefault(tuple(sorted(values)), []).append(name)
    estimates: dict[NameT, Estimate] = {}
    for questions, names in alike.items():
        rows = {str(at): [columns[name][question] for question in questions] for at, name in enumerate(names)}
        shared = [clusters.get(question, question) for question in questions]
        means = mean_estimates(rows, shared, seed=seed, proportion=proportion)
        estimates |= {name: means[str(at)] for at, name in enumerate(names)}
    return {name: estimates[name] for name in columns if name in estimates}


def shared_documents(questions: Sequence[Question], same: Mapping[str, str]) -> dict[str, str]:
    """Return question id -> the first of its documents; questions that share it are not independent."""
    named = {q.id: sorted(same.get(name, name) for name in relevant_documents(q)) for q in questions}
    return {name: documents[0] for name, documents in named.items() if documents}


def spent_on(answers: Sequence[Answer]) -> AnswerSpent:
    """Return what answers took; sums do not depend on their order."""
    used = [answer.usage for answer in answers if answer.usage]
    costs = [answer.cost_usd for answer in answers if answer.error is None]
    known = [cost for cost in costs if cost is not None]
    return AnswerSpent(
        n_answers=len(answers),
        n_failed=sum(answer.error is not None for answer in answers),
        n_calls=sum(usage.calls for usage in used),
        input=sum(usage.input for usage in used),
        output=sum(usage.output for usage in used),
        cost_usd=math.fsum(known) if len(known) == len(costs) else None,
    )


def _measures(shares: Mapping[RoleName, Values], questions: Mapping[str, Question]) -> dict[str, Values]:
    """Return the measures that stand beside the score, those that have values."""
    can = {name for name, question in questions.items() if question.answerable is not False}
    measures: dict[str, Values] = {}
    answered: Values | None = None
    if "answered" in shares:
        all_answered = {name: float(share >= HALF) for name, share in shares["answered"].items()}
        answered = {name: value for name, value in all_answered.items() if name in can}
        measures["answered"] = answered
        measures["unanswered"] = {name: 1.0 - value for name, value in answered.items()}
        measures["refused"] = {name: 1.0 - value for name, value in all_answered.items() if name not in can}
    other: RoleName
    for other in ("faithful", "relevant"):
        of = {name: share for name, share in shares.get(other, {}).items() if name in can}
        if answered is None or other not in shares:
            measures[other] = of
            continue
        measures[other] = {name: share for name, share in of.items() if answered.get(name)}
        if measures[other] or not any(answered.values()):
            measures[BOTH[other]] = {
                name: value and of[name] for name, value in answered.items() if not value or name in of
            }
    return {name: values for name, values in measures.items() if values}
