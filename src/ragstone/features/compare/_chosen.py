"""Comparing on the questions that a filter chose, and what a choice by results leaves to say."""

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.values import ChosenQuestions, Comparison, Gate, MetricComparison
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement, Ranking
from ragstone.kernel.runs.joined_rows import joined, rows_where
from ragstone.kernel.runs.run import Run
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.where import columns_asked

OF_QUESTIONS = {"question_id", "question", "reference", "kind", "lang", "answerable", "system"}
"""Columns that hold no result of a system, beside tags."""
KeyedT = TypeVar("KeyedT", Answer, Judgement, Ranking)


def choose_questions(runs: tuple[Run, Run], where: str) -> tuple[ChosenQuestions, frozenset[str]]:
    """Return what a filter chooses of the questions of two runs, those of which it leaves a row in either.

    Raises DataError for a filter that does not parse, or that leaves nothing.
    """
    left, kinds, tags = rows_where(runs, where)
    ids = frozenset(row["question_id"] for rows in left for row in rows)
    every = {row["question_id"] for run in runs for row in joined(run)}
    if not ids:
        raise DataError(f"No question of either run is left by the filter {where!r}. Change it.")
    own = OF_QUESTIONS | {name for name, key in tags.items() if _is_shared(runs, key)}
    by_results = [name for name in columns_asked(where, kinds) if name not in own]
    return ChosenQuestions(where=where, n=len(ids), of=len(every), by_results=by_results), ids


def _is_shared(runs: tuple[Run, Run], tag: str) -> bool:
    """Return whether a tag is the same for every system, so that it is of the question, and no result."""
    values: dict[str, str | None] = {}
    return all(
        values.setdefault(row["question_id"], value) == value
        for run in runs
        for row in joined(run)
        for value in [(row["tags"] or {}).get(tag)]
    )


def only_chosen(side: JudgedRun, ids: frozenset[str]) -> JudgedRun:
    """Return a run with the rows of these questions alone."""

    def chosen(rows: Iterable[KeyedT]) -> list[KeyedT]:
        return [row for row in rows if row.question_id in ids]

    return msgspec.structs.replace(
        side,
        judgements=chosen(side.judgements),
        answers=chosen(side.answers),
        rankings=chosen(side.rankings),
        questions=[row for row in side.questions if row.id in ids],
    )


def without_verdict(comparison: Comparison) -> Comparison:
    """Return a comparison that keeps means and flips, and nothing that would be a claim about the systems."""
    metrics = [_bare(metric) for metric in comparison.metrics]
    gated = [
        msgspec.structs.replace(
            metric, outcome="cannot tell", because="the questions were chosen by results of the systems"
        )
        for metric in comparison.gate.metrics
    ]
    return msgspec.structs.replace(
        comparison,
        metrics=metrics,
        retrieval=[],
        spent=[],
        components=msgspec.UNSET,
        gate=Gate(outcome="cannot tell", margin=comparison.gate.margin, metrics=gated),
    )


def _bare(metric: MetricComparison) -> MetricComparison:
    def mean(estimate: Estimate) -> Estimate:
        return msgspec.structs.replace(estimate, low=None, high=None)

    a, b = (msgspec.structs.replace(side, mean=mean(side.mean)) for side in (metric.a, metric.b))
    return msgspec.structs.replace(
        metric,
        a=a,
        b=b,
        difference=mean(metric.difference),
        within=None,
        p=1.0,
        p_holm=1.0,
        verdict="cannot tell",
        loses_more=False,
        by_application=False,
        outlook=None,
        overlap=None,
        corrected=None,
        length=None,
        label_cost=None,
    )
